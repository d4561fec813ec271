"""Tools in groups, as OpenAI's tool search loads them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolcrib.model import ToolInfo

MOST_MEMBERS = 9
"""The provider's advice: fewer than ten functions in a namespace."""

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Namespace:
    """Some tools of one source. The description names them: a model chooses by it."""

    name: str
    description: str
    tools: tuple[ToolInfo, ...]

    @classmethod
    def of(cls, name: str, source: str, tools: Sequence[ToolInfo]) -> "Namespace":
        """These tools of a source, under a name."""
        listed = ", ".join(tool.name for tool in tools)
        return cls(name, f"Tools of {source}: {listed}", tuple(tools))


def namespaces_of(tools: Iterable[ToolInfo]) -> list[Namespace]:
    """The tools in a namespace a source, in the order in which they come.

    A source with more than `MOST_MEMBERS` tools has several, `github`, `github_2` and on.
    """
    groups: dict[str, list[ToolInfo]] = {}
    for tool in tools:
        groups.setdefault(namespace_of(tool), []).append(tool)
    return [
        Namespace.of(name if place == 1 else f"{name}_{place}", name, members)
        for name, group in groups.items()
        for place, members in enumerate(_parts(group), 1)
    ]


def namespace_of(tool: ToolInfo) -> str:
    """A name for where a tool comes from that the API takes."""
    return _UNFIT.sub("_", tool.owner)[:48] or "tools"


def _parts(tools: Sequence[ToolInfo]) -> Iterator[Sequence[ToolInfo]]:
    for start in range(0, len(tools), MOST_MEMBERS):
        yield tools[start : start + MOST_MEMBERS]
