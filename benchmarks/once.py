"""A view whose arms look a variant up once, however many systems ask."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolcrib.index import Arm, View
from toolcrib.index.protocol import Index
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant
from toolcrib.text import Speller


@dataclass(frozen=True, slots=True)
class Once:
    """The same generation, the same names, the same arms; what they said is remembered."""

    view: View
    said: dict[Hashable, Ranking] = field(default_factory=dict[Hashable, Ranking])

    @property
    def generation(self) -> int:
        return self.view.generation

    @property
    def mark(self) -> str:
        return self.view.mark

    @property
    def count(self) -> int:
        return self.view.count

    @property
    def vector_size(self) -> int:
        return self.view.vector_size

    @property
    def arms(self) -> dict[Arm, Index]:
        return {arm: _OnceAsked(arm, index, self.said) for arm, index in self.view.arms.items()}

    def named(self, spelling: str) -> Sequence[str]:
        return self.view.named(spelling)

    def ids(self) -> Sequence[str]:
        return self.view.ids()

    def speller(self) -> Speller:
        return self.view.speller()

    def text_hashes(self, ids: Iterable[str]) -> Mapping[str, bytes]:
        return self.view.text_hashes(ids)

    def without_vector(self) -> Sequence[str]:
        return self.view.without_vector()


@dataclass(frozen=True, slots=True)
class _OnceAsked:
    arm: Arm
    index: Index
    said: dict[Hashable, Ranking]

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """As the index says; what some may not see is asked anew."""
        if exclude:
            return self.index.lookup(variant, limit=limit, exclude=exclude)
        looked_up = (variant.text, variant.words, variant.terms, variant.vector is None)
        key = (self.arm, limit, *looked_up)
        if key not in self.said:
            self.said[key] = self.index.lookup(variant, limit=limit)
        return self.said[key]
