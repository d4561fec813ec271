"""Draws docs/architecture.svg: the stages, and the way of a search and of a call through them.

python scripts/architecture_picture.py [--check]
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "docs" / "architecture.svg"
WIDTH, HEIGHT = 970, 546
TITLE_PX, TEXT_PX, WIDE = 15, 12, 0.56  # how wide a sign is at most, in sizes of the font
STYLE = """
svg{--paper:#fff;--box:#f6f8fa;--ink:#24292f;--pale:#57606a;--edge:#d0d7de;--feed:#8c959f;--search:#1b6ca8;
 --call:#b4481e}
@media(prefers-color-scheme:dark){svg{--paper:#0d1117;--box:#161b22;--ink:#e6edf3;--pale:#9da7b3;
 --edge:#30363d;--feed:#6e7681;--search:#6cb6ff;--call:#f28b73}}
.paper{fill:var(--paper)}.box{fill:var(--box);stroke:var(--edge)}text{fill:var(--pale)}.title{fill:var(--ink);font-weight:600}
.search{stroke:var(--search)}.call{stroke:var(--call)}.feed{stroke:var(--feed)}
path{fill:none;stroke-width:2}.dot{stroke:none}.search.dot{fill:var(--search)}
.call.dot{fill:var(--call)}.number{fill:var(--paper);font-weight:600}
"""


@dataclass(frozen=True)
class Box:
    """A stage, with the package that it is, or those who come from outside."""

    title: str
    lines: Sequence[str]
    x: int
    y: int
    width: int
    height: int
    package: str = ""


@dataclass(frozen=True)
class Arrow:
    """One step of a flow: along these points, with its number at the middle of the first line."""

    flow: str  # search, call or feed
    points: Sequence[tuple[int, int]]
    number: int = 0
    tip: bool = True


BOXES = (
    Box(
        "Your program",
        ["Crib, and the adapters", "for SDKs and frameworks"],
        30,
        44,
        200,
        72,
        "adapters",
    ),
    Box(
        "MCP clients", ["by the shim or over HTTP,", "at the gateway"], 260, 44, 200, 72, "gateway"
    ),
    Box("You", ["the commands,", "the dashboard"], 530, 44, 170, 72, "cli"),
    Box("Session", ["what one conversation", "sees: defer, reveal"], 30, 180, 160, 76, "session"),
    Box("Search", ["correct, rewrite, fuse,", "look twice, cut"], 240, 180, 160, 76, "search"),
    Box("Index", ["words, likeness,", "meaning"], 450, 180, 140, 76, "index"),
    Box("Pool", ["each tool once,", "with its state"], 640, 180, 140, 76, "pool"),
    Box(
        "Sources",
        ["functions", "MCP servers", "apps", "skills", "agents", "plugins"],
        830,
        180,
        110,
        220,
        "sources",
    ),
    Box("Programs", ["a model's own program,", "in a sandbox"], 30, 324, 160, 76, "program"),
    Box(
        "The one door",
        [
            "name, state, rights, approval, arguments,",
            "one deadline; then it is called, and logged",
        ],
        240,
        324,
        540,
        76,
        "execute",
    ),
    Box(
        "Store",
        ["decisions, keys, approvals, events:", "in files, or in PostgreSQL"],
        240,
        448,
        350,
        72,
        "store",
    ),
    Box("Observe", ["events, metrics, traces"], 640, 448, 300, 72, "observe"),
)
ARROWS = (
    Arrow("feed", [(640, 218), (590, 218)]),
    Arrow("feed", [(830, 218), (780, 218)]),
    Arrow("feed", [(415, 400), (415, 448)]),
    Arrow("feed", [(710, 400), (710, 448)]),
    Arrow("search", [(360, 116), (360, 148), (110, 148)], tip=False),
    Arrow("search", [(110, 116), (110, 180)], 1),
    Arrow("search", [(190, 204), (240, 204)], 2),
    Arrow("search", [(400, 218), (450, 218)], 3),
    Arrow("search", [(240, 234), (190, 234)], 4),
    Arrow("call", [(110, 256), (110, 290), (215, 290), (215, 346), (240, 346)], 1),
    Arrow("call", [(190, 378), (240, 378)]),
    Arrow("call", [(710, 324), (710, 256)], 2),
    Arrow("call", [(615, 116), (615, 180), (615, 324)], 3),
    Arrow("call", [(780, 362), (830, 362)], 4),
)
LEGEND = (("search", "a search"), ("call", "a call"), ("feed", "what feeds it, what it leaves"))


def drawn() -> str:
    """The picture, readable on light and on dark pages."""
    lines = [*map(_line, ARROWS), *map(_stage, BOXES), *map(_number, ARROWS), *_legend()]
    tips = "".join(map(_tip, ("search", "call", "feed")))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="{TEXT_PX}">\n<style>{STYLE}</style>\n'
        f'<defs>{tips}</defs>\n<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>\n'
        + "".join(f"{each}\n" for each in lines if each)
        + "</svg>\n"
    )


def _stage(box: Box) -> str:
    middle = box.x + box.width // 2
    title = f'<text class="title" x="{middle}" y="{box.y + 24}" font-size="{TITLE_PX}">'
    texts = "".join(
        f'<text x="{middle}" y="{box.y + 44 + 18 * row}">{escape(line, quote=False)}</text>'
        for row, line in enumerate(box.lines)
    )
    place = f'x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}"'
    words = f'<g text-anchor="middle">{title}{box.title}</text>{texts}</g>'
    return f'<rect class="box" {place} rx="6"/>{words}'


def _line(arrow: Arrow) -> str:
    way = " L".join(f"{x} {y}" for x, y in arrow.points)
    tip = f' marker-end="url(#{arrow.flow}-tip)"' if arrow.tip else ""
    return f'<path class="{arrow.flow}" d="M{way}"{tip}/>'


def _number(arrow: Arrow) -> str:
    (x, y), (to_x, to_y), *_ = arrow.points
    return _dot(arrow.flow, arrow.number, (x + to_x) // 2, (y + to_y) // 2) if arrow.number else ""


def _dot(flow: str, number: int, x: int, y: int) -> str:
    text = f'<text class="number" x="{x}" y="{y + 4}" text-anchor="middle">{number}</text>'
    return f'<circle class="{flow} dot" cx="{x}" cy="{y}" r="9"/>{text}'


def _tip(flow: str) -> str:
    where = 'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"'
    return (
        f'<marker id="{flow}-tip" {where} markerUnits="userSpaceOnUse"><path d="M0 0 L8 4 L0 8 z" '
        f'style="stroke:none;fill:var(--{flow})"/></marker>'
    )


def _legend() -> Iterator[str]:
    x = 30
    for flow, words in LEGEND:
        line = f'<path class="{flow}" d="M{x} 22 H{x + 26}"/>'
        yield f'{line}<text x="{x + 34}" y="26">{words}</text>'
        x += 60 + int(len(words) * TEXT_PX * WIDE)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PICTURE.read_text(encoding="utf-8") != drawn())
    PICTURE.write_text(drawn(), encoding="utf-8")
