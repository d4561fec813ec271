"""What every index promises.

An *index* (one arm) looks a variant up one way. An *engine* keeps the three arms of one catalog
and changes them; a *view* is what one search sees of it: exactly one generation, from the first
lookup to the last, whatever is written meanwhile.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.document import Document
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant
from toolcrib.text import Speller

Arm = Literal["like", "bm25", "vector"]
Progress = Callable[[int], None]


class Superseded(Exception):
    """Another process has replaced this index by one of other entries."""


class Index(Protocol):
    """One way to look up. Each arm works alone; none knows of the others."""

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """Best first, ties by id. No match is an empty sequence, never an error.

        A score is from 0 to 1, the best that the arm could say of any document: the share of what
        was asked (bm25), the cosine (vector), the likeness (like).

        What `exclude` leaves out takes no place in the ranking; `limit` None ranks all that match.
        """
        ...


class View(Protocol):
    """One generation of a catalog, unchanging while it is held."""

    @property
    def generation(self) -> int: ...

    @property
    def mark(self) -> str:
        """What it was made from, by its writer's word; "" if that gave none."""
        ...

    @property
    def count(self) -> int:
        """How many documents there are."""
        ...

    @property
    def vector_size(self) -> int:
        """How many numbers each stored vector has; 0 without any."""
        ...

    @property
    def arms(self) -> dict[Arm, Index]:
        """The arms that can answer, in a fixed order. No vectors stored: no vector arm."""
        ...

    def named(self, spelling: str) -> Sequence[str]:
        """The ids that have this folded spelling of a name, in order of id."""
        ...

    def ids(self) -> Sequence[str]:
        """All ids, in order."""
        ...

    def speller(self) -> Speller:
        """What corrects a query's words by those of this generation; made once."""
        ...

    def text_hashes(self, ids: Iterable[str]) -> Mapping[str, bytes]:
        """The hash of the text that was embedded, by id, of those that are here."""
        ...

    def without_vector(self) -> Sequence[str]:
        """The ids of the documents that have no vector, in order."""
        ...


class Engine(Protocol):
    """The arms of one catalog, and the only way to change them."""

    def view(self) -> AbstractContextManager[View]:
        """The current generation, held until the block ends. Raises `Superseded`."""
        ...

    def rebuild(
        self, documents: Iterable[Document], *, progress: Progress | None = None, mark: str = ""
    ) -> None:
        """Replace everything by the next generation, all at once; searches go on meanwhile.

        A document whose id comes twice counts once, the later one. `progress` is told how many
        are done. If it raises, the old generation stays.
        """
        ...

    def change(
        self,
        put: Iterable[Document] = (),
        remove: Iterable[str] = (),
        *,
        mark: str = "",
        base: str | None = None,
    ) -> None:
        """Add or replace some documents and remove others, all at once, touching nothing else.

        `base` is the mark of what is to be changed. If another is there by now, it raises
        `Superseded` and changes nothing.
        """
        ...

    def add_vectors(
        self,
        vectors: Mapping[str, NDArray[np.float32]],
        *,
        mark: str = "",
        base: str | None = None,
    ) -> None:
        """Give documents their vectors, by id, all at once; ids that are not here are passed over.

        `base` is as for `change`.
        """
        ...

    def mark(self) -> str:
        """What the index was made from, by the last writer's word; "" if that gave none."""
        ...


@runtime_checkable
class PackedEngine(Protocol):
    """An engine that can write its index to a file, which the next start maps into memory."""

    def write_pack(self, path: Path, key: bytes) -> str:
        """Write the current generation to a file and go over to it; its mark. Raises `OSError`."""
        ...

    def open_pack(self, path: Path, key: bytes, marks: Collection[str]) -> bool:
        """Take the index in a file, if it has one of these marks; whether it has.

        Raises `OSError` and `PackDamaged`.
        """
        ...
