"""What serves each principal over HTTP: a transport of their own, so that no session crosses."""

import asyncio
from itertools import islice

from toolcrib.gateway.http.handshake_transport import HttpSessionManager
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.sdk import TransportSecuritySettings
from toolcrib.gateway.server import GatewayServers
from toolcrib.http import App, Receive, Scope, Send
from toolcrib.model import Json

IDLE_S = 30 * 60.0
MOST_SESSIONS = 500
MOST_PRINCIPALS = 256
LOOKED_AT = 16
"""So many of the oldest are looked at for one that is idle."""


class PrincipalTransport:
    """Answers one principal, until `end`."""

    def __init__(self, manager: HttpSessionManager) -> None:
        self._manager = manager
        self._running = 0
        self._ready, self._ending = asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(self._run())

    @property
    def is_idle(self) -> bool:
        """Whether nobody would miss it: it has no session, and no request runs."""
        return not self._running and not self._manager.has_sessions

    def end(self) -> None:
        """End its sessions soon; the task is done then."""
        self._ending.set()

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        self._running += 1
        try:
            await self._ready.wait()
            await self._manager.handle_request(scope, receive, send)
        finally:
            self._running -= 1

    async def _run(self) -> None:
        """The manager's own task: it has to be entered and left in one."""
        async with self._manager.run():
            self._ready.set()
            await self._ending.wait()


class HttpSessions:
    """One session manager a principal, started when they first come.

    Of too many, those that came longest ago and have nothing open make room.
    """

    def __init__(
        self, servers: GatewayServers, security: TransportSecuritySettings, body_bytes: int
    ) -> None:
        self._servers, self._security, self._body_bytes = servers, security, body_bytes
        self._transports: dict[Principal, PrincipalTransport] = {}
        self._ended: set[asyncio.Task[None]] = set()

    def of(self, principal: Principal) -> App:
        """The app that answers this principal."""
        transport = self._transports.pop(principal, None) or self._start(principal)
        self._transports[principal] = transport  # the one used last is at the end
        if len(self._transports) > MOST_PRINCIPALS:
            self._make_room()
        return transport.app

    @property
    def has_sessions(self) -> bool:
        """Whether somebody would have to begin again if this ended."""
        return not all(each.is_idle for each in self._transports.values())

    def principals(self) -> list[Json]:
        """Who has come so far, and for which profile."""
        return [{"principal": each.id, "profile": each.profile.name} for each in self._transports]

    async def close(self) -> None:
        """End every session."""
        await self.drop(frozenset(each.id for each in self._transports))

    async def drop(self, principals: frozenset[str]) -> None:
        """End the sessions of these principals."""
        gone = [each for each in self._transports if each.id in principals]
        ended = [self._transports.pop(each) for each in gone]
        for each in ended:
            each.end()
        await asyncio.gather(*(each.task for each in ended), return_exceptions=True)

    def _make_room(self) -> None:
        """End the first of the oldest that is idle."""
        for principal, transport in islice(self._transports.items(), LOOKED_AT):
            if transport.is_idle:
                del self._transports[principal]
                transport.end()
                self._ended.add(transport.task)
                transport.task.add_done_callback(self._ended.discard)
                return

    def _start(self, principal: Principal) -> PrincipalTransport:
        return PrincipalTransport(
            HttpSessionManager(
                self._servers.of(principal),
                security_settings=self._security,
                session_idle_timeout=IDLE_S,
                max_request_body_size=self._body_bytes,
                max_sessions=MOST_SESSIONS,
            )
        )
