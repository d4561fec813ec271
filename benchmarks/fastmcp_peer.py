"""fastmcp's BM25 search transform, as a function and as its users have it: through a client.

As a function it is handed the list of tools; through a client the server lists them anew for every
search, as it must to respect what a caller may see.
"""

# Where fastmcp is not installed, its types are unknown.
# pyright: reportUnknownParameterType=false

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastmcp import Client, FastMCP
from fastmcp.client.transports import FastMCPTransport
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools.base import Tool as PeerTool

from benchmarks.systems import LIMIT, System
from toolcrib.evaluate.cases import EvalTool

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class AsFunction:
    """The transform alone."""

    transform: BM25SearchTransform
    tools: list[PeerTool]

    async def search(self, text: str) -> object:
        return await self.transform._search(self.tools, text)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    def add(self, tool: EvalTool) -> None:
        self.tools.append(_peer_tool(len(self.tools), tool))

    def database_bytes(self) -> int:
        return 0


@dataclass(slots=True)
class ThroughClient:
    """A server with the transform and a client of it, in one process."""

    server: FastMCP[None]
    client: Client[FastMCPTransport]
    size: int

    async def search(self, text: str) -> object:
        return await self.client.call_tool("search_tools", {"query": text})

    def add(self, tool: EvalTool) -> None:
        self.server.add_tool(_peer_tool(self.size, tool))
        self.size += 1

    def database_bytes(self) -> int:
        return 0


@asynccontextmanager
async def open_function(tools: Mapping[str, EvalTool]) -> AsyncGenerator[System]:
    """The transform and the list of tools that it searches."""
    yield AsFunction(BM25SearchTransform(max_results=LIMIT), _peer_tools(tools))


@asynccontextmanager
async def open_client(tools: Mapping[str, EvalTool]) -> AsyncGenerator[System]:
    """A server of these tools and a client that is connected to it."""
    server: FastMCP[None] = FastMCP("peer")
    for tool in _peer_tools(tools):
        server.add_tool(tool)
    server.add_transform(BM25SearchTransform(max_results=LIMIT))
    async with Client(server) as client:
        yield ThroughClient(server, client, len(tools))


def _peer_tools(tools: Mapping[str, EvalTool]) -> list[PeerTool]:
    return [_peer_tool(number, tool) for number, tool in enumerate(tools.values())]


def _peer_tool(number: int, tool: EvalTool) -> PeerTool:
    """The tool under a legal name of its own: the number keeps two of one name apart."""
    name = f"{_ILLEGAL.sub('_', tool.name)[:48]}_{number}"
    return PeerTool(name=name, description=tool.description, parameters=dict(tool.parameters or {}))
