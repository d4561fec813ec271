"""fastmcp as a gateway: a proxy for each server of a file, and its BM25 search in front of them.

    python -m benchmarks.fastmcp_gateway FILE

FILE is an `mcpServers` file. The era of a server is negotiated with it: by default fastmcp wants
the era of the client in front, and leaves out every server that does not have it.
"""

# Where fastmcp is not installed, its types are unknown.
# pyright: reportUnknownParameterType=false

import json
import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.server import create_proxy
from fastmcp.server.transforms.search import BM25SearchTransform

from benchmarks.systems import LIMIT


def main() -> None:
    servers = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["mcpServers"]
    gateway: FastMCP[None] = FastMCP("peer")
    for name, entry in servers.items():
        proxy = create_proxy({"mcpServers": {name: entry}}, mode="auto")
        gateway.mount(proxy, namespace=name)
    gateway.add_transform(BM25SearchTransform(max_results=LIMIT))
    gateway.run(show_banner=False, log_level="ERROR")


if __name__ == "__main__":
    main()
