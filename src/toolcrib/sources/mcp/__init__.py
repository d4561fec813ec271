"""MCP servers as a source of tools: configured, started when called, spoken with, watched.

    servers.json ─▶ ServerConfig ─▶ McpSource ──── tools, without starting the server: the cache
       config/        config/          │ call
                                       ▼
                             lifecycle.ServerSupervisor ── breaker, start, idle stop, list_changed
                                       ▼
                             client.Connection ── initialize, tools/list, tools/call, elicitation
                                       ▼
                             transport ── stdio, Streamable HTTP, SSE, with the tap in between

    source            `McpSource`: one server, as pool and calls see it; `status` says how it is
    summary           what is known of a listing that need not be read
    servers           `McpServers`: all that are configured; a changed file exchanges sources
    trust, identity   which definitions are approved, by pin, and for which program
    offers            resources, prompts, completions and subscriptions
    config/           what the operator wrote: entries, switches, environment, secrets
    lifecycle/        one supervisor a server, on one loop for all; the cache of listings
    client/           the MCP client of one connection, in both eras of the protocol
    transport/        bytes to messages; isolation; what ends a process for sure
    oauth/            tokens, `toolcrib login`, and where its redirect lands
    registry          `server.json` of the MCP registry becomes an entry of ours
    diagnosis         why a server did not start, and the remedy
    sanitize          nothing of a server's text is shown or kept unbounded

Importing this loads no SDK: that happens when the first server starts. A server's words are data:
shown, bounded and redacted, never obeyed. Calls are checked and approved elsewhere (`execute`);
what a front client sees of these servers is the `gateway`'s.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.sources.mcp.config.environment import references, variables_read
    from toolcrib.sources.mcp.config.own_file import OwnServersFile
    from toolcrib.sources.mcp.config.server import ServerAddress, ServerCommand, ServerConfig
    from toolcrib.sources.mcp.config.server_entry import ServerEntry
    from toolcrib.sources.mcp.config.servers_file import ServerConfigs, read_servers, read_table
    from toolcrib.sources.mcp.config.switches import Switches
    from toolcrib.sources.mcp.jsonrpc import is_plain_result, reply_id
    from toolcrib.sources.mcp.listing import OfferKind
    from toolcrib.sources.mcp.offers import OfferedItem, Offers
    from toolcrib.sources.mcp.registry import Distribution, EntryDraft, RegistryServer
    from toolcrib.sources.mcp.registry_inputs import RegistryInput
    from toolcrib.sources.mcp.server_log import last_log_lines, log_path
    from toolcrib.sources.mcp.servers import (
        McpServers,
        ServerRules,
        find_server,
        refresh_all,
        unknown_server,
    )
    from toolcrib.sources.mcp.source import McpSource
    from toolcrib.sources.mcp.status import (
        SMALLER,
        RefreshResult,
        ServerStatus,
        missing_variables,
        unusable_entry,
    )
    from toolcrib.sources.mcp.transport.isolation import exposed_secrets
    from toolcrib.sources.mcp.trust import ReviewStatus
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "config.environment": ("references", "variables_read"),
            "config.own_file": ("OwnServersFile",),
            "config.server": ("ServerAddress", "ServerCommand", "ServerConfig"),
            "config.server_entry": ("ServerEntry",),
            "config.servers_file": ("ServerConfigs", "read_servers", "read_table"),
            "config.switches": ("Switches",),
            "jsonrpc": ("is_plain_result", "reply_id"),
            "listing": ("OfferKind",),
            "offers": ("OfferedItem", "Offers"),
            "registry": ("Distribution", "EntryDraft", "RegistryServer"),
            "registry_inputs": ("RegistryInput",),
            "server_log": ("last_log_lines", "log_path"),
            "servers": (
                "McpServers",
                "ServerRules",
                "find_server",
                "refresh_all",
                "unknown_server",
            ),
            "source": ("McpSource",),
            "status": (
                "SMALLER",
                "RefreshResult",
                "ServerStatus",
                "missing_variables",
                "unusable_entry",
            ),
            "transport.isolation": ("exposed_secrets",),
            "trust": ("ReviewStatus",),
        },
    )
