"""Programs that register tools of their own, as sources; the protocol is docs/protocol/apps.md.

    app ──WebSocket──> server ──hello, register──> AppSource <──call── the pool
                                                      │ asleep?
                                                      └─ launch ──> the app comes and registers

    registry      `AppRegistry`: all apps that are known, and those that join
    server        the port where apps come in: hello with the token, then what they register
    source        one app as a source; listed by what it registered last, running or not
    launch        starts an app that sleeps, once for all who wait, and ends it when it is idle
    call          one call over a connection, and the outcome that its reply means
    definition    what an app says of a tool, bounded and checked
    cache         what is known of each app, one file each, so that none has to be running
    address       the private file by which an app finds us: port and token
    peer          one end of a connection: requests, replies, notifications; both ends use it
    json_rpc      JSON-RPC 2.0, read and written strictly
    websocket     the WebSocket package, behind two functions
    client        the app's own end: what `toolcrib.app` is made of

An app is a stranger. What it says of itself is bounded. Its launch command is the first that it
ever proposed, unless the operator sets another. Its word that a tool only reads counts if the
operator trusts the app.

No port is opened and no app is started before a call or `listen` needs it. The door is lazy: who
only lists known apps does not load WebSockets.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.sources.apps.address import public_file, read_address
    from toolcrib.sources.apps.cache import KnownApp, SDKToolsCache
    from toolcrib.sources.apps.client import AppClient, report_progress
    from toolcrib.sources.apps.launch import AppRules, AppTimeouts
    from toolcrib.sources.apps.registry import AppRegistry
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "address": ("public_file", "read_address"),
            "cache": ("KnownApp", "SDKToolsCache"),
            "client": ("AppClient", "report_progress"),
            "launch": ("AppRules", "AppTimeouts"),
            "registry": ("AppRegistry",),
        },
    )
