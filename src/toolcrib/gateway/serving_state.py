"""What a reload replaces: the crib of one set of settings, and everything that serves it."""

import asyncio
import logging
from collections.abc import Callable

from toolcrib.crib import Crib
from toolcrib.gateway.credentials import Authenticator, Keys
from toolcrib.gateway.http.sessions import HttpSessions
from toolcrib.gateway.sdk import TransportSecuritySettings
from toolcrib.gateway.server import GatewayServers
from toolcrib.http import LOOPBACK

CLOSE_S = 12.0

_log = logging.getLogger(__name__)


class ServingState:
    """A crib, a server for each principal, their HTTP sessions, and the check of credentials."""

    def __init__(self, crib: Crib, servers: Callable[[Crib], GatewayServers], port: int) -> None:
        self.crib = crib
        self.servers = servers(crib)
        settings = crib.settings.gateway
        self.authenticator = Authenticator(settings, Keys(crib.settings.state_folder))
        # The guard has checked these before; the SDK checks nothing unless it is told to.
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[*(f"{name}:{port}" for name in LOOPBACK), *settings.hosts],
            allowed_origins=list(settings.origins),
        )
        self.sessions = HttpSessions(self.servers, security, settings.body_bytes)

    async def leave(self) -> None:
        """End every session and every server of a principal; the crib goes on."""
        await self.sessions.close()
        self.servers.close()

    async def close(self) -> None:
        """The same, and close the crib with the MCP servers that it started, within `CLOSE_S`."""
        await self.leave()
        try:
            async with asyncio.timeout(CLOSE_S):
                await asyncio.to_thread(self.crib.close)
        except TimeoutError:
            _log.warning("not everything has ended within %.0f s; it is left behind", CLOSE_S)
