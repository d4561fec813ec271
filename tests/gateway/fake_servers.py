"""A front over a crib with fake servers, and the SDK's own client before it, in either era."""

import asyncio
import inspect
import json
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from tests.sources.mcp.faking import FAKE, nothing_left
from tests.waiting import HANG_S
from toolcrib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel, set_log_level
from toolcrib.gateway.input_requests import InputRequests
from toolcrib.gateway.offer_handlers import OfferHandlers
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.tool_results import outcome_result

ERAS = ("legacy", "auto")
"""How a client agrees with our front: by the handshake, or in the modern era."""


def add_fake(crib: Crib, name: str, *modes: str, **others: Any) -> None:
    """Add a fake server and list it once."""
    entry: dict[str, Any] = {"permission": {"*": "read"}} | others
    crib.add_mcp(name, command=[sys.executable, "-S", str(FAKE), *modes], **entry)
    (done,) = asyncio.run(crib.refresh(name))
    assert not done.error, done


@contextmanager
def crib_at(home: Path) -> Generator[Crib]:
    """A crib that remembers in this folder, for the tests of a whole file: to start takes time."""
    with pytest.MonkeyPatch.context() as patch, nothing_left():
        patch.setenv("HOME", str(home))
        with Crib() as crib:
            yield crib


class Front:
    """What a server has of all this: a tool for every tool, and whatever else servers have."""

    def __init__(self, crib: Crib, principal: Principal) -> None:
        self._crib = crib
        self._principal = principal
        self.input_requests = InputRequests(principal)
        self.server = sdk.Server(
            "front",
            on_list_tools=self._list,
            **OfferHandlers(crib, principal, self.input_requests, _nobody).handlers(),
        )
        self.server.add_request_handler("tools/call", types.CallToolRequestParams, self._call)
        self.server.add_request_handler(
            "logging/setLevel", types.SetLevelRequestParams, set_log_level
        )

    async def _list(self, _context: sdk.Context, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    async def _call(self, context: sdk.Context, params: types.CallToolRequestParams) -> sdk.Result:
        async def work(heard: CallChannel) -> sdk.Result:
            outcome = await self._crib.call(
                params.name,
                params.arguments or {},
                caller=self._principal.caller,
                ask=heard.ask,
                log=heard.log,
                timeout_s=HANG_S,
            )
            result = outcome_result(outcome, modern=sdk.is_modern(context))
            return {"resultType": "complete", **result}

        return await self.input_requests.serve(context, work)


async def _nobody(_event: Any) -> None:
    pass


class Person:
    """Sits at a client and replies; `asked` is what was asked of them."""

    def __init__(self, **replies: Any) -> None:
        self.asked: list[Any] = []
        self.words: list[tuple[str, Any]] = []
        self.reached = asyncio.Event()
        self._replies = replies

    async def elicit(self, context: Any, params: Any) -> Any:  # noqa: ARG002 - the SDK's
        return await self._reply("elicit", params)

    async def sample(self, context: Any, params: Any) -> Any:  # noqa: ARG002
        return await self._reply("sample", params)

    async def roots(self, context: Any) -> Any:  # noqa: ARG002
        return await self._reply("roots", None)

    async def log(self, params: Any) -> None:
        self.words.append((params.level, params.data))

    async def _reply(self, kind: str, params: Any) -> Any:
        self.asked.append(params)
        self.reached.set()
        reply: Any = self._replies[kind]
        return await reply(params) if inspect.iscoroutinefunction(reply) else reply

    def callbacks(self) -> dict[str, Any]:
        names = {"elicit": "elicitation", "sample": "sampling", "roots": "list_roots"}
        able = {f"{names[kind]}_callback": getattr(self, kind) for kind in self._replies}
        return able | {"logging_callback": self.log}


@asynccontextmanager
async def client_of(
    crib: Crib, era: str, person: Person, principal: Principal | None = None, **others: Any
) -> AsyncGenerator[Client]:
    """The SDK's client at a front of its own."""
    front = Front(crib, principal or Principal("ann"))
    others |= person.callbacks()
    try:
        async with Client(front.server, mode=era, cache=None, **others) as client:
            yield client
    finally:
        front.input_requests.close()


def said(result: types.CallToolResult) -> Mapping[str, Any]:
    """The JSON that a tool returned."""
    first = result.content[0]
    assert isinstance(first, types.TextContent)
    assert not result.is_error, first.text
    return json.loads(first.text)


def words(result: types.CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, types.TextContent)
    return first.text
