"""From a token to a person: what the issuer has signed, and nothing that the client says.

A token is checked before anything in it counts: its size, its signature by one of the issuer's own
keys, who issued it, whom it is for, and when. What is wrong with it is said in one sentence that
has nothing of the token in it.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import jwt
from jwt.exceptions import (
    DecodeError,
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAudienceError,
    InvalidIssuedAtError,
    InvalidIssuerError,
    MissingRequiredClaimError,
    PyJWTError,
)

from toolcrib.gateway.oauth.issuer_keys import ALGORITHMS, IssuerKeys, UnknownSigningKey
from toolcrib.gateway.oauth.person import EVERYBODY, BadToken, Person
from toolcrib.gateway.oauth.resource_metadata import profile_resource
from toolcrib.settings import OAuthSettings

LONGEST_TOKEN = 16 * 1024
LEEWAY_S = 30.0
MOST_GROUPS = 1_000
_KINDS = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._|:+-]{0,63}")
_REQUIRED = ("exp", "iss", "aud", "sub")
_PROBLEMS: Mapping[type[PyJWTError], str] = {
    ExpiredSignatureError: "the token has expired",
    ImmatureSignatureError: "the token is not valid yet",
    InvalidIssuedAtError: "the token is not valid yet",
    InvalidAudienceError: "the token is for another audience",
    InvalidIssuerError: "the token is of another issuer",
    MissingRequiredClaimError: f"the token lacks a claim; it needs {', '.join(_REQUIRED)}",
    DecodeError: "the token is not a JWT of this issuer",
}


class TokenVerifier:
    """Checks the tokens of one issuer."""

    def __init__(
        self, settings: OAuthSettings, resource: str, keys: IssuerKeys | None = None
    ) -> None:
        """`resource` is the address of the gateway, as clients know it."""
        self._settings = settings
        self._resource = resource
        self._keys = keys or IssuerKeys(settings.issuer)

    async def verify(self, token: str, profile: str) -> Person:
        """As `TokenCheck`."""
        algorithm, id = _header(token)
        try:
            key = await self._keys.key(id, algorithm)
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audiences(profile),
                issuer=self._settings.issuer,
                leeway=LEEWAY_S,
                options={"require": [*_REQUIRED]},
            )
        except UnknownSigningKey as error:
            raise BadToken("the token is signed by no key of this issuer") from error
        except PyJWTError as error:
            known = (_PROBLEMS[kind] for kind in _PROBLEMS if isinstance(error, kind))
            raise BadToken(next(known, "the token is not valid")) from None
        if "cnf" in claims:
            raise BadToken("the token is bound to a key of its client (`cnf`), which nobody proves")
        return _person(self._settings, claims)

    def close(self) -> None:
        """As `TokenCheck`."""
        self._keys.close()

    def _audiences(self, profile: str) -> list[str]:
        """Whom a token for this profile may be for: the gateway, or this profile of it."""
        if self._settings.audience:
            return [self._settings.audience]
        return [self._resource, profile_resource(self._resource, profile)]


def _header(token: str) -> tuple[str, str]:
    """How it says it is signed, and by which key. Raises `BadToken` for what is never taken."""
    if len(token) > LONGEST_TOKEN:
        raise BadToken(f"the token is longer than {LONGEST_TOKEN:,} characters")
    try:
        header = jwt.get_unverified_header(token)
    except (PyJWTError, RecursionError):
        raise BadToken("this is neither a key of Toolcrib nor a JWT") from None
    algorithm, id, kind = header.get("alg"), header.get("kid"), header.get("typ", "")
    if algorithm not in ALGORITHMS:
        raise BadToken("the token is not signed by a public key; tokens without one are refused")
    if not isinstance(id, str) or not id:
        raise BadToken("the token does not say by which key it is signed (`kid`)")
    if not isinstance(kind, str) or kind.lower() not in _KINDS:
        raise BadToken("the token is not an access token")
    return cast("str", algorithm), id


def _person(settings: OAuthSettings, claims: Mapping[str, Any]) -> Person:
    groups = frozenset({EVERYBODY, *_texts(claims.get(settings.groups_claim))})
    tenant = claims.get(settings.tenant_claim) if settings.tenant_claim else None
    scopes = [*_texts(claims.get("scope")), *_texts(claims.get("scp"))]
    return Person(
        _id(settings.issuer, cast("str", claims["sub"])),
        groups,
        frozenset(" ".join(scopes).split()),
        float(claims["exp"]),
        tenant if isinstance(tenant, str) else None,
    )


def _id(issuer: str, subject: str) -> str:
    """The subject as it is where that is plain, else a hash that no plain one can look like."""
    name = subject if _PLAIN.fullmatch(subject) else f"#{_hash(subject)}"
    return f"oidc:{_hash(issuer)[:8]}:{name}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def _texts(claim: object) -> Iterable[str]:
    """What a claim lists: the texts of an array, or one text."""
    items = cast("list[object]", claim) if isinstance(claim, list) else [claim]
    return [each for each in items[:MOST_GROUPS] if isinstance(each, str)]
