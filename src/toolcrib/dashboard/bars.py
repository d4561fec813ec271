"""Bars as SVG, made on the server: no style, no script. What they say stands beside them.

A picture is 100 units wide, whatever the width of its place. Colours come from classes.
"""

from collections.abc import Iterable, Sequence

import htpy as h

WIDTH, HEIGHT = 100.0, 10
CHART_BAR, CHART_GAP, CHART_HEIGHT = 8, 2, 40


def bar(value: float, lowest: float, highest: float, kind: str) -> h.Element:
    """A value as a bar from the zero line, to the right or to the left; `kind` is its colour."""
    span = max(highest, 0.0) - min(lowest, 0.0) or 1.0
    zero = -min(lowest, 0.0) / span * WIDTH
    length = abs(value) / span * WIDTH
    start = zero if value >= 0 else zero - length
    return _picture(h.rect(class_=[kind, "less" if value < 0 else None], **_box(start, length)))


def share_bar(share: float, marks: Iterable[float] = (), kind: str = "share") -> h.Element:
    """A share from 0 to 1 of the whole, with marks at some shares."""
    return _picture(
        h.rect(".well", **_box(0, WIDTH)),
        h.rect(class_=kind, **_box(0, min(max(share, 0.0), 1.0) * WIDTH)),
        [h.rect(".zero", **_box(mark * WIDTH, 0.5)) for mark in marks],
    )


def chart(values: Sequence[int], words: str) -> h.Element:
    """A bar for each value, from the base line up; below 0 is none. `words` say what it shows."""
    most = max(max(values, default=0), 1)
    bars = [
        h.rect(
            x=str(place * (CHART_BAR + CHART_GAP)),
            y=f"{CHART_HEIGHT - size:.1f}",
            width=str(CHART_BAR),
            height=f"{size:.1f}",
            rx="1",
        )
        for place, value in enumerate(values)
        if (size := max(1.0, CHART_HEIGHT * value / most) if value > 0 else 0.0)
    ]
    width = max(1, len(values) * (CHART_BAR + CHART_GAP) - CHART_GAP)
    base = h.rect(".base", x="0", y=str(CHART_HEIGHT), width=str(width), height="1")
    view_box = f"0 0 {width} {CHART_HEIGHT + 1}"
    return h.svg(".chart", viewBox=view_box, role="img", aria_label=words)[bars, base]


def _picture(*inside: h.Node) -> h.Element:
    return h.svg(
        ".bar",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )[inside]


def _box(start: float, length: float) -> dict[str, str]:
    return {"x": f"{start:.1f}", "width": f"{length:.1f}"}
