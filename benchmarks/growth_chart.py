"""The curves of growth as a picture, in plain SVG: four panels, both axes logarithmic."""

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from benchmarks.checkout import BEFORE, NOW
from benchmarks.growth_report import FASTMCP_CLIENT, MADE_UP, PYDANTIC_AI, WORDS, Growth

PANEL, HEIGHT, TOP = 300, 260, 44
LEFT, RIGHT, BOTTOM, HEAD = 52, 14, 34, 34
SYSTEMS = {BEFORE: "before", NOW: "now", FASTMCP_CLIENT: "fastmcp", PYDANTIC_AI: "pydantic"}
"""The systems that are drawn, and the class that gives each its colour."""
STYLE = """
svg{--paper:#fff;--ink:#24292f;--pale:#57606a;--grid:#d8dee4;
 --before:#c8553d;--now:#1b6ca8;--fastmcp:#8a5a9e;--pydantic:#6b7f1e}
@media(prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#e6edf3;--pale:#9da7b3;--grid:#30363d;
 --before:#f28b73;--now:#6cb6ff;--fastmcp:#c9a0e0;--pydantic:#b5c95a}}
.paper{fill:var(--paper)}text{fill:var(--pale)}.title{fill:var(--ink);font-size:14px}
.grid{stroke:var(--grid)}polyline{fill:none;stroke-width:2.2}
""" + "".join(
    f".{name} polyline{{stroke:var(--{name})}}.{name} circle,.{name} text{{fill:var(--{name})}}"
    for name in SYSTEMS.values()
)


class Panel(NamedTuple):
    """What is drawn: a figure of a mode, in which unit, and by what it is multiplied."""

    title: str
    mode: str
    figure: str
    unit: str
    scale: float


PANELS = (
    Panel("One search by words", WORDS, "search", "ms", 1000),
    Panel("Memory with vectors", MADE_UP, "rss", "MB", 1),
    Panel("Warm start with vectors", MADE_UP, "start", "s", 1),
    Panel("One tool more", WORDS, "function", "ms", 1000),
)


class Frame(NamedTuple):
    """Where a panel is, and the powers of ten that its axes go from and to."""

    x: float
    y: float
    sizes: tuple[int, int]
    values: tuple[int, int]

    def place(self, size: float, value: float) -> tuple[float, float]:
        across = _share(size, self.sizes) * (PANEL - LEFT - RIGHT)
        up = _share(value, self.values) * (HEIGHT - HEAD - BOTTOM)
        return self.x + LEFT + across, self.y + HEIGHT - BOTTOM - up


def drawn(growth: Growth) -> str:
    """The picture. What was not measured is not drawn."""
    width, height = 2 * PANEL, TOP + 2 * HEIGHT
    parts = [part for place, panel in enumerate(PANELS) for part in _panel(growth, place, panel)]
    body = "\n".join([*_legend(growth), *parts])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11">\n<style>{STYLE}</style>\n'
        f'<rect class="paper" width="{width}" height="{height}"/>\n{body}\n</svg>\n'
    )


def _legend(growth: Growth) -> Iterator[str]:
    x = float(LEFT)
    for name in growth.systems():
        if name in SYSTEMS:
            yield (
                f'<g class="{SYSTEMS[name]}"><circle cx="{x:.0f}" cy="22" r="4"/>'
                f'<text x="{x + 9:.0f}" y="26" font-size="12">{name}</text></g>'
            )
            x += 34 + 5.6 * len(name)


def _panel(growth: Growth, place: int, panel: Panel) -> Iterator[str]:
    curves = {name: _curve(growth, name, panel) for name in SYSTEMS}
    points = [point for curve in curves.values() for point in curve]
    if not points:
        return
    frame = Frame(
        place % 2 * PANEL,
        TOP + place // 2 * HEIGHT,
        _decades([size for size, _ in points]),
        _decades([value for _, value in points]),
    )
    title = f"{panel.title}, {panel.unit}"
    yield f'<text class="title" x="{frame.x + LEFT}" y="{frame.y + 20}">{title}</text>'
    yield from _grid(frame)
    for name, curve in curves.items():
        if curve:
            yield _line(frame, SYSTEMS[name], curve)


def _curve(growth: Growth, name: str, panel: Panel) -> list[tuple[int, float]]:
    """A peer has neither vectors nor a difference between ways to add a tool."""
    mode = panel.mode if name in (BEFORE, NOW) else WORDS
    curve = growth.curve(name, mode, panel.figure)
    return [(size, panel.scale * value) for size, value in curve if value > 0]


def _grid(frame: Frame) -> Iterator[str]:
    for power in range(frame.values[0], frame.values[1] + 1):
        x, y = frame.place(10 ** frame.sizes[0], 10.0**power)
        right = frame.x + PANEL - RIGHT
        yield f'<line class="grid" x1="{x:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{_number(power)}</text>'
    for power in range(frame.sizes[0], frame.sizes[1] + 1):
        x, y = frame.place(10**power, 10.0 ** frame.values[0])
        yield f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{_tools(power)}</text>'


def _line(frame: Frame, name: str, curve: Sequence[tuple[int, float]]) -> str:
    places = [frame.place(size, value) for size, value in curve]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places)
    return f'<g class="{name}"><polyline points="{points}"/>{dots}</g>'


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around all of them, at least one apart."""
    low = floor(log10(min(values)) + 1e-9)
    return low, max(low + 1, ceil(log10(max(values)) - 1e-9))


def _share(value: float, decades: tuple[int, int]) -> float:
    low, high = decades
    return (log10(value) - low) / (high - low)


def _number(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"


def _tools(power: int) -> str:
    return {3: "1k", 4: "10k", 5: "100k", 6: "1M"}.get(power, f"{10**power:,}")
