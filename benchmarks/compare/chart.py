"""The comparison as a picture, in plain SVG: a bar a system, three panels."""

from collections.abc import Iterator, Mapping
from math import log10

from benchmarks.compare.cells import Cell, Kept
from benchmarks.compare.report import published_means
from benchmarks.compare.sets import EVERYDAY
from benchmarks.compare.systems import SYSTEMS

WIDTH, ROW, HEAD, LABEL, NUMBER = 760, 26, 34, 200, 56
STYLE = """
.paper{fill:#fff}text{fill:#57606a}.title{fill:#24292f;font-size:14px}
.ours{fill:#1b6ca8}.others{fill:#a9b4c0}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#9da7b3}.title{fill:#e6edf3}
 .ours{fill:#6cb6ff}.others{fill:#4b5663}}
"""
"""Without variables of CSS: some viewers of pictures show all of it black then."""


def drawn(kept: Kept) -> str:
    """The picture. What was not measured is not drawn."""
    size = kept.of("cost")[-1]
    covered = {
        name: 100 * kept.figures(Cell(name, "find", EVERYDAY)).get("english", 0) for name in SYSTEMS
    }
    cpu = {name: 1000 * kept.figures(Cell(name, "cost", size)).get("search", 0) for name in SYSTEMS}
    means = {name: mean or 0 for name, mean in published_means(kept).items()}
    searching = f"CPU of one search among {int(size):,} tools, ms (logarithmic; less is better)"
    panels = (
        ("Everyday requests in English: needs covered within 5, %", covered, True),
        ("Published sets, their mean: needs covered within 5, %", means, True),
        (searching, cpu, False),
    )
    height = HEAD + ROW * len(SYSTEMS) + 10
    body = "\n".join(
        line
        for number, (title, values, linear) in enumerate(panels)
        for line in _panel(number * height, title, values, linear=linear)
    )
    whole = len(panels) * height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {whole}" '
        f'font-family="sans-serif" font-size="12">\n<style>{STYLE}</style>\n'
        f'<rect class="paper" width="{WIDTH}" height="{whole}"/>\n{body}\n</svg>\n'
    )


def _panel(top: float, title: str, values: Mapping[str, float], *, linear: bool) -> Iterator[str]:
    yield f'<text class="title" x="12" y="{top + 22}">{title}</text>'
    most = max(values.values(), default=0)
    for number, (name, value) in enumerate(values.items()):
        if value > 0:
            y = top + HEAD + ROW * number
            share = value / most if linear else _log_share(value, most)
            length = share * (WIDTH - LABEL - NUMBER - 12)
            kind = "ours" if name.startswith("Toolcrib") else "others"
            yield f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end">{name}</text>'
            place = f'x="{LABEL}" y="{y}" width="{length:.1f}" height="18"'
            yield f'<rect class="{kind}" {place} rx="3"/>'
            yield f'<text x="{LABEL + length + 6:.1f}" y="{y + 14}">{value:,.1f}</text>'


def _log_share(value: float, most: float) -> float:
    """From a tenth of a millisecond on."""
    return max(0.02, log10(value / 0.1) / log10(most / 0.1))
