"""What a reload replaces: the crib by one set of settings, and everything that shows it."""

import asyncio
import logging
from collections.abc import Callable

from toolcrib.crib import Crib
from toolcrib.gateway.credentials import Authenticator, Keys
from toolcrib.gateway.http.request_checks import LOOPBACK
from toolcrib.gateway.http.sessions import HttpSessions
from toolcrib.gateway.sdk import TransportSecuritySettings
from toolcrib.gateway.server import PrincipalServers

CLOSE_S = 12.0

_log = logging.getLogger(__name__)


class ServingState:
    """A crib, the windows of its principals, and who may stand at them."""

    def __init__(self, crib: Crib, windows: Callable[[Crib], PrincipalServers], port: int) -> None:
        self.crib = crib
        self.windows = windows(crib)
        settings = crib.settings.gateway
        self.credentials = Authenticator(settings, Keys(crib.settings.state_folder))
        # The edge has checked these before; the SDK checks nothing unless it is told to.
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[*(f"{name}:{port}" for name in LOOPBACK), *settings.hosts],
            allowed_origins=list(settings.origins),
        )
        self.sessions = HttpSessions(self.windows, security, settings.body_bytes)

    async def leave(self) -> None:
        """End every session and every window, and let the crib be."""
        await self.sessions.close()
        self.windows.close()

    async def close(self) -> None:
        """End every session, every window, and the servers that were started, within bounds."""
        await self.leave()
        try:
            async with asyncio.timeout(CLOSE_S):
                await asyncio.to_thread(self.crib.close)
        except TimeoutError:
            _log.warning("not everything has ended within %.0f s; it is left behind", CLOSE_S)
