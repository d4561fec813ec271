"""Bars as SVG, made on the server: no style, no script. What they say stands beside them.

A picture is 100 units wide, whatever the width of its place. Colours come from classes.
"""

from collections.abc import Iterable

import htpy as h

WIDTH, HEIGHT = 100.0, 10


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


def _picture(*inside: h.Node) -> h.Element:
    return h.svg(
        ".bar",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )[inside]


def _box(start: float, length: float) -> dict[str, str]:
    return {"x": f"{start:.1f}", "width": f"{length:.1f}"}
