"""What serves each principal over HTTP: a transport of their own, so that no session crosses."""

import asyncio
from typing import NamedTuple

from toolcrib.gateway.http.handshake_transport import HttpSessionManager
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.sdk import TransportSecuritySettings
from toolcrib.gateway.server import GatewayServers
from toolcrib.http import App, Receive, Scope, Send
from toolcrib.model import Json

IDLE_S = 30 * 60.0
MOST_SESSIONS = 500


class PrincipalTransport(NamedTuple):
    """The app that answers one principal, the task behind it, and what ends that."""

    app: App
    ending: asyncio.Event
    task: asyncio.Task[None]


class HttpSessions:
    """One session manager a principal, started when they first come."""

    def __init__(
        self, servers: GatewayServers, security: TransportSecuritySettings, body_bytes: int
    ) -> None:
        self._servers, self._security, self._body_bytes = servers, security, body_bytes
        self._transports: dict[tuple[str, str], PrincipalTransport] = {}

    def of(self, principal: Principal) -> App:
        """The app that answers this principal."""
        key = principal.id, principal.profile.name
        if key not in self._transports:
            self._transports[key] = self._start(principal)
        return self._transports[key].app

    def principals(self) -> list[Json]:
        """Who has come so far, and for which profile."""
        return [
            {"principal": principal, "profile": profile} for principal, profile in self._transports
        ]

    async def close(self) -> None:
        """End every session."""
        await self.drop(frozenset(principal for principal, _ in self._transports))

    async def drop(self, principals: frozenset[str]) -> None:
        """End the sessions of these principals."""
        keys = [key for key in self._transports if key[0] in principals]
        ended = [self._transports.pop(key) for key in keys]
        for each in ended:
            each.ending.set()
        await asyncio.gather(*(each.task for each in ended), return_exceptions=True)

    def _start(self, principal: Principal) -> "PrincipalTransport":
        manager = HttpSessionManager(
            self._servers.of(principal),
            security_settings=self._security,
            session_idle_timeout=IDLE_S,
            max_request_body_size=self._body_bytes,
            max_sessions=MOST_SESSIONS,
        )
        ready, ending = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(_run(manager, ready, ending))

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await ready.wait()
            await manager.handle_request(scope, receive, send)

        return PrincipalTransport(app, ending, task)


async def _run(manager: HttpSessionManager, ready: asyncio.Event, ending: asyncio.Event) -> None:
    """The manager's own task: it has to be entered and left in one."""
    async with manager.run():
        ready.set()
        await ending.wait()
