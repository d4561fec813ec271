"""A server with one tool, in place of the real ones: what it is called with, it says."""

import asyncio
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from tests.gateway.clients import plain_answer
from toolcrib.crib import Crib
from toolcrib.gateway.principal import Principal

ECHO = Tool(name="echo", description="Say it again.", input_schema={"type": "object"})
WAIT = Tool(name="wait", description="Take a while.", input_schema={"type": "object"})
HOLD = Tool(name="hold", description="Take until let go.", input_schema={"type": "object"})


class EchoServer:
    """One principal's server."""

    def __init__(self, crib: Crib, principal: Principal, let_go: asyncio.Event) -> None:
        self.principal = principal
        self._let_go = let_go
        self.crib = crib
        self.mcp_server: Server[Any] = Server(
            "stand-in", on_list_tools=self._list, on_call_tool=self._call
        )

    def mode(self, client: str, *, modern: bool) -> str:  # noqa: ARG002 - one for all
        return "direct"

    def client_left(self, connection: Any, id: int | str) -> None:
        """Nothing is held here."""

    async def call_plainly(self, context: Any) -> bytes:
        return await plain_answer(context, self._call)

    async def _list(self, _context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[ECHO, WAIT, HOLD])

    async def _call(self, _context: Any, params: Any) -> CallToolResult:
        arguments = params.arguments or {}
        if params.name == "wait":
            await asyncio.sleep(arguments.get("s", 1))
        if params.name == "hold":
            await self._let_go.wait()
        text = f"{self.principal.caller.id}: {arguments.get('text', '')}"
        return CallToolResult(content=[TextContent(type="text", text=text)])


class EchoServers:
    """All of them."""

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._all: dict[str, EchoServer] = {}
        self.let_go = asyncio.Event()

    def of(self, principal: Principal) -> EchoServer:
        return self._all.setdefault(
            principal.caller.id, EchoServer(self._crib, principal, self.let_go)
        )

    def all(self) -> tuple[EchoServer, ...]:
        return ()

    def drop(self, principals: frozenset[str]) -> None:
        gone = [each for each in self._all if each.rpartition("@")[0] in principals]
        for caller in gone:
            del self._all[caller]

    def close(self) -> None:
        self._all.clear()
