"""From a credential to a principal: who is served, for which profile, and until when.

A credential that is missing, wrong, expired or not good for a profile makes no principal. Nobody is
served by default. A key that was removed, rotated or has expired stops working without a word to
the daemon: requests are refused at once, and `take_revoked` tells whose connections have to end.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

from toolcrib.errors import ConfigError, StoreAway, ToolcribError
from toolcrib.gateway.keys import NEVER, PREFIX, GoodKey, Keys
from toolcrib.gateway.oauth.person import BadToken, IssuerUnreachable, Person, TokenCheck
from toolcrib.gateway.principal import DEFAULT_PROFILE, LOCAL_USER, Principal, profile_named
from toolcrib.gateway.quotas import Quota
from toolcrib.settings import DEFAULT_TENANT, GatewaySettings

KEEP_USE_S = 30.0
MOST_HOLDERS = 1_024
NO_TENANT = "the token names no tenant that is served here; ask the operator"
UNKNOWN_KEY = "this key is not known here, or has expired; make one: `toolcrib keys add NAME`"
_METRICS_KEY = "`toolcrib keys add NAME --scope metrics`"

_log = logging.getLogger(__name__)


class AccessDenied(Exception):
    """Nobody is served for this credential. The message names cause and remedy."""


class ProfileForbidden(AccessDenied):
    """The key is good, and not for this profile."""


class UnknownProfile(AccessDenied):
    """There is no profile of this name."""


class ScopeMissing(AccessDenied):
    """The token is good, and lacks a scope that the settings want."""


class CannotTell(AccessDenied):
    """Whether the credential is good cannot be told now. `code` is for who does not answer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class RequestAuthenticator(Protocol):
    """What an HTTP request is checked by. Both raise `AccessDenied`."""

    async def bearer(self, shown: str, profile: str) -> Principal:
        """Whoever sends this: a key or a token."""
        ...

    def scraper(self, shown: str) -> str:
        """The name of a key to `/metrics`."""
        ...


class _ShownKey(NamedTuple):
    """A key that somebody came with: its id, and the secret that it had."""

    id: str
    hashed: str


class _KeyTerms(NamedTuple):
    """All of a good key that its holder depends on, and the profile that they came for."""

    name: str
    id: str
    tenant: str
    profile: str
    may_call: bool
    rate: int | None
    at_once: int | None


