"""What a program takes out of a crib in use, or puts in the place of something in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolcrib.api_arguments import check
from toolcrib.errors import AmbiguousName, UnknownTool
from toolcrib.pool import TOOLS_UPDATED, ToolsUpdated
from toolcrib.text import list_nearest

if TYPE_CHECKING:
    from toolcrib.crib.inventory import Inventory
    from toolcrib.sources import Source


def replace_source(inventory: Inventory, source: Source) -> None:
    """Put a source in place of the one of its kind and id.

    Raises `UnknownTool`, and whatever its listing raises: then the former one stays.
    """
    id, every = (source.kind, source.id), inventory.pool.sources
    former = [each for each in every if each.id and (each.kind, each.id) == id]
    if not former or former[0] in inventory.servers.values():
        raise UnknownTool(f"no source {source.id!r} is here to replace; add it with `add_source`")
    source.capabilities()
    inventory.add_source(source, instead_of=former)


def remove(inventory: Inventory, what: str | Callable[..., object] | Source) -> None:
    """Take out a function, a source or a server; see `Crib.remove`."""
    with inventory.changing_functions() as functions:
        names = functions.names_of(what)
        servers = [each for name, each in inventory.servers.items() if what in (name, each.id)]
        others = [each for each in inventory.pool.sources if each not in servers]
        sources = [each for each in others if what in (each, each.id or each)]
        found = len(names) + len(servers) + len(sources)
        if found > 1:
            remedy = "hand over the function or the source itself"
            raise AmbiguousName(f"{what!r} names {found} things here; {remedy}")
        if not found:
            near = list_nearest(str(what), [*inventory.entries(), *inventory.servers])
            message = f"no function, source or MCP server {what!r:.80} was added; nearest: {near}"
            raise UnknownTool(f"{message}. A tool of a source goes with the source")
        for name in names:
            functions.remove(name)
        for source in sources:
            inventory.pool.remove(source)
    if servers:  # without the lock: it waits for what ends
        inventory.fleet.replace([each.server for each in servers])


def on_update(inventory: Inventory, listener: Callable[[ToolsUpdated], None]) -> Callable[[], None]:
    """Call this with each change of the pool from now on; returns what ends it."""
    check(listener, Callable, "on_update()", "pass a function of one argument")

    def hear(news: ToolsUpdated) -> None:
        try:
            listener(news)
        except Exception as error:  # noqa: BLE001 - whatever it is, the pool has changed
            inventory.report(f"a listener of `on_update` failed: {error!r}; mend the listener")

    with inventory.changing:
        inventory.current()  # what was added before is no news
        inventory.is_heard = True
        return inventory.pool.events.subscribe(TOOLS_UPDATED, hear)
