"""A view with one arm of another: what that arm can do alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.index.protocol import Arm, Index, View


@dataclass(frozen=True, slots=True)
class OneArm:
    """The same generation, the same names, one arm."""

    view: View
    arm: Arm

    @property
    def generation(self) -> int:
        return self.view.generation

    @property
    def arms(self) -> dict[Arm, Index]:
        return {self.arm: self.view.arms[self.arm]}

    def named(self, spelling: str) -> Sequence[str]:
        return self.view.named(spelling)

    def ids(self) -> Sequence[str]:
        return self.view.ids()
