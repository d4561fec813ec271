"""Programs that register tools of their own, as sources; the protocol is docs/protocol/apps.md.

    app ──WebSocket──> server ──hello, register──> AppSource <──call── the pool
                                                      │ asleep?
                                                      └─ launch ──> the app comes and registers

    registry      `AppRegistry`: all apps that are known, and those that join
    server        the port where apps come in: hello with the token, then what they register
    source        one app as a source; listed by what it registered last, running or not
    launch        starts an app that sleeps, once for all who wait, and ends it when it is idle
    call          one call over a connection, and what its answer or its absence means
    definition    what an app says of a tool, bounded and checked
    cache         what is known of each app, one file each, so that none has to be running
    address       the file by which an app finds us: port and token, for its owner's eyes alone
    peer          one end of a connection: it asks, answers and tells; both ends are made of it
    json_rpc      JSON-RPC 2.0, read and written strictly
    websocket     the WebSocket package, behind two functions

The app's own end is `toolcrib.app`, which is made of the same `peer` and `json_rpc`. An app is a
stranger: what it says of itself is bounded, its launch command is the first that it ever proposed
unless the operator sets another, and its word that a tool only reads counts if it is trusted.

Nothing listens and nothing is started before it has to be. The door is lazy: whoever lists known
apps does not load WebSockets.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.sources.apps.address import (
        ADDRESS_VARIABLE,
        AppAddress,
        public_file,
        read_address,
    )
    from toolcrib.sources.apps.cache import KnownApp, SDKToolsCache
    from toolcrib.sources.apps.definition import tool_to_json
    from toolcrib.sources.apps.json_rpc import (
        BAD_PARAMS,
        FAILED,
        NO_SUCH_METHOD,
        RemoteError,
        is_object,
    )
    from toolcrib.sources.apps.launch import AppRules, AppTimeouts
    from toolcrib.sources.apps.peer import Peer
    from toolcrib.sources.apps.registry import AppRegistry
    from toolcrib.sources.apps.websocket import connected
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "address": ("ADDRESS_VARIABLE", "AppAddress", "public_file", "read_address"),
            "cache": ("KnownApp", "SDKToolsCache"),
            "definition": ("tool_to_json",),
            "json_rpc": ("BAD_PARAMS", "FAILED", "NO_SUCH_METHOD", "RemoteError", "is_object"),
            "launch": ("AppRules", "AppTimeouts"),
            "peer": ("Peer",),
            "registry": ("AppRegistry",),
            "websocket": ("connected",),
        },
    )

__all__ = [
    "ADDRESS_VARIABLE",
    "BAD_PARAMS",
    "FAILED",
    "NO_SUCH_METHOD",
    "AppAddress",
    "AppRegistry",
    "AppRules",
    "AppTimeouts",
    "KnownApp",
    "Peer",
    "RemoteError",
    "SDKToolsCache",
    "connected",
    "is_object",
    "public_file",
    "read_address",
    "tool_to_json",
]
