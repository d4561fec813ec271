"""Puts our OAuth token on every request and refreshes it, by the SDK's OAuth provider.

Two habits of the provider are avoided here. It holds its lock until a reply begins, so that a slow
call would stall all others: here the lock is left as soon as the request has its token. And after a
restart it knows neither when a token ends nor where it came from: here both are restored. Only
public names of the SDK are used.

A refresh may use up the token that it is made with. So one process at a time refreshes the login of
a server, and takes what another has stored meanwhile.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, nullcontext
from ipaddress import ip_address
from typing import Final, TypeVar
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from toolcrib.errors import StoreError
from toolcrib.model import JsonObject
from toolcrib.sources.mcp.config.server import OAuth, ServerAddress
from toolcrib.sources.mcp.http_client import CONNECT_TO, PEER
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.sources.mcp.sanitize import is_plaintext
from toolcrib.store import Login
from toolcrib.system import addresses_of, is_public
from toolcrib.text import Redactor

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
LONG_OVER: Final = 1.0
NO_REDIRECT = "http://127.0.0.1/callback"  # where nobody is sent: a refresh needs no redirect

Model = TypeVar("Model", bound=BaseModel)


class Authorizer(httpx2.Auth):
    """The credentials of one connection. It never raises: after an error the refusal stands.

    `refused`: the last reply refused us. `error`: why that could not be helped. Unless it `asks`,
    it only refreshes: no person is asked, no client is registered. A client that registers itself
    is stored with its tokens. `redactor` knows every token that was sent. To the `issuer` that the
    operator named, a login may lead wherever that is.
    """

    def __init__(
        self, provider: OAuthClientProvider, file: ServerLogin, oauth: OAuth, *, asks: bool
    ) -> None:
        self._provider = provider
        self._file = file
        self.redactor = Redactor()
        self._url = provider.context.server_url
        self._asks = asks
        self._registers = not oauth.client_id
        self._named = urlsplit(oauth.issuer).hostname
        self._peer = ""
        self._stored: OAuthToken | None = None
        self.refused = False
        self.error: Exception | None = None

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """With the stored token; if that is refused, with a fresh one; then from the beginning."""
        refusal: list[httpx2.Response] = []
        for prepare in (self._as_stored, self._refresh, self._start_over):
            if not await prepare():
                continue
            pending = refusal if prepare == self._start_over else []
            flow = self._provider.async_auth_flow(request)
            alone = nullcontext() if prepare == self._start_over else self._alone()
            try:
                async with alone:
                    outgoing = await anext(flow)
                    while outgoing is not request or pending:
                        if outgoing is not request:
                            outgoing.extensions[CONNECT_TO] = await self.reach(str(outgoing.url))
                        reply = pending.pop() if outgoing is request else (yield outgoing)
                        outgoing = await flow.asend(reply)
                    await self._store()
            except Exception as error:  # noqa: BLE001 - whatever it is, the server will refuse us
                self.error = error
            finally:
                await flow.aclose()
            self.redactor.learn(*self._tokens())
            response = yield request
            self._peer = response.extensions.get(PEER, "")
            self.refused = _is_refusal(response)
            if not self.refused or self.error:
                return
            refusal = [response]

    async def reach(self, url: str) -> str:
        """The address to connect to for what the login leads to; "" where any will do.

        Raises `PlaintextUrl` if others could read it, `LocalUrl` if it leads from a server
        elsewhere to this machine or a private network, and `ValueError` if there is no such host.
        """
        host = urlsplit(url).hostname or ""
        if is_plaintext(url):
            raise PlaintextUrl(f"{host} would be sent secrets in the clear; it has to use https")
        if host == self._named or await self._is_local():
            return ""
        found = await addresses_of(host)
        if not all(map(is_public, found)):
            raise LocalUrl(
                f"the login leads to {host}, on this machine or a private network, and the server"
                " is elsewhere; if that is right, name it as `oauth.issuer` in the server's entry"
            )
        return str(found[0])

    async def _is_local(self) -> bool:
        """Whether the server is on this machine or a private network: where it has answered from.

        Before it has, what its name stands for.
        """
        host = urlsplit(self._url).hostname or ""
        found = [ip_address(self._peer)] if self._peer else await addresses_of(host)
        return not any(map(is_public, found))

    async def _as_stored(self) -> bool:
        self.error = None
        if not self._provider.context.is_token_valid():
            await self._recall()
        return True

    async def _refresh(self) -> bool:
        """Take a token that another process got meanwhile, else make the provider refresh ours.

        False if neither is possible.
        """
        context, tried = self._provider.context, self._stored
        await self._recall()
        if context.current_tokens and context.current_tokens != tried:
            return True
        context.token_expiry_time = LONG_OVER
        return context.can_refresh_token()

    async def _start_over(self) -> bool:
        return self._asks

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        """A block in which nobody else refreshes this login, if it is to be refreshed."""
        context, tried = self._provider.context, self._stored
        if context.is_token_valid() or tried is None or not tried.refresh_token:
            yield
            return
        async with self._file.renewing():
            await self._recall()
            if context.current_tokens == tried:
                context.token_expiry_time = LONG_OVER
            yield

    async def _recall(self) -> None:
        """Use what is stored. What cannot be read counts as nothing."""
        try:
            login = await asyncio.to_thread(self._file.read, self._url)
        except StoreError as error:
            self.error = error
            return
        if login is None:
            return
        context = self._provider.context
        try:
            tokens = OAuthToken.model_validate(login.tokens)
            client = _model_of(OAuthClientInformationFull, login.client)
            authority = _model_of(OAuthMetadata, login.authority)
            resource = _model_of(ProtectedResourceMetadata, login.resource)
        except ValidationError:
            return
        context.current_tokens = self._stored = tokens
        context.token_expiry_time = login.expires_at
        context.client_info = client if self._registers else context.client_info
        context.oauth_metadata = authority
        context.protected_resource_metadata = resource

    def _tokens(self) -> Iterator[str]:
        """Our secrets: the tokens, and the secret of a client that we registered."""
        tokens, client = self._provider.context.current_tokens, self._provider.context.client_info
        if tokens:
            yield from filter(None, (tokens.access_token, tokens.refresh_token))
        if client and client.client_secret:
            yield client.client_secret

    async def _store(self) -> None:
        """Store the tokens if they are new. Raises `StoreError`."""
        context = self._provider.context
        tokens, client = context.current_tokens, context.client_info
        if tokens is None or client is None or tokens == self._stored:
            return
        login = Login(
            url=self._url,
            tokens=_json_of(tokens),
            client=_json_of(client) if self._registers else {},
            expires_at=context.token_expiry_time,
            authority=_json_of(context.oauth_metadata),
            resource=_json_of(context.protected_resource_metadata),
        )
        renews = self._stored is not None and not self._asks
        await asyncio.to_thread(self._file.write, login, renews=renews)
        self._stored = tokens


class PlaintextUrl(Exception):
    """A secret would be sent over plain http."""


class LocalUrl(Exception):
    """A server elsewhere leads to this machine, or to a private network."""


def _is_refusal(response: httpx2.Response) -> bool:
    """Whether it wants a login, or more scope than our token has."""
    challenge = response.headers.get("www-authenticate", "")
    lacking = response.status_code == FORBIDDEN and "insufficient_scope" in challenge
    return response.status_code == UNAUTHORIZED or lacking


def _model_of(model: type[Model], plain: JsonObject) -> Model | None:
    return model.model_validate(plain) if plain else None


def _json_of(model: BaseModel | None) -> JsonObject:
    return model.model_dump(mode="json", exclude_none=True) if model else {}


class LoginStorage:
    """The SDK's `TokenStorage`: what the provider reads when it starts. The authorizer writes.

    A client that was registered for another redirect is not used again.
    """

    def __init__(self, file: ServerLogin, url: str, oauth: OAuth, redirect: str = "") -> None:
        self._file = file
        self._url = url
        self._oauth = oauth
        self._redirect = redirect

    async def get_tokens(self) -> OAuthToken | None:
        login = await asyncio.to_thread(self._file.read, self._url)
        try:
            return OAuthToken.model_validate(login.tokens) if login else None
        except ValidationError:
            return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Do nothing: the authorizer stores what is new."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self._oauth.client_id:
            return configured_client(self._oauth, self._redirect or NO_REDIRECT)
        login = await asyncio.to_thread(self._file.read, self._url)
        if login is None or not login.client:
            return None
        try:
            client = OAuthClientInformationFull.model_validate(login.client)
        except ValidationError:
            return None
        redirects = [str(each) for each in client.redirect_uris or ()]
        return client if not self._redirect or self._redirect in redirects else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Do nothing: the authorizer stores what is new."""


