"""The keys of clients: how one is made and shown, and whether a text is one.

    tc_9f2c01ab34de_k3vN...        an id, by which the key is found, and its secret

A key is shown once, when it is made or rotated. What is kept is a salted hash, so whoever reads the
store learns no key. A key has a name, profiles that it is good for, and scopes: what it may do.
It may expire. Keys of before there were ids (`tc_` and a secret) work as they did.
"""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from toolcrib.errors import ConfigError
from toolcrib.gateway.principal import DEFAULT_PROFILE
from toolcrib.settings import Settings
from toolcrib.store import FileStores, KeyHash, KeyStore, StoredKey, StorePlaces, new_key_id
from toolcrib.text import list_nearest
from toolcrib.wiring import stores_of

KEY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SHOWN = re.compile(r"tc_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
PREFIX: Final = "tc_"
NEVER: Final = float("inf")

KeyScope: TypeAlias = Literal["call", "search", "metrics"]
KEY_SCOPES: Final[tuple[KeyScope, ...]] = get_args(KeyScope)
"""What a key may do: `call` tools and find them, `search` for them alone, open `/metrics`."""


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """What a key is good for. None: it does not expire, or is limited as the settings have it."""

    profiles: tuple[str, ...] = (DEFAULT_PROFILE,)
    scopes: tuple[KeyScope, ...] = ("call",)
    expires_at: float | None = None
    rate: int | None = None
    at_once: int | None = None


class GoodKey(NamedTuple):
    """A key that was shown, and works until then. `hashed` tells its secrets apart."""

    key: StoredKey
    hashed: str
    until: float


def key_id(shown: str) -> str:
    """The id that a key shows; "" for one without an id, and for what is no key."""
    match = _SHOWN.fullmatch(shown)
    return match[1] if match else ""


class Keys:
    """The keys of a store. Everything here raises `ToolcribError` where that cannot be read."""

    def __init__(
        self,
        store: KeyStore,
        clock: Callable[[], float] = time.time,
        *,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        """`on_close` lets go of the store; without it, the store is closed itself."""
        self._store = store
        self._clock = clock
        self._on_close = store.close if on_close is None else on_close

    def all(self) -> Sequence[StoredKey]:
        """Every key there is, by name, expired or not."""
        return self._store.all()

    def version(self) -> int:
        """A number that rises with every change."""
        return self._store.version()

    def is_at_hand(self, shown: str) -> bool:
        """Whether `good` answers at once, and asks nobody over a network."""
        return self._store.is_at_hand(key_id(shown))

    def good(self, shown: str) -> GoodKey | None:
        """The key that this is; None if it is none, or has expired."""
        if id := key_id(shown):
            found = self._store.find(id)
            return self._fitting(found, shown) if found else None
        if not shown.startswith(PREFIX):
            return None
        fitting = (self._fitting(key, shown) for key in self._store.without_id())
        return next(filter(None, fitting), None)

    def good_until(self, id: str, hashed: str) -> float | None:
        """Until when this secret of a key works; None if it works no longer."""
        key = self._store.find(id)
        working = self._working(key) if key else ()
        return next((until for each, until in working if each.hashed == hashed), None)

    def add(self, name: str, terms: KeyTerms = KeyTerms()) -> str:  # noqa: B008 - it is frozen
        """Make a key, and say it: nobody can later. Raises `ConfigError`."""
        if not KEY_NAME.fullmatch(name):
            remedy = "take up to 64 letters, digits, dots, dashes and underscores"
            raise ConfigError(f"{name!r} is not a name for a key; {remedy}")
        id = new_key_id()
        shown, secret = _new_secret(id)
        # Who may only read the numbers has no part of the pool.
        profiles = terms.profiles if {"call", "search"} & set(terms.scopes) else ()
        key = StoredKey(
            id,
            name,
            profiles,
            terms.scopes,
            secret,
            self._clock(),
            expires_at=terms.expires_at,
            rate=terms.rate,
            at_once=terms.at_once,
        )
        if not self._store.add(key):
            remedy = f"`toolcrib keys rotate {name}`, `toolcrib keys remove {name}`"
            raise ConfigError(f"there is a key {name!r} already; {remedy}, or take another name")
        return shown

    def rotate(self, name: str, *, grace_s: float = 0.0, expires_at: float | None = None) -> str:
        """Give a key another secret, and say it. The one it had works for `grace_s` more.

        Without `expires_at` it expires as it did. Raises `ConfigError` with the nearest names.
        """
        key = next((each for each in self.all() if each.name == name), None)
        if key is None:
            raise self._unknown(name)
        shown, secret = _new_secret(key.id)
        until = self._clock() + grace_s if grace_s else 0.0
        if self._store.rotate(name, secret, until, expires_at or key.expires_at) is None:
            raise self._unknown(name)
        return shown

    def remove(self, name: str) -> None:
        """The key is good no longer. Raises `ConfigError` with the nearest names."""
        if not self._store.remove(name):
            raise self._unknown(name)

    def note_used(self, at: Mapping[str, float]) -> None:
        """When keys were last used, by id."""
        self._store.note_used(at)

    def close(self) -> None:
        """Let go of the store."""
        self._on_close()

    def _fitting(self, key: StoredKey, shown: str) -> GoodKey | None:
        for secret, until in self._working(key):
            if hmac.compare_digest(secret.hashed, _hashed(shown, secret.salt)):
                return GoodKey(key, secret.hashed, until)
        return None

    def _working(self, key: StoredKey) -> Sequence[tuple[KeyHash, float]]:
        """The secrets of a key that work now, and until when."""
        expires = NEVER if key.expires_at is None else key.expires_at
        both = ((key.secret, expires), (key.former, min(key.former_until, expires)))
        now = self._clock()
        return [(secret, until) for secret, until in both if secret and until > now]

    def _unknown(self, name: str) -> ConfigError:
        near = list_nearest(name, [key.name for key in self.all()])
        return ConfigError(f"there is no key {name!r}; nearest: {near}")


def keys_of(settings: Settings) -> Keys:
    """The keys that the settings lead to, to be closed. Raises `ConfigError` and `StoreError`."""
    stores = stores_of(settings)
    return Keys(stores.keys, on_close=stores.close)


def keys_in(state_folder: Path) -> Keys:
    """The keys of a state folder: `keys.db`, which takes over `keys.json` once.

    Raises `StoreError`.
    """
    return Keys(FileStores(StorePlaces(state_folder)).keys)


def _new_secret(id: str) -> tuple[str, KeyHash]:
    shown, salt = f"{PREFIX}{id}_{secrets.token_urlsafe(32)}", secrets.token_hex(16)
    return shown, KeyHash(salt, _hashed(shown, salt))


def _hashed(shown: str, salt: str) -> str:
    # A key has 256 bits of chance: nothing slower would make it harder to guess.
    return hashlib.sha256(f"{salt}:{shown}".encode(errors="surrogateescape")).hexdigest()
