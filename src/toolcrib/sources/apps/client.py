"""The app's own end of a connection: it says hello, registers its tools, and answers calls.

`toolcrib.app.App` is made of it. It finds Toolcrib by the address file, and comes back after every
connection that ended.
"""

import asyncio
import os
from contextvars import ContextVar
from pathlib import Path

from toolcrib.errors import BadArguments, SourceError, UnknownTool
from toolcrib.model import Call, CallContext, Deadline, Json, JsonObject, Outcome, ProgressHandler
from toolcrib.settings import Settings
from toolcrib.sources.apps.address import ADDRESS_VARIABLE, AppAddress, public_file, read_address
from toolcrib.sources.apps.definition import tool_to_json
from toolcrib.sources.apps.json_rpc import (
    BAD_PARAMS,
    FAILED,
    NO_SUCH_METHOD,
    RemoteError,
    is_object,
)
from toolcrib.sources.apps.peer import Peer
from toolcrib.sources.function_source import FunctionSource

SHORTEST_WAIT_S = 0.2
LONGEST_WAIT_S = 10.0
LONGEST_CALL_S = 3600.0

_PROGRESS: ContextVar[ProgressHandler] = ContextVar("toolcrib_progress")


def report_progress(done: float, total: float | None = None, message: str = "") -> None:
    """Report how far a tool has come, from within it. Outside of a call this does nothing."""
    _PROGRESS.get(lambda _done, _all, _message: None)(done, total, message)


class AppClient:
    """Registers the tools of one app, and runs them. `hello` is what the app says of itself.

    `address` is the file with Toolcrib's port and token; None means the file of the Toolcrib that
    launched us, else the user's.
    """

    def __init__(self, hello: JsonObject, tools: FunctionSource, address: Path | None) -> None:
        self._hello = hello
        self._tools = tools
        self._address = address

    async def serve(self) -> None:
        """Connect, and connect again, until it is cancelled.

        Raises `ValueError` where Toolcrib refuses what `hello` says.
        """
        wait_s = SHORTEST_WAIT_S
        while True:
            try:
                await self._connect(read_address(self._address_file))
                wait_s = SHORTEST_WAIT_S
            except (ConnectionError, SourceError):
                wait_s = min(wait_s * 2, LONGEST_WAIT_S)
            await asyncio.sleep(wait_s)

    async def _connect(self, address: AppAddress) -> None:
        """One connection, to its end. Raises `ConnectionError` where none could be made."""
        from toolcrib.sources.apps.websocket import connected  # noqa: PLC0415 - light to import

        async with connected(address.port) as socket:
            peer = Peer(socket, {"call": self._call})
            reading = asyncio.ensure_future(peer.run())
            try:
                await peer.ask("hello", {**self._hello, "token": address.token})
                tools: list[Json] = [tool_to_json(tool) for tool in self._tools.capabilities()]
                await peer.ask("register", {"tools": tools})
                await reading
            except RemoteError as error:
                raise _refusal(error) from error
            finally:
                reading.cancel()

    async def _call(self, params: JsonObject, progress: ProgressHandler) -> Json:
        match params:
            case {"name": str(name), "arguments": arguments} if is_object(arguments):
                limit_s = params.get("deadline_s")
            case _:
                raise RemoteError(BAD_PARAMS, "a call has a name and arguments")
        is_limited = isinstance(limit_s, int | float)
        context = CallContext(Deadline(limit_s if is_limited else LONGEST_CALL_S), progress)
        _PROGRESS.set(_from_any_thread(progress))
        try:
            return _answer(await self._tools.call(Call(name, arguments), context))
        except UnknownTool as error:
            raise RemoteError(NO_SUCH_METHOD, str(error)) from error
        except BadArguments as error:
            raise RemoteError(BAD_PARAMS, str(error)) from error

    @property
    def _address_file(self) -> Path:
        if self._address:
            return self._address
        named = os.environ.get(ADDRESS_VARIABLE)
        return Path(named) if named else public_file(Settings().state_folder / "apps")


def _answer(outcome: Outcome) -> Json:
    if outcome.error:
        data = {"code": outcome.error.code, "effect": outcome.error.effect}
        raise RemoteError(FAILED, outcome.error.message, data)
    return {"content": outcome.content}


def _from_any_thread(progress: ProgressHandler) -> ProgressHandler:
    loop = asyncio.get_running_loop()
    return lambda done, total, message: (
        loop.call_soon_threadsafe(progress, done, total, message) and None
    )


def _refusal(error: RemoteError) -> Exception:
    """A hello that is wrong stays wrong; any other refusal may be over at the next try."""
    if error.code == BAD_PARAMS:
        return ValueError(f"Toolcrib refuses this app: {error.message}")
    return ConnectionError(error.message)
