"""Curves as a picture, in plain SVG."""

from collections.abc import Sequence
from typing import NamedTuple

from toolcrib.evaluate.calibration import Reliability
from toolcrib.evaluate.chart import reliability_chart

WIDTH, HEIGHT, EDGE, RIGHT = 640, 400, 56, 28
COLOURS = ("#1b6ca8", "#c8553d", "#588b8b", "#8a5a9e", "#b58900")
PANEL, PANEL_HEAD, PANEL_HEIGHT = 360, 72, 340
PANEL_STYLE = (
    "svg svg text{fill:#555;font-size:10px}.grid{stroke:#ddd}"
    ".ideal{stroke:#999;stroke-dasharray:4 4}"
    f".curve{{fill:none;stroke:{COLOURS[0]};stroke-width:2}}"
    f".dot{{fill:{COLOURS[0]};fill-opacity:.5;stroke:{COLOURS[0]}}}"
    f".other .curve{{stroke:{COLOURS[1]}}}"
    f".other .dot{{fill:{COLOURS[1]};stroke:{COLOURS[1]}}}"
)


class Curve(NamedTuple):
    """A name and points in per cent: answered, from 50 to 100; returned in vain."""

    name: str
    points: Sequence[tuple[float, float]]


def drawn(curves: Sequence[Curve]) -> str:
    """The picture of some curves."""
    lines = [part for place, curve in enumerate(curves) for part in _curve(place, curve)]
    ticks = [part for number in range(0, 101, 20) for part in _rows(number)]
    ticks += [_text(_x(number), HEIGHT - EDGE + 18, f"{number} %") for number in range(50, 101, 10)]
    middle = (EDGE + WIDTH) / 2
    titles = [
        _text(middle, HEIGHT - 14, "questions with an answer that get one"),
        _text(middle, 22, "questions without an answer that get one all the same"),
    ]
    body = "\n".join([*ticks, *lines, *titles])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def _curve(place: int, curve: Curve) -> list[str]:
    colour = COLOURS[place % len(COLOURS)]
    points = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in curve.points)
    label = f'<text x="{EDGE + 12}" y="{56 + 16 * place}" fill="{colour}">{curve.name}</text>'
    return [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>', label]


def _rows(number: int) -> list[str]:
    y = _y(number)
    line = f'<line x1="{EDGE}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#ddd"/>'
    return [line, _text(EDGE - 24, y + 4, f"{number} %")]


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" fill="#333">{words}</text>'


def _x(per_cent: float) -> float:
    return EDGE + (per_cent - 50) / 50 * (WIDTH - RIGHT - EDGE)


def _y(per_cent: float) -> float:
    return HEIGHT - EDGE - per_cent / 100 * (HEIGHT - 2 * EDGE + 16)


class Panel(NamedTuple):
    """Reliability curves under one title, and a line about each, in its colour."""

    title: str
    curves: Sequence[Reliability]
    legend: Sequence[str]


def drawn_panels(panels: Sequence[Panel]) -> str:
    """Panels side by side: the chance that was said, against the share that was right."""
    height = PANEL_HEAD + PANEL_HEIGHT
    inside = [part for place, panel in enumerate(panels) for part in _panel(place, panel)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PANEL * len(panels)} {height}" '
        f'font-family="sans-serif" font-size="12">\n<style>{PANEL_STYLE}</style>\n'
        f'<rect width="{PANEL * len(panels)}" height="{height}" fill="white"/>\n'
        + "\n".join(inside)
        + "\n</svg>\n"
    )


def _panel(place: int, panel: Panel) -> list[str]:
    left = place * PANEL
    head = [f'<text x="{left + 20}" y="24" font-size="15" fill="#222">{panel.title}</text>']
    head += [
        f'<text x="{left + 20}" y="{44 + 16 * number}" fill="{COLOURS[number]}">{line}</text>'
        for number, line in enumerate(panel.legend)
    ]
    chart = reliability_chart(panel.curves).replace(
        "<svg ", f'<svg x="{left}" y="{PANEL_HEAD}" width="{PANEL}" height="{PANEL_HEIGHT}" ', 1
    )
    return [*head, chart]
