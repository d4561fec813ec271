"""An MCP server with an authorization server beside it, both the SDK's, on one port of loopback."""

# ruff: noqa: ARG002 - the SDK says what its methods are given

import asyncio
import base64
import contextlib
import logging
import secrets
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.waiting import HANG_S, until

SCOPES = ["tools"]


class Authority(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Gives codes, tokens and refreshed tokens, and remembers what it gave.

    `lifetime_s` is what it says of new tokens; `deny` makes the person say no.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as if nobody had ever come."""
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refreshes: dict[str, RefreshToken] = {}
        self.lifetime_s = 3600
        self.deny = False
        self.asked = self.refreshed = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        self.asked += 1
        if self.deny:
            raise AuthorizeError("access_denied", "not today")
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or SCOPES,
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client: Any, authorization_code: str) -> Any:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: Any) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._given(client.client_id, authorization_code.resource)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> RefreshToken | None:
        return self.refreshes.get(refresh_token)

    async def exchange_refresh_token(
        self, client: Any, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refreshes[refresh_token.token]
        self.refreshed += 1
        return self._given(client.client_id, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: Any) -> None:
        self.access.pop(token.token, None)

    async def to_program(self, request: Request) -> Response:
        """The token endpoint for programs, which the SDK does not have."""
        form = await request.form()
        wanted = "Basic " + base64.b64encode(b"robot:robot-secret").decode()
        if request.headers.get("authorization") != wanted:
            return JSONResponse({"error": "invalid_client"}, 401)
        assert form["grant_type"] == "client_credentials"
        given = self._given("robot", str(form["resource"]))
        return JSONResponse(given.model_dump(exclude={"refresh_token"}, exclude_none=True))

    def _given(self, client_id: str, resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self.access[access] = AccessToken(
            token=access, client_id=client_id, scopes=SCOPES, resource=resource
        )
        self.refreshes[refresh] = RefreshToken(
            token=refresh, client_id=client_id, scopes=SCOPES, resource=resource
        )
        return OAuthToken(
            access_token=access,
            refresh_token=refresh,
            expires_in=self.lifetime_s,
            scope=" ".join(SCOPES),
        )


class Guarded:
    """The servers that run, and the address of the one that is guarded."""

    def __init__(self, url: str, authority: Authority) -> None:
        self.url = url
        self.authority = authority


@contextlib.contextmanager
def _log_as_it_was() -> Generator[None]:
    """The SDK's server sets up the log of the whole process, which is not its own here."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def _app(base: str, authority: Authority) -> Any:
    settings = AuthSettings(
        issuer_url=AnyHttpUrl(base),
        resource_server_url=AnyHttpUrl(f"{base}/mcp"),
        required_scopes=SCOPES,
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=SCOPES, default_scopes=SCOPES
        ),
        validate_token_resource=True,
    )
    with _log_as_it_was():
        server = MCPServer("guarded", auth=settings, auth_server_provider=authority)

    said: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def echo(text: str, after: str = "") -> str:
        """Say it again, once something else was said."""
        said[text].set()
        if after:
            await said[after].wait()
        return text

    server.add_tool(echo)
    return server.streamable_http_app(json_response=True)


@contextlib.contextmanager
def guarded(*, programs: bool = False) -> Generator[Guarded]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        authority = Authority()
        app = _app(base, authority)
        if programs:
            app.router.routes.insert(0, Route("/token", authority.to_program, methods=["POST"]))
        config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=0)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        until(lambda: server.started)
        try:
            yield Guarded(f"{base}/mcp", authority)
        finally:
            server.should_exit = True
            thread.join(HANG_S)
