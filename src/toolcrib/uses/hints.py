"""What goes well with a tool: the links that were declared, and what use has shown.

A link is `often_with` of a tool, or a tool that a skill speaks of.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolcrib.model import Entry
from toolcrib.sources import FunctionSource, Source
from toolcrib.text import did_you_mean

LINK_COUNTS = 3
"""A declared link counts as if it had been used so often: it is there from the first day."""
LEAST_COUNT = 2
"""What was used with a tool less often is no hint."""
Links: TypeAlias = Mapping[str, Sequence[str]]
Resolve: TypeAlias = Callable[[str], Sequence[Entry]]
"""Every entry that a name may mean."""


@dataclass(frozen=True, slots=True)
class UseHints:
    """All that is known of what a tool is used with, the most frequent first.

    `links` were declared, `followers` were called after it and `predecessors` before it, so many
    times; `often_with` is what comes of them; `lessons` is how many words are kept that led to it.
    """

    name: str
    often_with: tuple[str, ...]
    links: tuple[str, ...]
    followers: Mapping[str, int]
    predecessors: Mapping[str, int]
    lessons: int


def often_with(
    links: Sequence[str], followers: Mapping[str, int], predecessors: Mapping[str, int]
) -> tuple[str, ...]:
    """The names used with a tool often enough, the most often first, ties by name."""
    counts = dict.fromkeys(links, LINK_COUNTS)
    for used in (followers, predecessors):
        for name, count in used.items():
            counts[name] = counts.get(name, 0) + count
    often = {name: count for name, count in counts.items() if count >= LEAST_COUNT}
    return tuple(most_first(often))


def most_first(counts: Mapping[str, int]) -> Mapping[str, int]:
    """The counts in order: the largest first, ties by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def declared_links(linking: Links, entries: Mapping[str, Entry], resolve: Resolve) -> Links:
    """What each entry is linked with, by name. A link goes both ways, and never to itself.

    `linking` are the links as they are written. A name that means nothing here, or several things,
    is no link.
    """
    found: dict[str, dict[str, None]] = {}
    for name, links in linking.items():
        for link in links:
            match resolve(link):
                case [other] if other.name != name and other.name in entries:
                    found.setdefault(name, {})[other.name] = None
                    found.setdefault(other.name, {})[name] = None
                case _:
                    pass
    return {name: tuple(others) for name, others in found.items()}


def unresolved_links(
    sources: Iterable[Source], names: Iterable[str], resolve: Resolve
) -> Iterator[str]:
    """One message for each link of a tools.yaml that leads to no tool, or to several."""
    for source in sources:
        if isinstance(source, FunctionSource):
            for (_, link), place in source.links.items():
                if problem := _link_problem(link, names, resolve(link)):
                    yield f"{place} {problem}"


def _link_problem(link: str, names: Iterable[str], candidates: Sequence[Entry]) -> str:
    match candidates:
        case [_]:
            return ""
        case []:
            message = f"no tool {link!r} here; correct it, or list its server with refresh"
            return "; ".join(filter(None, [message, did_you_mean(link, list(names))]))
        case several:
            return f"{link!r} fits several: {', '.join(e.name for e in several)}; use one of these"
