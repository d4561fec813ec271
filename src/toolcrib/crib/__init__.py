"""The crib: what a program holds. It joins the stages, and each does its own part.

    crib = Crib()
    crib.add(my_function)
    crib.add_mcp("time", command=["uvx", "mcp-server-time"])
    crib.search("what I need")
    await crib.call("my_function", {"its": "arguments"})
    crib.session("thread-1").active_tools()

    sources → inventory → live index → searcher → answer
                 └→ sessions, calls through the door of `toolcrib.execute`

`crib`                 `Crib`: the programs' side, one method a wish
`operator`             `Operator`, as `crib.operator`: approvals, what use has taught, new settings
`live_index`           the index that follows the pool; `crib_index` is its handle: `crib.index`
`packs`                keeps both in packs for the next start; `pack_files` says where and when
`inventory`            `Inventory`: the pool, what feeds it, and who may see what of it
`follower`             keeps the pool in step with a store that several replicas share
`fleet`                the MCP servers among those sources, and their exchange while others run on
`searcher`             one search: the index, the rules, what use teaches, remarks about servers
`unavailable_servers`  configured servers whose tools cannot be had; `server_purposes` finds them
`sessions`             opens sessions; `capability_reader` reads skills and agents for callers
`crib_events`          the events of searches and reveals

What a stage needs of the settings it gets from `toolcrib.wiring`. No rule of search, of rights or
of approval is made here. The gateway, the dashboard and the commands reach past the programs' side
with `inventory_of(crib)`, `searcher_of(crib)`, `events_of(crib)`, `stores_in(crib)`,
`signatures_in(crib, ...)`, `tracer_in(crib)` and `use_history_of(crib)`; nobody else is promised
what is there.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.crib.crib import (
        HOST,
        Crib,
        events_of,
        inventory_of,
        searcher_of,
        signatures_in,
        stores_in,
        tracer_in,
        use_history_of,
    )
    from toolcrib.crib.crib_index import CribIndex
    from toolcrib.crib.inventory import Inventory
    from toolcrib.crib.operator import Operator
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "crib": (
                "HOST",
                "Crib",
                "events_of",
                "inventory_of",
                "searcher_of",
                "signatures_in",
                "stores_in",
                "tracer_in",
                "use_history_of",
            ),
            "crib_index": ("CribIndex",),
            "inventory": ("Inventory",),
            "operator": ("Operator",),
        },
    )

__all__ = [
    "HOST",
    "Crib",
    "CribIndex",
    "Inventory",
    "Operator",
    "events_of",
    "inventory_of",
    "searcher_of",
    "signatures_in",
    "stores_in",
    "tracer_in",
    "use_history_of",
]
