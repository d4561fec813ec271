"""Make the functions of a program tools of Toolcrib, while it runs and also afterwards.

    app = App("calendar", launch=["python3", "/home/me/calendar_app.py"])

    @app.tool
    def add_event(title: str, day: str) -> str:
        '''Put an event into the calendar.'''
        ...

    app.run()

The program finds Toolcrib by itself, waits for it, and comes back to it. Once it has registered,
its tools are found even when it does not run; a call then starts it by `launch`. The protocol is in
docs/protocol/apps.md.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, Unpack, overload

from toolcrib.sources import FunctionSource, ToolFacts
from toolcrib.sources.apps import AppClient, report_progress

__all__ = ["App", "progress"]

F = TypeVar("F", bound=Callable[..., object])


def progress(done: float, total: float | None = None, message: str = "") -> None:
    """Report how far a tool has come, from within it. Outside of a call this does nothing."""
    report_progress(done, total, message)


class App:
    """A program with tools. Toolcrib knows it by its `name`; one app of a name may be connected.

    `launch` is the command that starts the program: a list of words, no shell. The program has to
    stay in the foreground. Without `launch`, its tools can be called only while it runs. `address`
    is the file with Toolcrib's port and token; None means the file of the Toolcrib that launched
    us, else the user's.
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
        self._tools = FunctionSource()
        hello = {"name": name, "version": version, "launch": list(launch)}
        self._client = AppClient(hello, self._tools, address)

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
        """Serve until the program is interrupted.

        Raises `ValueError` where Toolcrib refuses the name or the launch command.
        """
        try:
            asyncio.run(self.serve())
        except KeyboardInterrupt:
            return

    async def serve(self) -> None:
        """The same on a loop that runs already; cancel it to stop."""
        await self._client.serve()
