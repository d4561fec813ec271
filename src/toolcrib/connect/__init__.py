"""The shim that an MCP client launches: `toolcrib connect`. Standard library only.

    client ──stdin──> Shim ──unix socket──> daemon
           <─stdout──      <──────────────

`arguments` reads the command line. `daemon_files` says where the daemon of these settings has its
socket, its lock, and the note about itself. `daemon_connection` reaches the daemon, and starts
it if there is none (`double_fork`, so that no client is its parent). `messages` cuts bytes into
lines and reads what matters of each. `pending_requests` knows what has no answer yet, so that
nothing is lost quietly when a daemon ends. `shim` is the loop between the two. `first_replies` are
given while the gateway loads, and `loading_progress` to what waits; `stdio_opening` does both for
`toolcrib serve --stdio`.

It is no MCP server: it hands lines on, and answers by itself only if there is no daemon.

Nothing here may import `dataclasses`, `pathlib`, `asyncio` or `logging`: together they cost more
than all the rest, and a client waits for it. Loading this package loads none of its modules.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.connect.arguments import ConnectOptions, parse_connect, parse_serve_stdio
    from toolcrib.connect.daemon_connection import READY_LINE
    from toolcrib.connect.daemon_files import (
        NEEDS_UNIX,
        DaemonFiles,
        DaemonInfo,
        NoDaemon,
        can_have_daemon,
        locate_daemon,
    )
    from toolcrib.connect.first_replies import (
        FIRST_METHODS,
        FirstReplies,
        FirstRequests,
        file_stamp,
        read_surface,
    )
    from toolcrib.connect.shim import connect
    from toolcrib.connect.stdio_opening import StdioDescriptors, StdioOpening, claim_stdio
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "arguments": ("ConnectOptions", "parse_connect", "parse_serve_stdio"),
            "daemon_connection": ("READY_LINE",),
            "daemon_files": (
                "NEEDS_UNIX",
                "DaemonFiles",
                "DaemonInfo",
                "NoDaemon",
                "can_have_daemon",
                "locate_daemon",
            ),
            "first_replies": (
                "FIRST_METHODS",
                "FirstReplies",
                "FirstRequests",
                "file_stamp",
                "read_surface",
            ),
            "shim": ("connect",),
            "stdio_opening": ("StdioDescriptors", "StdioOpening", "claim_stdio"),
        },
    )
