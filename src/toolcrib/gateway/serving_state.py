"""What a reload replaces: the crib of one set of settings, and everything that serves it."""

import asyncio
import logging
from collections.abc import Callable

from toolcrib.crib import Crib, stores_in
from toolcrib.errors import StoreAway
from toolcrib.gateway.credentials import Authenticator
from toolcrib.gateway.http.sessions import HttpSessions
from toolcrib.gateway.keys import Keys
from toolcrib.gateway.oauth.person import TokenCheck
from toolcrib.gateway.oauth.resource_metadata import resource_of
from toolcrib.gateway.sdk import TransportSecuritySettings
from toolcrib.gateway.server import GatewayServers
from toolcrib.http import LOOPBACK
from toolcrib.settings import GatewaySettings
from toolcrib.store import ReplicaStores

CLOSE_S = 12.0

_log = logging.getLogger(__name__)


class ServingState:
    """A crib, a server for each principal, their HTTP sessions, and the check of credentials.

    `takes_tokens` is False for a tenant among several: who comes with a token was found out before.
    """

    def __init__(
        self,
        crib: Crib,
        servers: Callable[[Crib], GatewayServers],
        port: int,
        *,
        takes_tokens: bool = True,
    ) -> None:
        self.crib = crib
        self.servers = servers(crib)
        settings = crib.settings.gateway
        stores = stores_in(crib)
        keys = Keys(stores.keys, on_close=_leave_open)
        tokens = _token_check(settings, port) if takes_tokens else None
        if isinstance(stores, ReplicaStores):
            whose = stores.tenant, lambda: stores.is_disabled
        else:
            whose = None, lambda: False
        self.authenticator = Authenticator(settings, keys, tokens, *whose)
        # The guard has checked these before; the SDK checks nothing unless it is told to.
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[*(f"{name}:{port}" for name in LOOPBACK), *settings.hosts],
            allowed_origins=list(settings.origins),
        )
        self.sessions = HttpSessions(self.servers, security, settings.body_bytes)

    @property
    def may_call(self) -> bool:
        """Whether any tool may be called: not where what was decided lately may be unknown here."""
        stores = stores_in(self.crib)
        try:
            if isinstance(stores, ReplicaStores):
                stores.decisions.check_current()
        except StoreAway:
            return False
        return True

    async def drop_revoked(self) -> frozenset[str]:
        """End what serves principals whose credential works no longer. Who that is."""
        if self.authenticator.has_use_to_keep:
            await asyncio.to_thread(self.authenticator.keep_use)
        revoked = self.authenticator.take_revoked()
        if revoked:
            self.servers.drop(revoked)
            await self.sessions.drop(revoked)
        return revoked

    async def send_rest(self) -> None:
        """Send the store what clients were shown while it was away."""
        for sets in [each.sets for each in self.servers.all() if each.sets.has_unsent]:
            await asyncio.to_thread(sets.send_rest)

    async def leave(self) -> None:
        """End every session and every server of a principal; the crib goes on."""
        await self.sessions.close()
        self.servers.close()
        await asyncio.to_thread(self.authenticator.close)

    async def close(self) -> None:
        """The same, and close the crib with the MCP servers that it started, within `CLOSE_S`."""
        await self.leave()
        try:
            async with asyncio.timeout(CLOSE_S):
                await asyncio.to_thread(self.crib.close)
        except TimeoutError:
            _log.warning("not everything has ended within %.0f s; it is left behind", CLOSE_S)


def _leave_open() -> None:
    """The keys are closed with the crib, which others may go on to serve."""


def _token_check(settings: GatewaySettings, port: int) -> TokenCheck | None:
    """What checks the tokens of the provider; None where there is none."""
    if not settings.oauth.issuer:
        return None
    from toolcrib.gateway.oauth.tokens import TokenVerifier  # noqa: PLC0415 - with cryptography

    return TokenVerifier(settings.oauth, resource_of(settings.oauth, port))
