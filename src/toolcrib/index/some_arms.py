"""A view with some arms of another: what they can do without the rest."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.index.protocol import Arm, Index, View
from toolcrib.text import Speller


@dataclass(frozen=True, slots=True)
class SomeArms:
    """The same generation, the same names, these arms."""

    view: View
    only: Collection[Arm]

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
        return {arm: index for arm, index in self.view.arms.items() if arm in self.only}

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
