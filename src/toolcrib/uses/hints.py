"""What goes well with a tool: what was declared, and what use has shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LINK_COUNTS = 3
"""A declared link counts as if it had been used so often: it is there from the first day."""
LEAST_COUNT = 2
"""What was used with a tool less often is no hint."""


@dataclass(frozen=True, slots=True)
class Hints:
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
