"""The section about people who come with a token of their own provider."""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from toolcrib.settings.declaration import setting
from toolcrib.settings.section import Section


def _is_https(url: object) -> None:
    parts = urlsplit(url) if isinstance(url, str) else None
    if not parts or not url:
        return
    is_local = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if not (parts.scheme == "https" and parts.hostname) and not is_local:
        raise ValueError("write an https address; http is for this machine alone")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("write the address alone, without credentials, query and fragment")


def _has_no_slash(url: object) -> None:
    _is_https(url)
    if isinstance(url, str) and url.endswith("/"):
        raise ValueError("write it without a slash at its end")


class OAuthSettings(Section):
    """The gateway as an OAuth 2.1 resource server: people come with a token of their provider."""

    issuer: str = setting(
        default="",
        check=_is_https,
        description="The address of the OpenID Connect or OAuth 2.1 provider, just as its tokens"
        " name it (`iss`). Empty: only keys open HTTP.",
    )
    resource: str = setting(
        default="",
        check=_has_no_slash,
        description="The address under which clients reach the gateway, such as"
        " `https://tools.example.com/mcp`. Empty: `http://127.0.0.1:PORT/mcp`.",
    )
    audience: str = setting(
        default="",
        description="What tokens must be for (`aud`). Empty: the resource, or the resource with"
        " the profile behind it.",
    )
    scopes: tuple[str, ...] = setting(default=(), description="Scopes that every token must have.")
    tenant_claim: str = setting(
        default="",
        description="The claim that names the tenant of a person, for a gateway that serves several"
        " tenants. Empty: all people are of the gateway's own tenant.",
    )
    groups_claim: str = setting(
        default="groups", description="The claim that has the groups of a person."
    )
    groups: Mapping[str, tuple[str, ...]] = setting(
        default=MappingProxyType[str, tuple[str, ...]]({}),
        description='The profiles of each group: `eng = ["default", "dev"]`. `"*"` is everybody'
        " with a good token. Whoever is in none of the groups has no profile.",
    )
