"""Links that were declared: `often_with` of a tool, and the tools that a skill speaks of."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from toolcrib.model import Capability, Entry, SkillInfo
from toolcrib.search.names import is_identifier
from toolcrib.sources.builtin import BuiltinSource
from toolcrib.sources.protocol import Source
from toolcrib.text.nearest import nearest

MOST_MENTIONS = 64

Links: TypeAlias = Mapping[str, Sequence[str]]
Resolve: TypeAlias = Callable[[str], Sequence[Entry]]
"""Every entry that a name may mean."""

_IN_BACKTICKS = re.compile(r"`([A-Za-z0-9_-]{2,64})`")


def declared_links(entries: Mapping[str, Entry], resolve: Resolve) -> Links:
    """What each entry is linked with, by name. A link goes both ways, and never to itself.

    A name that means nothing here, or several things, is no link.
    """
    found: dict[str, dict[str, None]] = {}
    for name, entry in entries.items():
        for link in _said_of(entry.capability):
            match resolve(link):
                case [other] if other.name != name and other.name in entries:
                    found.setdefault(name, {})[other.name] = None
                    found.setdefault(other.name, {})[name] = None
                case _:
                    pass
    return {name: tuple(others) for name, others in found.items()}


def astray(sources: Iterable[Source], names: Sequence[str], resolve: Resolve) -> Iterator[str]:
    """One message for each link of a tools.yaml that leads to no tool, or to several."""
    for source in sources:
        if isinstance(source, BuiltinSource):
            for (_, link), place in source.links.items():
                if problem := _problem(link, names, resolve(link)):
                    yield f"{place} {problem}"


def mentioned(body: str) -> Sequence[str]:
    """What may be names of tools in a text: identifiers in backticks, each once, in order."""
    words = dict.fromkeys(filter(is_identifier, _IN_BACKTICKS.findall(body)))
    return list(words)[:MOST_MENTIONS]


def _said_of(capability: Capability) -> Sequence[str]:
    if isinstance(capability, SkillInfo):
        return [*capability.often_with, *mentioned(capability.body)]
    return capability.often_with


def _problem(link: str, names: Sequence[str], meant: Sequence[Entry]) -> str:
    match meant:
        case [_]:
            return ""
        case []:
            near = nearest(link, names, limit=1)
            maybe = f"; did you mean {near[0]!r}?" if near else ""
            return f"no tool {link!r} here; correct it, or list its server with refresh{maybe}"
        case several:
            return f"{link!r} fits several: {', '.join(e.name for e in several)}; use one of these"
