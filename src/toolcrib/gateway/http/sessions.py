"""What serves each principal over HTTP: a transport of their own, so that no session crosses."""

import asyncio
from typing import NamedTuple

from toolcrib.gateway.http.asgi import App, Receive, Scope, Send
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.sdk import StreamableHTTPSessionManager, TransportSecuritySettings
from toolcrib.gateway.server import PrincipalServers
from toolcrib.model import Json

IDLE_S = 30 * 60.0
MOST_SESSIONS = 500


class HttpTransport(NamedTuple):
    """What answers one principal, and what ends it."""

    app: App
    ending: asyncio.Event
    task: asyncio.Task[None]


class HttpSessions:
    """One session manager a principal, started when they first come."""

    def __init__(
        self, windows: PrincipalServers, security: TransportSecuritySettings, body_bytes: int
    ) -> None:
        self._windows, self._security, self._body_bytes = windows, security, body_bytes
        self._served: dict[tuple[str, str], HttpTransport] = {}

    def of(self, principal: Principal) -> App:
        """Whatever answers this principal."""
        key = principal.id, principal.profile.name
        if key not in self._served:
            self._served[key] = self._start(principal)
        return self._served[key].app

    def principals(self) -> list[Json]:
        """Who has come so far, and for which profile."""
        return [{"principal": principal, "profile": profile} for principal, profile in self._served]

    async def close(self) -> None:
        """End every session."""
        await self.drop(frozenset(principal for principal, _ in self._served))

    async def drop(self, principals: frozenset[str]) -> None:
        """End the sessions of these principals."""
        keys = [key for key in self._served if key[0] in principals]
        ended = [self._served.pop(key) for key in keys]
        for each in ended:
            each.ending.set()
        await asyncio.gather(*(each.task for each in ended), return_exceptions=True)

    def _start(self, principal: Principal) -> "HttpTransport":
        manager = StreamableHTTPSessionManager(
            self._windows.of(principal).server,
            security_settings=self._security,
            session_idle_timeout=IDLE_S,
            max_request_body_size=self._body_bytes,
            max_sessions=MOST_SESSIONS,
        )
        ready, ending = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(_run(manager, ready, ending))

        async def served(scope: Scope, receive: Receive, send: Send) -> None:
            await ready.wait()
            await manager.handle_request(scope, receive, send)

        return HttpTransport(served, ending, task)


async def _run(
    manager: StreamableHTTPSessionManager, ready: asyncio.Event, ending: asyncio.Event
) -> None:
    """The manager's own task: it has to be entered and left in one."""
    async with manager.run():
        ready.set()
        await ending.wait()
