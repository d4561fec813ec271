"""A crib behind a server, and real clients of both eras before it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, Self

from mcp import Client
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    JSONRPCError,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from tests.execute.counting import CountingSource, offered
from tests.waiting import HANG_S
from toolcrib.crib import Crib
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServer
from toolcrib.gateway.stream_serving import serve_stream
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
            streams: Any = RereadStream(read), AnsweringStream(write)
            serving = asyncio.ensure_future(serve_stream(server, *streams))
            try:
                yield client
            finally:
                serving.cancel()
                await asyncio.wait({serving})

    info = Implementation(name=name, version="1")
    async with Client(transport(), mode=era, client_info=info, cache=None, **options) as client:
        yield client


class RereadStream:
    """A stream of the SDK's that takes back what was read from it."""

    def __init__(self, read: Any) -> None:
        self._read = read
        self._again: list[Any] = []

    def put_back(self, items: Sequence[Any]) -> None:
        self._again = [*items, *self._again]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._again.pop(0) if self._again else await anext(self._read)

    async def aclose(self) -> None:
        await self._read.aclose()


class AnsweringStream:
    """A stream of the SDK's that takes answers as JSON too."""

    def __init__(self, write: Any) -> None:
        self._write = write

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    async def send(self, item: SessionMessage) -> None:
        await self._write.send(item)

    async def send_answer(self, id: int | str, answer: bytes) -> None:
        message = jsonrpc_message_adapter.validate_json(answer)
        assert isinstance(message, JSONRPCResponse | JSONRPCError), message
        assert message.id == id
        await self.send(SessionMessage(message))

    async def aclose(self) -> None:
        await self._write.aclose()


async def plain_answer(
    context: Any, call: Callable[[Any, Any], Awaitable[CallToolResult]]
) -> bytes:
    """What a server answers to a plain call whose handler this is."""
    params = CallToolRequestParams.model_validate(context.params)
    return (await call(context, params)).model_dump_json(by_alias=True, exclude_none=True).encode()


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
    """A crib with one counting source, and servers onto it. No call is held, unless you say so."""

    def __init__(
        self,
        *tools: ToolInfo,
        allow: Sequence[PermissionKind] = (),
        **settings: Any,
    ) -> None:
        rules = tuple(ApprovalRule(verdict="allow", kind=kind) for kind in allow)
        approval: dict[str, Any] = {"approval": ApprovalSettings(rules=rules, wait_s=0)}
        self.crib = Crib(Settings(store=":memory:", **{**approval, **settings}))
        self.source = CountingSource(*(tools or shop_tools()))
        self.crib.add_source(self.source)

    def server(self, principal: Principal = ANN) -> GatewayServer:
        return GatewayServer(self.crib, principal)


def asked(run: Callable[[], Any]) -> Any:
    """Run a test that waits, within a bound for hangs."""
    return asyncio.run(asyncio.wait_for(run(), HANG_S))
