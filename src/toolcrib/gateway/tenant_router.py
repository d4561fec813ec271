"""From a credential to its tenant, where a gateway serves several.

A key is found by its id among those of all tenants, a person by a claim that their provider has
signed. Nothing else that a client sends says which tenant it is. Whether the credential is good is
judged by the tenant's own keys and settings.
"""

import asyncio
from collections import OrderedDict

from toolcrib.gateway.credentials import NO_TENANT, UNKNOWN_KEY, AccessDenied
from toolcrib.gateway.keys import key_id
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.tenants import NotServed, Tenants

MOST_KEYS = 100_000


class TenantRouter:
    """Makes a principal of a credential of whatever tenant. Keeps `RequestAuthenticator`."""

    def __init__(self, tenants: Tenants) -> None:
        self._tenants = tenants
        self._of_key: OrderedDict[str, str] = OrderedDict()

    async def bearer(self, shown: str, profile: str) -> Principal:
        """As the protocol says."""
        if self._tenants.home.authenticator.is_token(shown):
            return await self._by_token(shown, profile)
        id = key_id(shown)
        known = self._of_key.get(id)
        if known and self._tenants.is_open(known):
            try:
                return await self._by_key(known, shown, profile)
            except AccessDenied as error:
                if type(error) is not AccessDenied:  # the key is good, and not for this
                    raise
                del self._of_key[id]  # it may be another tenant's by now
        return await self._by_key(await self._tenant_of(id, shown), shown, profile)

    def scraper(self, shown: str) -> str:
        """As the protocol says: the page is that of the gateway's own tenant, as its keys are."""
        return self._tenants.home.authenticator.scraper(shown)

    async def _tenant_of(self, id: str, shown: str) -> str:
        """The tenant of a good key; for any other nothing is opened. Raises `AccessDenied`."""
        tenant = await asyncio.to_thread(self._tenants.home.authenticator.key_tenant, shown)
        if id:
            self._of_key[id] = tenant
            while len(self._of_key) > MOST_KEYS:
                self._of_key.popitem(last=False)
        return tenant

    async def _by_key(self, tenant: str, shown: str, profile: str) -> Principal:
        try:
            async with self._tenants.held(tenant) as state:
                return await state.authenticator.bearer(shown, profile)
        except NotServed:
            raise AccessDenied(UNKNOWN_KEY) from None

    async def _by_token(self, shown: str, profile: str) -> Principal:
        home = self._tenants.home
        person = await home.authenticator.person(shown, profile)
        settings = home.crib.settings
        tenant = person.tenant if settings.gateway.oauth.tenant_claim else settings.tenant
        if not tenant:
            raise AccessDenied(NO_TENANT)
        try:
            async with self._tenants.held(tenant) as state:
                return state.authenticator.admitted(person, profile)
        except NotServed:
            raise AccessDenied(NO_TENANT) from None
