"""Where a client without a token gets one: the metadata of RFC 9728, and the challenge to it.

    401 ──> WWW-Authenticate: Bearer resource_metadata="https://…/.well-known/…/mcp"
        ──> the document there ──> authorization_servers ──> a login, and a token for `resource`

Each profile is a resource of its own, below that of the gateway: a client compares what the
document names with the address that it came to.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from toolcrib.gateway.principal import DEFAULT_PROFILE
from toolcrib.model import Json
from toolcrib.settings import OAuthSettings

WELL_KNOWN = "/.well-known/oauth-protected-resource"


def resource_of(settings: OAuthSettings, port: int) -> str:
    """The address of the gateway, as clients know it."""
    return settings.resource or f"http://127.0.0.1:{port}/mcp"


def profile_resource(resource: str, profile: str) -> str:
    """The address of one profile of it."""
    return resource if profile == DEFAULT_PROFILE else f"{resource}/{profile}"


def metadata(settings: OAuthSettings, resource: str) -> Json:
    """The document about one resource."""
    document: dict[str, Json] = {
        "resource": resource,
        "authorization_servers": [settings.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Toolcrib",
    }
    if settings.scopes:
        document["scopes_supported"] = [*settings.scopes]
    return document


def challenge(settings: OAuthSettings, resource: str, error: str = "") -> dict[str, str]:
    """The header that tells a client what is missing, and where to get it."""
    at = urlsplit(resource)
    facts = [
        ("error", error),
        ("scope", " ".join(settings.scopes)),
        ("resource_metadata", f"{at.scheme}://{at.netloc}{WELL_KNOWN}{at.path}"),
    ]
    return {"www-authenticate": f"Bearer {_parameters(facts)}"}


def _parameters(facts: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f'{name}="{value}"' for name, value in facts if value)