def silent_authorizer(file: ServerLogin, address: ServerAddress) -> Authorizer:
    """For calls: the stored token and its refresh, or client credentials. It asks no person."""
    url, oauth = address.url, address.oauth or OAuth()
    if oauth.grant == "client_credentials":
        return Authorizer(_program(file, url, oauth), file, oauth, asks=True)
    metadata = client_metadata(oauth, NO_REDIRECT)
    provider = OAuthClientProvider(url, metadata, LoginStorage(file, url, oauth))
    return Authorizer(provider, file, oauth, asks=False)


def login_authorizer(
    file: ServerLogin,
    address: ServerAddress,
    redirect: str,
    *,
    show: Callable[[str], Awaitable[None]],
    wait: Callable[[], Awaitable[AuthorizationCodeResult]],
) -> Authorizer:
    """For `toolcrib login`: `show` sends a person to the page, `wait` returns the redirect."""
    url, oauth = address.url, address.oauth or OAuth()
    metadata, stored = client_metadata(oauth, redirect), LoginStorage(file, url, oauth, redirect)

    async def show_checked(page: str) -> None:
        await authorizer.reach(page)
        await show(page)

    provider = OAuthClientProvider(url, metadata, stored, show_checked, wait)
    authorizer = Authorizer(provider, file, oauth, asks=True)
    return authorizer


def client_metadata(oauth: OAuth, redirect: str) -> OAuthClientMetadata:
    """How we register ourselves: a public client, without a secret."""
    return OAuthClientMetadata(
        client_name="Toolcrib",
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method="none",  # noqa: S106 - the name of a method, no secret
        scope=oauth.scope or None,
    )


def configured_client(oauth: OAuth, redirect: str) -> OAuthClientInformationFull:
    """The client that the operator has registered themselves."""
    method = "client_secret_post" if oauth.client_secret else "none"
    return OAuthClientInformationFull(
        client_id=oauth.client_id,
        client_secret=oauth.client_secret or None,
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method=method,
        scope=oauth.scope or None,
        issuer=oauth.issuer or None,
    )


def _program(file: ServerLogin, url: str, oauth: OAuth) -> ClientCredentialsOAuthProvider:
    return ClientCredentialsOAuthProvider(
        url,
        LoginStorage(file, url, oauth),
        client_id=oauth.client_id,
        client_secret=oauth.client_secret,
        scope=oauth.scope or None,
        issuer=oauth.issuer,
    )
