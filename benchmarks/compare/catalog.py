"""What a system is handed: tools and requests, as plain values that Toolcrib has no part in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

LIMIT = 5
"""How many hits each system is asked for."""


@dataclass(frozen=True, slots=True)
class CompareTool:
    """A tool of a server. `id` is what a system is to name it by."""

    id: str
    name: str
    description: str
    parameters: Mapping[str, Any]
    server_name: str

    def json(self) -> dict[str, Any]:
        """As it is handed to another process."""
        return asdict(self)


Tools = Mapping[str, CompareTool]
Embed = Callable[[Sequence[str]], Any]


class Peer(Protocol):
    """Something that finds and calls tools."""

    def search(self, text: str) -> Sequence[str]:
        """The ids of the best `LIMIT` at most, best first."""
        ...

    async def call(self) -> object:
        """Have `echo` called, by the way that a model's call takes."""
        ...

    def surface(self) -> Sequence[str]:
        """What a model is sent before it has searched. Empty where it has no search tool."""
        ...


def echo(text: str) -> str:
    """Give a text back."""
    return text