class Authenticator:
    """Makes a principal of a key, of a token of the provider, or of the daemon's own user.

    That user needs no key on the socket of shims, where the system says who comes. There is no
    other credential: no token lies about in a file. `tokens` is None where only keys count.
    `tenant` is whose keys count in a store that several tenants share; None: it has but one. While
    it `is_disabled`, nothing counts.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        keys: Keys,
        tokens: TokenCheck | None = None,
        tenant: str | None = None,
        is_disabled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._tenant = tenant
        self._is_disabled = is_disabled
        self._settings = settings
        self._keys = keys
        self._tokens = tokens
        self._people: dict[str, float] = {}  # until when the last token of each is good
        self._shown: dict[str, set[_ShownKey]] = {}  # by the principal that came with them
        self._principals: dict[_KeyTerms, Principal] = {}
        self._looked_at: tuple[int | None, bool] = None, False
        self._first_end = NEVER
        self._used: dict[str, float] = {}
        self._kept = time.monotonic()

    def local(self, profile: str = DEFAULT_PROFILE) -> Principal:
        """The local user, with any profile. Raises `UnknownProfile`."""
        return self._principal(Principal(LOCAL_USER, quotas=(Quota(LOCAL_USER),)), profile)

    async def bearer(self, shown: str, profile: str = DEFAULT_PROFILE) -> Principal:
        """Whoever sends this over HTTP: a key or a token. Raises `AccessDenied`."""
        if not self.is_token(shown):
            if self._keys.is_at_hand(shown):
                return self.keyed(shown, profile)
            return await asyncio.to_thread(self.keyed, shown, profile)  # a database is asked
        return self.admitted(await self.person(shown, profile), profile)

    def is_token(self, shown: str) -> bool:
        """Whether this has to be a token of the provider, if it is anything."""
        return self._tokens is not None and not shown.startswith(PREFIX)

    async def person(self, shown: str, profile: str) -> Person:
        """Whose token this is, of whatever tenant. Raises `AccessDenied`."""
        if self._tokens is None:
            raise AccessDenied(UNKNOWN_KEY)
        try:
            return await self._tokens.verify(shown, profile)
        except BadToken as error:
            raise AccessDenied(f"{error}; log in again, or send a key") from error
        except IssuerUnreachable as error:
            problem = "the provider of tokens does not answer, so none can be checked"
            raise CannotTell("issuer_unreachable", f"{problem}; try again later") from error

    def key_tenant(self, shown: str) -> str:
        """The tenant of a good key, of whatever tenant. Asks the store. Raises `AccessDenied`."""
        return self._found(shown).key.tenant

    def keyed(self, shown: str, profile: str = DEFAULT_PROFILE) -> Principal:
        """Whoever holds a key that is good for this profile. Raises `AccessDenied`."""
        good = self._good(shown)
        key = good.key
        terms = _KeyTerms(
            key.name, key.id, key.tenant, profile, "call" in key.scopes, key.rate, key.at_once
        )
        if profile not in key.profiles:
            good_for = ", ".join(key.profiles) or "/metrics"
            problem = f"the key {key.name!r} is not good for the profile {profile!r}"
            raise ProfileForbidden(f"{problem}; it is good for: {good_for}")
        principal = self._principals.get(terms) or self._holder(terms)
        self._note_shown(principal.id, good)
        return principal

    def _holder(self, terms: _KeyTerms) -> Principal:
        """Whoever holds a key on these terms: the same each time, so that they are made once.

        A key that is made again under the name of a former one has another holder.
        """
        id = _owned(f"key:{terms.name}#{terms.id}", terms.tenant)
        quotas = self._quotas(id, terms.tenant, terms.rate, terms.at_once)
        who = Principal(id, may_call=terms.may_call, tenant=terms.tenant, quotas=quotas)
        if len(self._principals) >= MOST_HOLDERS:
            self._principals.clear()
        principal = self._principals[terms] = self._principal(who, terms.profile)
        return principal

    def scraper(self, shown: str) -> str:
        """The name of a key to `/metrics`. Raises `AccessDenied`."""
        key = self._good(shown).key
        if "metrics" not in key.scopes:
            problem = f"the key {key.name!r} does not open /metrics"
            raise ProfileForbidden(f"{problem}; make one that does: {_METRICS_KEY}")
        return key.name

    def take_revoked(self) -> frozenset[str]:
        """The ids of principals whose key or last token works no longer. Each is returned once.

        A principal who came with a key before and after its rotation is among them too: which
        connection was opened with which is not asked, and whoever has the new one comes again.
        """
        version = self._version()
        now = version, self._is_disabled()
        if version is not None and now == self._looked_at and time.time() < self._first_end:
            return frozenset()
        until = {id: self._good_until(id) for id in (*self._shown, *self._people)}
        revoked = frozenset(id for id, end in until.items() if end is None)
        for id in revoked:
            self._shown.pop(id, None)
            self._people.pop(id, None)
        self._looked_at = now
        self._first_end = min((end for end in until.values() if end is not None), default=NEVER)
        return revoked

    def is_good(self, principal: str) -> bool:
        """Whether every key that a principal came with still works, or their last token."""
        return principal == LOCAL_USER or self._good_until(principal) is not None

    @property
    def has_use_to_keep(self) -> bool:
        """Whether keys were used, and that was not kept just before."""
        return bool(self._used) and time.monotonic() >= self._kept + KEEP_USE_S

    def keep_use(self) -> None:
        """Keep when keys were last used. Writes to the disk."""
        used, self._used = self._used, {}
        self._kept = time.monotonic()
        try:
            self._keys.note_used(used)
        except ToolcribError as error:  # who reads the list of keys sees an older time
            _log.warning("the last use of keys was not kept: %s", error)

    def close(self) -> None:
        """Keep when keys were last used, and let go of them."""
        if self._used:
            self.keep_use()
        self._keys.close()
        if self._tokens:
            self._tokens.close()

    def _good_until(self, principal: str) -> float | None:
        """When the first key that they came with ends; None if one has, or none was shown.

        Of tokens it is the last: one follows another, and each request shows its own.
        """
        if self._is_disabled():
            return None
        if (until := self._people.get(principal)) is not None:
            return until if until > time.time() else None
        try:
            ends = [self._keys.good_until(*each) for each in self._shown.get(principal, ())]
        except ToolcribError:
            return None
        known = [end for end in ends if end is not None]
        return min(known) if known and len(known) == len(ends) else None

    def _good(self, shown: str) -> GoodKey:
        good = self._found(shown)
        if self._is_disabled() or self._tenant not in (None, good.key.tenant):
            raise AccessDenied(UNKNOWN_KEY)  # another's is unknown here
        self._used[good.key.id] = time.time()
        return good

    def _found(self, shown: str) -> GoodKey:
        try:
            good = self._keys.good(shown)
        except StoreAway as error:
            problem = "the shared store does not answer, so this key cannot be checked"
            raise CannotTell("store_away", f"{problem}; try again later") from error
        except ToolcribError as error:
            problem = "the keys cannot be read, so no key works"
            raise AccessDenied(f"{problem}; `toolcrib keys list` tells why") from error
        if good is None:
            raise AccessDenied(UNKNOWN_KEY)
        return good

    def _note_shown(self, principal: str, good: GoodKey) -> None:
        self._shown.setdefault(principal, set()).add(_ShownKey(good.key.id, good.hashed))
        self._first_end = min(self._first_end, good.until)

    def admitted(self, person: Person, profile: str) -> Principal:
        """The principal of a verified person. Raises `AccessDenied`."""
        oauth, tenant = self._settings.oauth, self._tenant or DEFAULT_TENANT
        if self._is_disabled() or (oauth.tenant_claim and person.tenant != tenant):
            raise AccessDenied(NO_TENANT)
        missing = set(oauth.scopes) - person.scopes
        if missing:
            raise ScopeMissing(f"the token lacks the scope {', '.join(sorted(missing))}")
        if profile not in person.profiles(oauth):
            problem = f"none of your groups has the profile {profile!r}"
            raise ProfileForbidden(f"{problem}; ask the operator for it")
        id = _owned(person.id, tenant)
        who = Principal(id, tenant=tenant, quotas=self._quotas(id, tenant))
        principal = self._principal(who, profile)
        self._people[id] = max(person.until, self._people.get(id, 0.0))
        self._first_end = min(self._first_end, person.until)
        return principal

    def _quotas(
        self, id: str, tenant: str, rate: int | None = None, at_once: int | None = None
    ) -> tuple[Quota, ...]:
        """How much somebody may use, by themselves and with all others of their tenant."""
        settings = self._settings
        own = Quota(
            id,
            settings.rate if rate is None else rate,
            settings.at_once if at_once is None else at_once,
        )
        return own, Quota(f"tenant:{tenant}", settings.tenant_rate, settings.tenant_at_once)

    def _version(self) -> int | None:
        try:
            return self._keys.version()
        except ToolcribError:
            return None

    def _principal(self, who: Principal, profile: str) -> Principal:
        try:
            return replace(who, profile=profile_named(self._settings, profile))
        except ConfigError as error:
            raise UnknownProfile(str(error)) from error


def _owned(id: str, tenant: str) -> str:
    """The id of whoever is of this tenant: nobody of another has the same."""
    kind, _, name = id.partition(":")
    return id if tenant == DEFAULT_TENANT else f"{kind}:{tenant}/{name}"
