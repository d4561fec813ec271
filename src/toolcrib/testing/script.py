"""What a scripted model does, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from toolcrib.model import Json, JsonObject


@dataclass(frozen=True, slots=True)
class SearchTools:
    """The model searches for tools.

    `finds` is what a search of the provider's own finds: there the scripted model is the provider.
    """

    query: str
    finds: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CallTool:
    """The model calls a tool, by the name that it was shown.

    With `guess` also by one that it was not shown. Arguments that are text are sent as they are,
    be they JSON or not, where a provider has them as text.
    """

    name: str
    arguments: JsonObject | str = field(default_factory=dict[str, Json])
    guess: bool = False


@dataclass(frozen=True, slots=True)
class Say:
    """The model says something."""

    text: str


Step: TypeAlias = SearchTools | CallTool | Say
Turn: TypeAlias = Step | Sequence[Step]
"""What the model does in one reply: one step, or several at once."""


def steps_of(turn: Turn) -> tuple[Step, ...]:
    """The steps of a turn."""
    return (turn,) if isinstance(turn, SearchTools | CallTool | Say) else tuple(turn)
