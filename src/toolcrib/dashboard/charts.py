"""Small charts as SVG, made on the server: no script and no style. Colours come from classes."""

from collections.abc import Sequence

import htpy as h

BAR, GAP, HEIGHT = 8, 2, 40


def chart(values: Sequence[int], words: str) -> h.Element:
    """A bar for each value, from the base line up; below 0 is none. `words` say what it shows."""
    most = max(max(values, default=0), 1)
    bars = [
        h.rect(
            x=str(place * (BAR + GAP)),
            y=f"{HEIGHT - size:.1f}",
            width=str(BAR),
            height=f"{size:.1f}",
            rx="1",
        )
        for place, value in enumerate(values)
        if (size := max(1.0, HEIGHT * value / most) if value > 0 else 0.0)
    ]
    width = max(1, len(values) * (BAR + GAP) - GAP)
    base = h.rect(".base", x="0", y=str(HEIGHT), width=str(width), height="1")
    view_box = f"0 0 {width} {HEIGHT + 1}"
    return h.svg(".chart", viewBox=view_box, role="img", aria_label=words)[bars, base]
