"""The login at one server, wherever logins are kept."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from functools import partial

from toolcrib.errors import StoreError
from toolcrib.store import Login, LoginStore


class ServerLogin:
    """What `LoginStore` has of one server. All but `written` raises `StoreError`, as that does."""

    def __init__(self, logins: LoginStore, server: str) -> None:
        self._logins = logins
        self._server = server

    def read(self, url: str) -> Login | None:
        """The login for this very address; None where there is none that can be used."""
        return self._logins.read(self._server, url)

    def write(self, login: Login, *, renews: bool = False) -> None:
        """Keep a login; one that only `renews` another, unless that was removed meanwhile."""
        self._logins.write(self._server, login, renews=renews)

    def forget(self) -> bool:
        """Remove the login; whether there was one."""
        return self._logins.forget(self._server)

    @property
    def written(self) -> float:
        """When it was last written, since the epoch; 0 if it is not there, or nobody can tell."""
        try:
            return self._logins.written(self._server)
        except StoreError:
            return 0.0

    @asynccontextmanager
    async def renewing(self) -> AsyncGenerator[None]:
        """A block in which no other process renews this login; see `LoginStore`.

        Its turn is waited for in a thread. Whoever stops waiting gives it up when it comes.
        """
        loop, block = asyncio.get_running_loop(), ExitStack()
        enter = partial(block.enter_context, self._logins.renewing(self._server))
        entering = loop.run_in_executor(None, enter)

        def leave(entered: asyncio.Future[None]) -> None:
            if not entered.cancelled() and not entered.exception():
                loop.run_in_executor(None, block.close)

        try:
            await asyncio.shield(entering)
            yield
        finally:
            entering.add_done_callback(leave)
