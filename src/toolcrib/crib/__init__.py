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
`stages`               `Stages`: all below, joined; `internals` is our own way in to them
`calls`                calls through the door; `programs` has the programs that make some
`operator`             `Operator`, as `crib.operator`: approvals, what use has taught, new settings
`live_index`           the index that follows the pool; `crib_index` is its handle: `crib.index`
`packs`                keeps both in packs for the next start; `pack_files` says where and when,
                       `shared_packs` hands them to other replicas
`recipes`              programs that are kept as tools: in the pool, and at the operator's desk
`inventory`            `Inventory`: the pool, what feeds it, and who may see what of it
`parts`                what the cribs of one process share: a database, models, the tracer
`tenants`              opens the cribs of other tenants beside one
`follower`             keeps pools in step with a store that several replicas share
`shared_documents`     edits the servers and rules of such a store, in the files of this machine
`exchange`             what a program takes out or replaces while the crib is in use, and who hears
`fleet`                the MCP servers among those sources, and their exchange while others run on
`searcher`             one search: the index, the rules, what use teaches, remarks about servers
`unavailable_servers`  configured servers whose tools cannot be had; `server_purposes` finds them
`sessions`             opens sessions; `capability_reader` reads skills and agents for callers
`crib_events`          the events of searches, programs and reveals

What a stage needs of the settings it gets from `toolcrib.wiring`. No rule of search, of rights or
of approval is made here. The gateway, the dashboard and the commands reach past the programs' side
with the functions of `internals`, as `inventory_of(crib)`; nobody else is promised what is there.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.crib.calls import HOST
    from toolcrib.crib.crib import Crib
    from toolcrib.crib.crib_index import CribIndex
    from toolcrib.crib.internals import (
        deferral_plan_in,
        events_of,
        inventory_of,
        recipes_of,
        searcher_of,
        signatures_in,
        stores_in,
        tools_of_program,
        tracer_in,
        use_history_of,
    )
    from toolcrib.crib.inventory import Inventory
    from toolcrib.crib.operator import Operator
    from toolcrib.crib.shared_documents import SharedDocuments, edited_documents
    from toolcrib.crib.tenants import CribSize, open_tenant, tenant_settings
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "calls": ("HOST",),
            "crib": ("Crib",),
            "crib_index": ("CribIndex",),
            "internals": (
                "events_of",
                "inventory_of",
                "recipes_of",
                "searcher_of",
                "deferral_plan_in",
                "signatures_in",
                "stores_in",
                "tools_of_program",
                "tracer_in",
                "use_history_of",
            ),
            "inventory": ("Inventory",),
            "operator": ("Operator",),
            "shared_documents": ("SharedDocuments", "edited_documents"),
            "tenants": ("CribSize", "open_tenant", "tenant_settings"),
        },
    )
