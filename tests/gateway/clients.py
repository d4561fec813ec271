"""A crib behind a server, and real clients of both eras before it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from mcp import Client
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CallToolResult, Implementation

from tests.execute.counting import CountingSource, offered
from tests.waiting import HANG_S
from toolcrib.crib import Crib
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServer
from toolcrib.model import JsonObject, PermissionKind, ToolInfo
from toolcrib.settings import ApprovalRule, ApprovalSettings, Settings

Era = Literal["legacy", "2026-07-28"]
ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")
ANN = Principal("ann")


@asynccontextmanager
async def connected(
    server: GatewayServer, era: Era = "legacy", *, name: str = "test", **options: Any
) -> AsyncGenerator[Client]:
    """A client of an era, over streams to a server."""

    @asynccontextmanager
    async def transport() -> AsyncGenerator[Any]:
        async with create_client_server_memory_streams() as (client, (read, write)):
            mcp_server = server.mcp_server
            serving = asyncio.ensure_future(
                mcp_server.run(read, write, mcp_server.create_initialization_options())  # pyright: ignore[reportArgumentType]
            )
            try:
                yield client
            finally:
                serving.cancel()
                await asyncio.wait({serving})

    info = Implementation(name=name, version="1")
    async with Client(transport(), mode=era, client_info=info, cache=None, **options) as client:
        yield client


def words(result: CallToolResult) -> str:
    """All text of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


def error_of(result: CallToolResult) -> Mapping[str, Any]:
    """What programs are told of an error of ours."""
    assert result.is_error, result
    assert result.structured_content, result
    return result.structured_content["error"]


NUMBERED: JsonObject = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
}


def shop_tools(count: int = 20) -> Sequence[ToolInfo]:
    """Tools of one server: a reader, a writer, and plenty of gears."""
    gears = [offered(f"turn_gear_{n}", "write", NUMBERED) for n in range(count - 2)]
    return [
        offered("look_up_order", "read", NUMBERED),
        offered("cancel_order", "dangerous"),
        *gears,
    ]


class Workshop:
    """A crib with one counting source, and servers onto it."""

    def __init__(
        self,
        *tools: ToolInfo,
        allow: Sequence[PermissionKind] = (),
        **settings: Any,
    ) -> None:
        rules = tuple(ApprovalRule(verdict="allow", kind=kind) for kind in allow)
        approval: dict[str, Any] = {"approval": ApprovalSettings(rules=rules)}
        self.crib = Crib(Settings(store=":memory:", **{**approval, **settings}))
        self.source = CountingSource(*(tools or shop_tools()))
        self.crib.add_source(self.source)

    def server(self, principal: Principal = ANN) -> GatewayServer:
        return GatewayServer(self.crib, principal)


def asked(run: Callable[[], Any]) -> Any:
    """Run a test that waits, within a bound for hangs."""
    return asyncio.run(asyncio.wait_for(run(), HANG_S))
