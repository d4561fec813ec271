"""The reliability curve as a picture: the chance that was said, against what came of it.

Plain SVG for a page that has the classes: `grid`, `ideal`, `curve`, `dot`, and `other` around the
second of two curves.
"""

from collections.abc import Iterator, Sequence
from math import sqrt

from toolcrib.evaluate.calibration import Reliability, ReliabilityBin

SIDE, LEFT, BELOW, EDGE = 240, 50, 40, 18
BASELINE = 11
"""Of the label that stands upright."""
SMALLEST_DOT, LARGEST_DOT = 3.0, 9.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def reliability_chart(curves: Sequence[Reliability]) -> str:
    """One curve, or two to compare; a dot is as large as its share of the answers."""
    width, height = LEFT + SIDE + EDGE, EDGE + SIDE + BELOW
    inside = [
        *_axes(),
        *(line for place, each in enumerate(curves) for line in _curve(place, each)),
    ]
    label = "predicted chance against the share that was right"
    head = f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
    return "\n".join([head, *inside, "</svg>"])


def _axes() -> Iterator[str]:
    for tick in TICKS:
        x, y = _x(tick), _y(tick)
        yield f'<line class="grid" x1="{_x(0):g}" y1="{y:g}" x2="{_x(1):g}" y2="{y:g}"/>'
        yield f'<line class="grid" x1="{x:g}" y1="{_y(0):g}" x2="{x:g}" y2="{_y(1):g}"/>'
        yield _text(x, _y(0) + 15, f"{tick:.0%}", "middle")
        yield _text(_x(0) - 6, y + 4, f"{tick:.0%}", "end")
    yield f'<line class="ideal" x1="{_x(0):g}" y1="{_y(0):g}" x2="{_x(1):g}" y2="{_y(1):g}"/>'
    yield _text(_x(0.5), _y(0) + 33, "chance that search gave", "middle")
    label = _text(BASELINE, _y(0.5), "was right", "middle")
    yield f'<g transform="rotate(-90 {BASELINE} {_y(0.5):g})">{label}</g>'


def _curve(place: int, curve: Reliability) -> Iterator[str]:
    points = " ".join(f"{_x(each.predicted):.1f},{_y(each.observed):.1f}" for each in curve.bins)
    yield f'<g class="{"other" if place else "own"}">'
    yield f'<polyline class="curve" points="{points}"/>'
    yield from (_dot(each, curve.size) for each in curve.bins)
    yield "</g>"


def _dot(each: ReliabilityBin, total: int) -> str:
    radius = SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * sqrt(each.size / total)
    said = f"said {each.predicted:.0%}, right {each.observed:.0%}, {each.size} cases"
    place = f'cx="{_x(each.predicted):.1f}" cy="{_y(each.observed):.1f}"'
    return f'<circle class="dot" {place} r="{radius:.1f}"><title>{said}</title></circle>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{words}</text>'


def _x(share: float) -> float:
    return LEFT + share * SIDE


def _y(share: float) -> float:
    return EDGE + (1 - share) * SIDE
