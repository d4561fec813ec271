"""Make the functions of a program tools of Toolcrib, as long as it runs and beyond.

    app = App("calendar", launch=["python3", "/home/me/calendar_app.py"])

    @app.tool
    def add_event(title: str, day: str) -> str:
        '''Put an event into the calendar.'''
        ...

    app.run()

The program finds Toolcrib by itself, waits for it, and comes back to it. Once it has registered,
its tools are found whether or not it runs; a call launches it by `launch`. The protocol is written
in docs/protocol/apps.md.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar, Unpack, overload

from toolcrib.errors import BadArguments, SourceError, UnknownTool
from toolcrib.model import Call, CallContext, Deadline, Json, JsonObject, Outcome, ProgressHandler
from toolcrib.settings import Settings
from toolcrib.sources import FunctionSource, ToolFacts
from toolcrib.sources.apps import (
    ADDRESS_VARIABLE,
    BAD_PARAMS,
    FAILED,
    NO_SUCH_METHOD,
    AppAddress,
    Peer,
    RemoteError,
    is_object,
    public_file,
    read_address,
    tool_to_json,
)

__all__ = ["App", "progress"]

SHORTEST_WAIT_S = 0.2
LONGEST_WAIT_S = 10.0
LONGEST_CALL_S = 3600.0

F = TypeVar("F", bound=Callable[..., object])

_PROGRESS: ContextVar[ProgressHandler] = ContextVar("toolcrib_progress")


def progress(done: float, total: float | None = None, message: str = "") -> None:
    """Tell how far a tool has come; called from within one. Outside of a call it tells nobody."""
    _PROGRESS.get(lambda _done, _all, _message: None)(done, total, message)


class App:
    """A program with tools. `name` is how Toolcrib knows it; one of a name may be connected.

    `launch` is the command that starts it: a list of words, no shell, and the program has to stay
    in the foreground. Without one, its tools can be called while it runs. `address` is the file
    with Toolcrib's port and token; None means the one that launched us, else the user's.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "",
        launch: Sequence[str] = (),
        address: Path | None = None,
    ) -> None:
        self.name = name
        self._hello: JsonObject = {"name": name, "version": version, "launch": list(launch)}
        self._address = address
        self._tools = FunctionSource()

    @overload
    def tool(self, fn: F, /) -> F: ...
    @overload
    def tool(self, /, **facts: Unpack[ToolFacts]) -> Callable[[F], F]: ...
    def tool(self, fn: F | None = None, /, **facts: Unpack[ToolFacts]) -> F | Callable[[F], F]:
        """Make a function a tool, bare or with facts; it is called as before.

        Raises `NameTaken` and `DeclarationError`. Tools are registered when the app connects.
        """

        def add(fn: F) -> F:
            self._tools.add(fn, **facts)
            return fn

        return add if fn is None else add(fn)

    def run(self) -> None:
        """Serve until the program is interrupted. Raises `SourceError` when Toolcrib refuses us."""
        try:
            asyncio.run(self.serve())
        except KeyboardInterrupt:
            return

    async def serve(self) -> None:
        """The same on a loop that is there; cancel it to stop."""
        wait_s = SHORTEST_WAIT_S
        while True:
            try:
                await self._visit(read_address(self._file))
                wait_s = SHORTEST_WAIT_S
            except (ConnectionError, SourceError):
                wait_s = min(wait_s * 2, LONGEST_WAIT_S)
            await asyncio.sleep(wait_s)

    async def _visit(self, address: AppAddress) -> None:
        """One connection, to its end. Raises `ConnectionError` where none could be made."""
        from toolcrib.sources.apps import connected  # noqa: PLC0415 - light to import

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

    async def _call(self, params: JsonObject, tell: ProgressHandler) -> Json:
        match params:
            case {"name": str(name), "arguments": arguments} if is_object(arguments):
                limit_s = params.get("deadline_s")
            case _:
                raise RemoteError(BAD_PARAMS, "a call has a name and arguments")
        known = isinstance(limit_s, int | float)
        running = CallContext(Deadline(limit_s if known else LONGEST_CALL_S), tell)
        _PROGRESS.set(_from_any_thread(tell))
        try:
            return _answer(await self._tools.call(Call(name, arguments), running))
        except UnknownTool as error:
            raise RemoteError(NO_SUCH_METHOD, str(error)) from error
        except BadArguments as error:
            raise RemoteError(BAD_PARAMS, str(error)) from error

    @property
    def _file(self) -> Path:
        named = os.environ.get(ADDRESS_VARIABLE)
        there = Path(named) if named else public_file(Settings().state_folder / "apps")
        return self._address or there


def _answer(outcome: Outcome) -> Json:
    if outcome.error:
        data = {"code": outcome.error.code, "effect": outcome.error.effect}
        raise RemoteError(FAILED, outcome.error.message, data)
    return {"content": outcome.content}


def _from_any_thread(tell: ProgressHandler) -> ProgressHandler:
    loop = asyncio.get_running_loop()
    return lambda done, total, message: (
        loop.call_soon_threadsafe(tell, done, total, message) and None
    )


def _refusal(error: RemoteError) -> Exception:
    """What is wrong with our hello is raised; all else may be over when we come again."""
    if error.code == BAD_PARAMS:
        return ValueError(f"Toolcrib refuses this app: {error.message}")
    return ConnectionError(error.message)
