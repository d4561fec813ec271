"""Starts servers once, to learn what they list."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait

from toolcrib.sources.mcp.source import McpSource, Refreshed

STILL_S = 1.0
"""How often somebody who waits for servers hears what those that are not done are at."""


def refresh(
    sources: Sequence[McpSource],
    progress: Callable[[Refreshed], None] = lambda _: None,
    waiting: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> list[Refreshed]:
    """Refresh them all, a few at a time; `progress` hears of each as it is done.

    `waiting` hears now and then what the others are at; see `under_way`. In the order of the
    sources. One that fails costs no other, and what was known of it stays.
    """
    running = {source.refresh(): source for source in sources}
    done: dict[str, Refreshed] = {}
    left = set(running)
    while left:
        ended, left = wait(left, STILL_S, FIRST_COMPLETED)
        for future in ended:
            done[running[future].server] = how = future.result()
            progress(how)
        if left:
            waiting(under_way(running[future] for future in left))
    return [done[source.server] for source in sources]


def under_way(sources: Iterable[McpSource]) -> dict[str, str]:
    """What each server is at, by its name: "installing by npx (35 s)"; empty if nobody knows."""
    return {each.server: each.starting for each in sorted(sources, key=lambda each: each.server)}
