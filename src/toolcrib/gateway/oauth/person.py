"""Who comes with a token, and why nobody does. Nothing here knows how a token is checked."""

from dataclasses import dataclass
from typing import Final, Protocol

from toolcrib.settings import OAuthSettings

EVERYBODY: Final = "*"
"""In place of a group: everybody whose token is good."""


class BadToken(Exception):
    """Nobody comes of this token. The message says why, with nothing of the token in it."""


class IssuerUnreachable(Exception):
    """The keys of the issuer cannot be had now, so nothing can be checked."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whose token was verified. `id` tells them from all others, of other issuers too.

    `groups` are theirs, and `EVERYBODY`; `scopes` those of the token, `until` when it expires.
    `tenant` is what the token says of it; None if it says nothing that is a name.
    """

    id: str
    groups: frozenset[str]
    scopes: frozenset[str]
    until: float
    tenant: str | None = None

    def profiles(self, settings: OAuthSettings) -> frozenset[str]:
        """The profiles that these settings give their groups."""
        return frozenset(name for group in self.groups for name in settings.groups.get(group, ()))


class TokenCheck(Protocol):
    """Checks tokens."""

    async def verify(self, token: str, profile: str) -> Person:
        """Whose token it is, for whoever wants this profile.

        Raises `BadToken`, and `IssuerUnreachable` where that cannot be told now.
        """
        ...

    def close(self) -> None:
        """Fetch nothing any more."""
        ...
