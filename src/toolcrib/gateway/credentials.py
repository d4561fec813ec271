"""From a credential to a principal: the keys of clients, and the check of one.

A key is a client's credential, good for the profiles that it was made for. It is shown once, when
it is made. The file holds salted hashes, so whoever reads it learns no key. It is read again
whenever it has changed: a key that was removed stops working without a word to the daemon.

A credential that is missing, wrong or not good for a profile makes no principal. Nobody is served
by default.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

from toolcrib.errors import ConfigError
from toolcrib.gateway.principal import DEFAULT_PROFILE, LOCAL_USER, Principal, profile_named
from toolcrib.settings import GatewaySettings
from toolcrib.system import file_locked, read_private_file, write_private_file
from toolcrib.text import list_nearest

MOST_BYTES = 1024 * 1024
MOST_KEYS = 500
SETTLED_S = 2.0
"""A file that was written less than this ago may be written again within one tick of its clock."""
_METRICS_KEY = "`toolcrib keys add NAME --metrics`"
KEY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Key:
    """What is kept of a key. `profiles` are those that it is good for.

    A key to `/metrics` opens that page and nothing else: it has no profile, and all others have.
    """

    name: str
    profiles: tuple[str, ...]
    salt: str
    hashed: str
    made_at: float
    metrics: bool = False

    def fits(self, secret: str) -> bool:
        """Whether this is the key, in constant time."""
        return hmac.compare_digest(self.hashed, _hashed(secret, self.salt))


class Keys:
    """The keys in a file of the state folder."""

    def __init__(self, state_folder: Path) -> None:
        self.file = state_folder / "keys.json"
        self._read_as: _FileStamp | None = None
        self._keys: tuple[Key, ...] = ()

    def all(self) -> Sequence[Key]:
        """Every key there is, as the file is now. Raises `ConfigError` if it cannot be read."""
        stamp = self._stamp()
        if stamp is None or stamp != self._read_as:
            self._keys = _read_keys(self.file) if stamp else ()
            self._read_as = stamp if stamp and _is_settled(stamp.written_ns) else None
        return self._keys

    def good(self, secret: str) -> Key | None:
        """The key that this is; None if it is none. Raises `ConfigError`."""
        fitting = [key for key in self.all() if key.fits(secret)]
        return fitting[0] if fitting else None

    def add(
        self, name: str, profiles: Iterable[str] = (DEFAULT_PROFILE,), *, metrics: bool = False
    ) -> str:
        """Make a key for these profiles, or to `/metrics` alone, and say it: nobody can later.

        Raises `ConfigError`.
        """
        if not KEY_NAME.fullmatch(name):
            remedy = "take up to 64 letters, digits, dots, dashes and underscores"
            raise ConfigError(f"{name!r} is not a name for a key; {remedy}")
        secret, salt = f"tc_{secrets.token_urlsafe(32)}", secrets.token_hex(16)
        good_for = () if metrics else tuple(profiles)
        key = Key(name, good_for, salt, _hashed(secret, salt), time.time(), metrics)
        with self._changing() as keys:
            if any(each.name == name for each in keys):
                remedy = f"`toolcrib keys remove {name}`, or take another name"
                raise ConfigError(f"there is a key {name!r} already; {remedy}")
            if len(keys) >= MOST_KEYS:
                raise ConfigError(f"there are {MOST_KEYS} keys already; remove one")
            keys.append(key)
        return secret

    def remove(self, name: str) -> None:
        """The key is good no longer. Raises `ConfigError` with the nearest names."""
        with self._changing() as keys:
            left = [key for key in keys if key.name != name]
            if len(left) == len(keys):
                near = list_nearest(name, [key.name for key in keys])
                raise ConfigError(f"there is no key {name!r}; nearest: {near}")
            keys[:] = left

    @contextmanager
    def _changing(self) -> Generator[list[Key]]:
        """The keys, under a lock. What the block leaves in the list is written to the file."""
        try:
            with file_locked(self.file):
                keys = list(_read_keys(self.file) if self._stamp() else ())
                yield keys
                content = json.dumps([asdict(key) for key in keys], indent=1).encode()
                write_private_file(self.file, content)
        except OSError as error:
            problem = f"{self.file} cannot be written ({error.strerror})"
            raise ConfigError(f"{problem}; check space and permissions") from error

    def _stamp(self) -> "_FileStamp | None":
        try:
            facts = os.lstat(self.file)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(self.file) from error
        return _FileStamp(facts.st_ino, facts.st_size, facts.st_mtime_ns)


class _FileStamp(NamedTuple):
    """What tells one state of the file from another, once it is settled."""

    inode: int
    size: int
    written_ns: int


def _is_settled(written_ns: int) -> bool:
    return time.time_ns() - written_ns > SETTLED_S * 1e9


def _hashed(secret: str, salt: str) -> str:
    # A key has 256 bits of chance: nothing slower would make it harder to guess.
    return hashlib.sha256(f"{salt}:{secret}".encode(errors="surrogateescape")).hexdigest()


def _read_keys(path: Path) -> tuple[Key, ...]:
    try:
        return tuple(
            map(_key_of, cast("list[object]", json.loads(read_private_file(path, MOST_BYTES))))
        )
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> ConfigError:
    return ConfigError(f"{path} cannot be read, so no key works; repair it, or remove it")


def _key_of(item: object) -> Key:
    """Raises `KeyError`, `TypeError` and `ValueError` where that is no key."""
    if not isinstance(item, dict):
        raise TypeError("not a key")
    fields = cast("dict[str, Any]", item)
    profiles = tuple(map(str, fields["profiles"]))
    metrics = fields.get("metrics", False)
    if metrics is not True and not profiles:
        raise ValueError("a key is good for some profile")
    name, salt, hashed = (str(fields[field]) for field in ("name", "salt", "hashed"))
    profiles = () if metrics is True else profiles
    return Key(name, profiles, salt, hashed, float(fields["made_at"]), metrics is True)


class AccessDenied(Exception):
    """Nobody is served for this credential. The message names cause and remedy."""


class ProfileForbidden(AccessDenied):
    """The key is good, and not for this profile."""


class UnknownProfile(AccessDenied):
    """There is no profile of this name."""


class Authenticator:
    """Makes a principal of a key, or of the daemon's own user.

    That user needs no key on the socket of shims, where the system says who comes. There is no
    other credential: no token lies about in a file.
    """

    def __init__(self, settings: GatewaySettings, keys: Keys) -> None:
        self._settings = settings
        self._keys = keys
        self._hash_of: dict[str, str] = {}  # of the key that a principal came with

    def local(self, profile: str = DEFAULT_PROFILE) -> Principal:
        """The local user, with any profile. Raises `UnknownProfile`."""
        return self._principal(LOCAL_USER, profile)

    def keyed(self, secret: str, profile: str = DEFAULT_PROFILE) -> Principal:
        """Whoever holds a key that is good for this profile. Raises `AccessDenied`."""
        key = self._good(secret)
        if profile not in key.profiles:
            good_for = ", ".join(key.profiles) or "/metrics"
            problem = f"the key {key.name!r} is not good for the profile {profile!r}"
            raise ProfileForbidden(f"{problem}; it is good for: {good_for}")
        principal = self._principal(f"key:{key.name}", profile)
        self._hash_of[principal.id] = key.hashed
        return principal

    def scraper(self, secret: str) -> str:
        """The name of a key to `/metrics`. Raises `AccessDenied`."""
        key = self._good(secret)
        if not key.metrics:
            problem = f"the key {key.name!r} does not open /metrics"
            raise ProfileForbidden(f"{problem}; make one that does: {_METRICS_KEY}")
        return key.name

    def take_revoked(self) -> frozenset[str]:
        """The ids of principals whose key works no longer. Each is returned once."""
        revoked = frozenset(id for id in self._hash_of if not self.is_good(id))
        for id in revoked:
            del self._hash_of[id]
        return revoked

    def is_good(self, principal: str) -> bool:
        """Whether the key that a principal came with still works."""
        try:
            good = {key.hashed for key in self._keys.all()}
        except ConfigError:
            return principal == LOCAL_USER
        return principal == LOCAL_USER or self._hash_of.get(principal) in good

    def _good(self, secret: str) -> Key:
        try:
            key = self._keys.good(secret)
        except ConfigError as error:
            raise AccessDenied(str(error)) from error
        if key is None:
            raise AccessDenied("this key is not known here; make one: `toolcrib keys add NAME`")
        return key

    def _principal(self, id: str, profile: str) -> Principal:
        try:
            return Principal(id, profile_named(self._settings, profile))
        except ConfigError as error:
            raise UnknownProfile(str(error)) from error
