"""What each guest is served by over HTTP: a transport of their own, so that no session crosses."""

import asyncio

from toolcrib.gateway.front import Windows
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.http.asgi import App, Receive, Scope, Send
from toolcrib.gateway.sdk import StreamableHTTPSessionManager, TransportSecuritySettings
from toolcrib.model import Json

IDLE_S = 30 * 60.0
MOST_SESSIONS = 500


class Sessions:
    """One session manager a guest, started when they first come."""

    def __init__(
        self, windows: Windows, security: TransportSecuritySettings, body_bytes: int
    ) -> None:
        self._windows, self._security, self._body_bytes = windows, security, body_bytes
        self._served: dict[tuple[str, str], App] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._ending = asyncio.Event()

    def of(self, guest: Guest) -> App:
        """Whatever answers this guest."""
        key = guest.id, guest.profile.name
        if key not in self._served:
            self._served[key] = self._start(guest)
        return self._served[key]

    def guests(self) -> list[Json]:
        """Who has come so far, and for which profile."""
        return [{"guest": guest, "profile": profile} for guest, profile in self._served]

    async def close(self) -> None:
        """End every session."""
        self._ending.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, guest: Guest) -> App:
        manager = StreamableHTTPSessionManager(
            self._windows.of(guest).server,
            security_settings=self._security,
            session_idle_timeout=IDLE_S,
            max_request_body_size=self._body_bytes,
            max_sessions=MOST_SESSIONS,
        )
        ready = asyncio.Event()
        self._tasks.append(asyncio.create_task(self._run(manager, ready)))

        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            await ready.wait()
            await manager.handle_request(scope, receive, send)

        return served

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        """The manager's own task: it has to be entered and left in one."""
        async with manager.run():
            ready.set()
            await self._ending.wait()
