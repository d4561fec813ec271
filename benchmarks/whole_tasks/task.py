"""A task: what the user asks, and what a scripted model does about it.

The model knows what it wants. Calls that do not depend on each other are made in one turn. It makes
the next turn from the results so far, as a model that has read them would. Where it writes programs
and cannot know from a signature what a call returns, it looks at an example first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

Results: TypeAlias = Sequence[Sequence[str]]
"""What the model has read so far: for each turn, the text of each call."""


class ToolCall(NamedTuple):
    """A call of a tool by its own name. `{work}` and `{site}` stand for the folder and the site."""

    tool: str
    arguments: Mapping[str, Any]


Turn: TypeAlias = Callable[[Results], Sequence[ToolCall]]


@dataclass(frozen=True, slots=True)
class WholeTask:
    """A task over some servers.

    queries    what the model searches for; all in one search
    turns      the calls, one function a turn
    answer     what the results say; the last program has to give just this back
    programs   the same task in programs, one a turn
    """

    name: str
    servers: tuple[str, ...]
    request: str
    queries: tuple[str, ...]
    turns: tuple[Turn, ...]
    answer: Callable[[Results], Any]
    programs: tuple[str, ...]


def always(*calls: ToolCall) -> Turn:
    """A turn that depends on nothing."""
    return lambda _results: calls
