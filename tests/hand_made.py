"""Documents small enough to compute their scores by hand."""

from collections.abc import Iterable

import numpy as np

from toolcrib.index import Document, FieldWeights

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

# |a| = 2 = average, tf = 4: 4 / (4 + 1.2 · 1)
FILE_IN_A = 0.7692308
# |b| = 3, tf = 1: 1 / (1 + 1.2 · (0.25 + 0.75 · 3 / 2))
MAP_IN_B = 0.3773585
# "read" is in two of three, so that its idf is the least one; that of "file" is ln(2.5 / 1.5).
READ_IN_B = 0.000001 * MAP_IN_B / 0.5108266
# "moon" is in none of three: its idf is ln(3.5 / 0.5), and it is asked for all the same
FILE_NOT_MOON_IN_A = FILE_IN_A * 0.5108256 / (0.5108256 + 1.9459101)
BM25_SHARES: tuple[tuple[tuple[str, ...], dict[str, float]], ...] = (
    (("file",), {"a": FILE_IN_A}),
    (("map",), {"b": MAP_IN_B}),
    (("file", "read"), {"a": FILE_IN_A, "b": READ_IN_B}),
    (("file", "moon"), {"a": FILE_NOT_MOON_IN_A}),
    (("moon",), {}),
)
# "read fil" and "read file": (4 + 0.6 · 3/4 · 3) / √(8 · 7)
READ_FIL = 0.7149239
