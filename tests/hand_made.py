"""Documents small enough to compute their scores by hand."""

from collections.abc import Iterable

import numpy as np

from toolcrib.index.document import Document
from toolcrib.index.weights import FieldWeights

WEIGHTS = FieldWeights(name=4, label=2, description=1, detail=0.5)


def doc(
    id: str,
    *,
    name: str = "",
    label: str = "",
    description: str = "",
    detail: str = "",
    labels: Iterable[str] = (),
    vector: Iterable[float] | None = None,
) -> Document:
    """A document whose terms and words are what stands between the spaces."""
    return Document(
        id=id,
        names=(id,),
        labels=tuple(tuple(each.split()) for each in labels),
        fields=tuple(tuple(text.split()) for text in (name, label, description, detail)),
        text="",
        vector=None if vector is None else np.array([*vector], dtype=np.float32),
    )


THREE = (
    doc("a", name="read file", labels=["read file", "disk"]),
    doc("b", name="draw", description="map read", labels=["draw map"]),
    doc("c", name="send", labels=["send"]),
)

# N = 3, n = 1, |a| = 2 = average, tf = 4: ln(2.5 / 1.5) · 4 · 2.2 / (4 + 1.2 · 1)
FILE_IN_A = 0.8644741
# |b| = 3, tf = 1: ln(2.5 / 1.5) · 1 · 2.2 / (1 + 1.2 · (0.25 + 0.75 · 3 / 2))
MAP_IN_B = 0.4240817
# "read" is in two of three, so that its idf is the least one: 0.000001
READ_IN_A = 0.000001 * 4 * 2.2 / 5.2
# "read fil" and "read file": (4 + 0.6 · 3/4 · 3) / √(8 · 7)
READ_FIL = 0.7149239
