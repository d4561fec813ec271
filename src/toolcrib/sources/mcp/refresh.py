"""Starts servers once, to learn what they list."""

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed

from toolcrib.sources.mcp.source import McpSource, Refreshed


def refresh(
    sources: Sequence[McpSource], progress: Callable[[Refreshed], None] = lambda _: None
) -> list[Refreshed]:
    """Refresh them all, a few at a time; `progress` hears of each as it is done.

    In the order of the sources. One that fails costs no other, and what was known of it stays.
    """
    running = {source.refresh(): source.server for source in sources}
    done: dict[str, Refreshed] = {}
    for future in as_completed(running):
        done[running[future]] = future.result()
        progress(done[running[future]])
    return [done[source.server] for source in sources]
