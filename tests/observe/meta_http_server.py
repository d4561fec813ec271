"""An MCP server over HTTP, of the SDK; its tool answers with the `traceparent` that it got.

python meta_http_server.py PORT-FILE
"""

import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("far")


@server.tool()
async def trace(context: Context) -> str:
    """Say which trace this is."""
    meta: Any = context.request_context.meta or {}
    return meta.get("traceparent", "")


def main(port_file: Path) -> None:
    running = uvicorn.Server(
        uvicorn.Config(server.streamable_http_app(), port=0, log_level="error")
    )
    original = running.startup

    async def startup(sockets: Any = None) -> None:
        await original(sockets)
        port = running.servers[0].sockets[0].getsockname()[1]
        port_file.with_suffix(".tmp").write_text(str(port))
        port_file.with_suffix(".tmp").rename(port_file)

    running.startup = startup
    running.run()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
