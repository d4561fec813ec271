"""Puts our token on every request, and gets another when it is over, by the SDK's OAuth provider.

Two habits of the provider are stepped around here. It holds its lock until a reply begins, which
would make a slow call stall all others: here it is left as soon as the request has its token. And
after a restart it knows neither when a token ends nor where it came from: here both are recalled.
Only what the SDK names publicly is used.
"""

from collections.abc import AsyncGenerator, Iterator
from typing import Final, TypeVar

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import BaseModel, ValidationError

from toolcrib.model import JsonObject
from toolcrib.sources.mcp.clear_text import in_the_clear
from toolcrib.sources.mcp.logins import Login, LoginFile
from toolcrib.text.redactor import Redactor

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
LONG_OVER: Final = 1.0

Model = TypeVar("Model", bound=BaseModel)


class Authorizer(httpx2.Auth):
    """Who we are on one connection. Never raises: what goes wrong leaves the server's refusal.

    `refused` tells whether the last reply was that we are not let in, `error` why we could not do
    anything about it. Unless it `asks`, it does no more than refresh: nobody is bothered, nothing
    is registered anywhere. A client that `registers` itself is stored beside its tokens. `redactor`
    knows every token that was sent.
    """

    def __init__(
        self, provider: OAuthClientProvider, file: LoginFile, *, asks: bool, registers: bool
    ) -> None:
        self._provider = provider
        self._file = file
        self.redactor = Redactor()
        self._url = provider.context.server_url
        self._asks = asks
        self._registers = registers
        self._kept: OAuthToken | None = None
        self.refused = False
        self.error: Exception | None = None

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """As we are; if that is refused, with a fresh token; if that is too, from the beginning."""
        refusal: list[httpx2.Response] = []
        for prepare in (self._as_stored, self._renewed, self._from_the_beginning):
            if not prepare():
                continue
            pending = refusal if prepare == self._from_the_beginning else []
            flow = self._provider.async_auth_flow(request)
            try:
                outgoing = await anext(flow)
                while outgoing is not request or pending:
                    reply = pending.pop() if outgoing is request else (yield _guarded(outgoing))
                    outgoing = await flow.asend(reply)
                self._keep()
            except Exception as error:  # noqa: BLE001 - whatever it is, the server will refuse us
                self.error = error
            finally:
                await flow.aclose()
            self.redactor.learn(*self._tokens())
            response = yield request
            self.refused = _not_let_in(response)
            if not self.refused or self.error:
                return
            refusal = [response]

    def _as_stored(self) -> bool:
        self.error = None
        if not self._provider.context.is_token_valid():
            self._recall()
        return True

    def _renewed(self) -> bool:
        """Take a token that somebody else has got meanwhile, else see to it that ours is renewed.

        False if neither can be.
        """
        context, tried = self._provider.context, self._kept
        self._recall()
        if context.current_tokens and context.current_tokens != tried:
            return True
        context.token_expiry_time = LONG_OVER
        return context.can_refresh_token()

    def _from_the_beginning(self) -> bool:
        return self._asks

    def _recall(self) -> None:
        """Take up what is stored, if anything is; what cannot be read counts as none."""
        login = self._file.read(self._url)
        if login is None:
            return
        context = self._provider.context
        try:
            tokens = OAuthToken.model_validate(login.tokens)
            client = _read(OAuthClientInformationFull, login.client)
            authority = _read(OAuthMetadata, login.authority)
            resource = _read(ProtectedResourceMetadata, login.resource)
        except ValidationError:
            return
        context.current_tokens = self._kept = tokens
        context.token_expiry_time = login.expires_at
        context.client_info = client if self._registers else context.client_info
        context.oauth_metadata = authority
        context.protected_resource_metadata = resource

    def _tokens(self) -> Iterator[str]:
        """What of us nobody may hear: our tokens, and the secret of a client that we registered."""
        tokens, client = self._provider.context.current_tokens, self._provider.context.client_info
        if tokens:
            yield from filter(None, (tokens.access_token, tokens.refresh_token))
        if client and client.client_secret:
            yield client.client_secret

    def _keep(self) -> None:
        """Store the tokens if they are new. Raises `SourceError`."""
        context = self._provider.context
        tokens, client = context.current_tokens, context.client_info
        if tokens is None or client is None or tokens == self._kept:
            return
        login = Login(
            url=self._url,
            tokens=_plain(tokens),
            client=_plain(client) if self._registers else {},
            expires_at=context.token_expiry_time,
            authority=_plain(context.oauth_metadata),
            resource=_plain(context.protected_resource_metadata),
        )
        self._file.write(login, renews=self._kept is not None and not self._asks)
        self._kept = tokens


class InTheClear(Exception):
    """A secret would be sent so that others can read it."""


def _guarded(request: httpx2.Request) -> httpx2.Request:
    """A request of the flow itself, whose secrets nobody on the way gets to read."""
    if in_the_clear(str(request.url)):
        host = request.url.host
        raise InTheClear(f"{host} would be sent secrets in the clear; it has to use https")
    return request


def _not_let_in(response: httpx2.Response) -> bool:
    """Whether it asks who we are, or for more rights than our token has."""
    challenge = response.headers.get("www-authenticate", "")
    lacking = response.status_code == FORBIDDEN and "insufficient_scope" in challenge
    return response.status_code == UNAUTHORIZED or lacking


def _read(model: type[Model], plain: JsonObject) -> Model | None:
    return model.model_validate(plain) if plain else None


def _plain(model: BaseModel | None) -> JsonObject:
    return model.model_dump(mode="json", exclude_none=True) if model else {}
