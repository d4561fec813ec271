"""Who comes with a token, and why nobody does. Nothing here knows how a token is checked."""

from dataclasses import dataclass
from typing import Protocol


class BadToken(Exception):
    """Nobody comes of this token. The message says why, with nothing of the token in it."""


class IssuerUnreachable(Exception):
    """The keys of the issuer cannot be had now, so nothing can be checked."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whose token was verified. `id` tells them from all others, of other issuers too.

    `profiles` are those of their groups, `scopes` those of the token, `until` when it expires.
    """

    id: str
    profiles: frozenset[str]
    scopes: frozenset[str]
    until: float


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
