"""From a credential to a guest: who is served, and which part of the pool they may have.

There is no guest for a credential that is missing, wrong or not good for a profile, so there is
nobody to fall back to.
"""

from toolcrib.errors import ConfigError
from toolcrib.gateway.guest import EVERYTHING, LOCAL, Guest, profile_of
from toolcrib.gateway.keys import Key, Keys
from toolcrib.settings import GatewaySettings


class NoGuest(Exception):
    """Nobody is served for this credential. The message names cause and remedy."""


class NotYourProfile(NoGuest):
    """The key is good, and not for this profile."""


class NoProfile(NoGuest):
    """There is no profile of this name."""


class Credentials:
    """The keys that clients have. Nothing else is a credential: no token lies about in a file.

    The daemon's own user needs none on its socket, where the system says who comes.
    """

    def __init__(self, settings: GatewaySettings, keys: Keys) -> None:
        self._settings = settings
        self._keys = keys
        self._shown: dict[str, str] = {}

    def local(self, profile: str = EVERYTHING) -> Guest:
        """The local user, with any profile. Raises `NoProfile`."""
        return self._guest(LOCAL, profile)

    def keyed(self, secret: str, profile: str = EVERYTHING) -> Guest:
        """Whoever holds a key that is good for this profile. Raises `NoGuest`."""
        key = self._good(secret)
        if profile not in key.profiles:
            good_for = ", ".join(key.profiles)
            told = f"the key {key.name!r} is not good for the profile {profile!r}"
            raise NotYourProfile(f"{told}; it is good for: {good_for}")
        guest = self._guest(f"key:{key.name}", profile)
        self._shown[guest.id] = key.hashed
        return guest

    def taken_back(self) -> frozenset[str]:
        """Guests who came with a key that is good no longer, each told once."""
        gone = frozenset(guest for guest in self._shown if not self.is_good(guest))
        for guest in gone:
            del self._shown[guest]
        return gone

    def is_good(self, guest: str) -> bool:
        """Whether what a guest came with is still good."""
        try:
            good = {key.hashed for key in self._keys.all()}
        except ConfigError:
            return guest == LOCAL
        return guest == LOCAL or self._shown.get(guest) in good

    def _good(self, secret: str) -> Key:
        try:
            key = self._keys.good(secret)
        except ConfigError as error:
            raise NoGuest(str(error)) from error
        if key is None:
            raise NoGuest("this key is not known here; make one: `toolcrib keys add NAME`")
        return key

    def _guest(self, id: str, profile: str) -> Guest:
        try:
            return Guest(id, profile_of(self._settings, profile))
        except ConfigError as error:
            raise NoProfile(str(error)) from error
