"""The SDK's OAuth providers, each for one way of being let in to a server."""

from collections.abc import Awaitable, Callable

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from toolcrib.sources.mcp.authorizer import Authorizer
from toolcrib.sources.mcp.logins import LoginFile
from toolcrib.sources.mcp.server import Address, OAuth

NOWHERE = "http://127.0.0.1/callback"  # where nobody is sent: a refresh needs no redirect


class Stored:
    """What the provider asks for when it starts; keeping what is new is the authorizer's work.

    A client that was registered for another way back is not used again.
    """

    def __init__(self, file: LoginFile, url: str, oauth: OAuth, redirect: str = "") -> None:
        self._file = file
        self._url = url
        self._oauth = oauth
        self._redirect = redirect

    async def get_tokens(self) -> OAuthToken | None:
        login = self._file.read(self._url)
        try:
            return OAuthToken.model_validate(login.tokens) if login else None
        except ValidationError:
            return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Do nothing: see above."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self._oauth.client_id:
            return configured_client(self._oauth, self._redirect or NOWHERE)
        login = self._file.read(self._url)
        if login is None or not login.client:
            return None
        try:
            client = OAuthClientInformationFull.model_validate(login.client)
        except ValidationError:
            return None
        ways_back = [str(each) for each in client.redirect_uris or ()]
        return client if not self._redirect or self._redirect in ways_back else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Do nothing: see above."""


def quiet(file: LoginFile, address: Address) -> Authorizer:
    """For normal use: what is stored and its refresh, or the credentials of a program."""
    url, oauth = address.url, address.oauth or OAuth()
    if oauth.grant == "client_credentials":
        return Authorizer(_program(file, url, oauth), file, asks=True, registers=False)
    metadata = client_metadata(oauth, NOWHERE)
    provider = OAuthClientProvider(url, metadata, Stored(file, url, oauth))
    return Authorizer(provider, file, asks=False, registers=not oauth.client_id)


def asking(
    file: LoginFile,
    address: Address,
    redirect: str,
    *,
    show: Callable[[str], Awaitable[None]],
    wait: Callable[[], Awaitable[AuthorizationCodeResult]],
) -> Authorizer:
    """For a login: `show` sends a person to the address, `wait` returns what comes back."""
    url, oauth = address.url, address.oauth or OAuth()
    metadata, stored = client_metadata(oauth, redirect), Stored(file, url, oauth, redirect)
    provider = OAuthClientProvider(url, metadata, stored, show, wait)
    return Authorizer(provider, file, asks=True, registers=not oauth.client_id)


def client_metadata(oauth: OAuth, redirect: str) -> OAuthClientMetadata:
    """How we introduce ourselves: a program on somebody's machine, without a secret of its own."""
    return OAuthClientMetadata(
        client_name="Toolcrib",
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method="none",  # noqa: S106 - the name of a method, no secret
        scope=oauth.scope or None,
    )


def configured_client(oauth: OAuth, redirect: str) -> OAuthClientInformationFull:
    """The client that the operator has registered by other means."""
    method = "client_secret_post" if oauth.client_secret else "none"
    return OAuthClientInformationFull(
        client_id=oauth.client_id,
        client_secret=oauth.client_secret or None,
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method=method,
        scope=oauth.scope or None,
        issuer=oauth.issuer or None,
    )


def _program(file: LoginFile, url: str, oauth: OAuth) -> ClientCredentialsOAuthProvider:
    return ClientCredentialsOAuthProvider(
        url,
        Stored(file, url, oauth),
        client_id=oauth.client_id,
        client_secret=oauth.client_secret,
        scope=oauth.scope or None,
        issuer=oauth.issuer,
    )
