"""The operator's side: a socket of its own, small requests as JSON lines, for our own user only.

What is decided here can be reached neither by MCP nor by HTTP: nothing that a model may call leads
to this socket.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.gateway.unix_listener import UnixListener, hang_up
from toolcrib.model import Json, JsonObject
from toolcrib.sources.connection_limiter import ConnectionLimiter

MESSAGE_S = 30.0
MOST_AT_ONCE = 16

Tell = Callable[[Json], None]
Do = Callable[[Mapping[str, Any], Tell], Awaitable[Json]]
"""Does what is asked for; meanwhile it may tell how far it is."""

_log = logging.getLogger(__name__)


class Operator:
    """Listens for the operator. `deeds` are what they may ask for, by name."""

    def __init__(self, deeds: Mapping[str, Do]) -> None:
        self._deeds = deeds
        self._silent = ConnectionLimiter(MOST_AT_ONCE, "the operator's socket")
        self.listener = UnixListener(self._welcome)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._silent.enter(writer, writer.transport.abort)
            async with asyncio.timeout(MESSAGE_S):
                asked = await reader.readuntil(b"\n")
            self._silent.leave(writer)

            def tell(news: Json) -> None:
                if not writer.is_closing():
                    writer.write(_line({"told": news}))

            answer = await self._answer(asked, tell)  # as long as it takes: half a deed is none
            async with asyncio.timeout(MESSAGE_S):
                writer.write(_line(answer))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            _log.debug("the operator has left")
        finally:
            self._silent.leave(writer)
            await hang_up(writer)

    async def _answer(self, line: bytes, tell: Tell) -> JsonObject:
        """What came of a request: `done`, or an `error` with cause and remedy."""
        try:
            asked = json.loads(line)
            deed = self._deeds[asked["do"]]
        except (ValueError, KeyError, TypeError):
            return {
                "error": f"not one of: {', '.join(self._deeds)}; is the daemon of another version?"
            }
        try:
            return {"done": await deed(asked, tell)}
        except ToolcribError as error:
            return {"error": str(error)}


def _line(message: JsonObject) -> bytes:
    return json.dumps(message).encode() + b"\n"
