"""The gateway: one MCP server in front of all others.

    toolcrib connect ──> unix socket ──> shim_connections ──┐
    HTTP client ──────> http/guard ────> http/sessions ─────┼──> server ──> caller_view ──> Crib
    --stdio ─────────────────────────> stdio ───────────────┘
    toolcrib gateway, search, ... ──> operator socket ──> operator_api ──> daemon

Who comes: `credentials` makes a `principal` of one of the `keys`, or of our own user. What they
see: a `server` of their own, which speaks both eras of MCP through `sdk`. `tools/list` is
`tool_list`, by `modes`. `tools/call` is `caller_view`, or one of the `fixed_tools` (in the mode
`code`: of the `code_tools`); its answer is made by `tool_results`.
What a tool says or asks meanwhile goes by `call_channel`. A question to a client of the modern era
suspends the call (`input_requests`). `resources` and `prompts` hand on what servers have beside
tools, through `offers`; `list_notifications` tells clients that a list has changed.

The process (`daemon_process`): `daemon` serves, one for each set of settings (`daemon_lock`), bound
as `binding` allows; `signal_handlers` end it. A reload replaces its `serving_state`. Of a shared
store it may serve other `tenants` too: `tenant_router` finds whose a credential is. `limits`
bounds connections and requests. `background_tasks` lists servers and keeps the index;
`file_watcher` sees that a file has changed. `surface_recorder` keeps the first replies, which
clients get while the next daemon loads. The command line reaches a running daemon by
`operator_client`. What commands ask about the pool is answered by `command_queries`, with a daemon
(`operator_commands`) and without. What clients do leaves events (`client_events`), and
`operator_clients` hands them on to whoever looks on.

It is not where tools are called or approved (`execute`), nor where servers are started
(`sources.mcp`): it asks the crib for both. Loading this costs nothing; `server`, `daemon` and
`stdio` load the MCP SDK, which takes about half a second.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.gateway.binding import Binding
    from toolcrib.gateway.command_queries import answer_query, await_vectors, program_reply
    from toolcrib.gateway.daemon_log import log_file
    from toolcrib.gateway.daemon_process import run_daemon
    from toolcrib.gateway.file_watcher import stamps_of
    from toolcrib.gateway.instructions import initial_context
    from toolcrib.gateway.keys import KEY_SCOPES, KeyScope, KeyTerms, keys_in, keys_of
    from toolcrib.gateway.modes import EffectiveMode
    from toolcrib.gateway.operator_client import (
        ask_daemon,
        call_by_daemon,
        is_daemon_running,
        query_daemon,
        watch_daemon,
    )
    from toolcrib.gateway.principal import DEFAULT_PROFILE, local_principal, profile_named
    from toolcrib.gateway.stdio import OpenGateway, open_gateway, serve_stdio
    from toolcrib.gateway.surface_recorder import SurfaceFile
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "binding": ("Binding",),
            "command_queries": ("answer_query", "await_vectors", "program_reply"),
            "daemon_log": ("log_file",),
            "daemon_process": ("run_daemon",),
            "file_watcher": ("stamps_of",),
            "instructions": ("initial_context",),
            "keys": ("KEY_SCOPES", "KeyScope", "KeyTerms", "keys_in", "keys_of"),
            "modes": ("EffectiveMode",),
            "operator_client": (
                "ask_daemon",
                "call_by_daemon",
                "is_daemon_running",
                "query_daemon",
                "watch_daemon",
            ),
            "principal": ("DEFAULT_PROFILE", "local_principal", "profile_named"),
            "stdio": ("OpenGateway", "open_gateway", "serve_stdio"),
            "surface_recorder": ("SurfaceFile",),
        },
    )
