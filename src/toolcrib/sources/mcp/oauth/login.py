"""`toolcrib login`: a person agrees in a browser, and we keep the tokens.

Only an operator's command comes here; nothing that a model can reach does.
"""

import asyncio
import os
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult

from toolcrib.errors import SourceError, StoreError
from toolcrib.sources.mcp.config.environment import expanded_address
from toolcrib.sources.mcp.config.secret_values import address_secrets
from toolcrib.sources.mcp.config.server import ServerAddress, ServerCommand, Transport
from toolcrib.sources.mcp.http_client import bounded_http_client
from toolcrib.sources.mcp.oauth.authorizer import Authorizer, login_authorizer
from toolcrib.sources.mcp.oauth.callback import LoginDenied, OAuthCallback
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.sources.mcp.sanitize import is_plaintext, short_line
from toolcrib.text import Redactor

LONGEST_REASON = 300
_KNOCK = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
_HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",  # from 2025-06-18 on, tokens are bound to one server
}


async def log_in(
    server: str,
    configured: Transport,
    file: ServerLogin | None,
    show: Callable[[str], None],
    patience_s: float,
) -> None:
    """Get tokens for the server and store them; does nothing if it accepts us already.

    `show` is given the page that a person has to open. Raises `SourceError`, `StoreError` and
    `ConfigError`. No error has another as its cause: those may repeat what we sent.
    """
    if isinstance(configured, ServerCommand) or file is None:
        raise SourceError(f"{server!r} is a command, and needs no login: see its `env`")
    if configured.brings_its_own:
        raise SourceError(f"{server!r} has an `Authorization` header: correct that")
    address = expanded_address(configured)
    if is_plaintext(address.url):
        raise SourceError(f"{server!r} is not reached by https: a token would be sent in the clear")
    port = address.oauth.redirect_port if address.oauth else 0
    callback = await OAuthCallback.open(
        port or await asyncio.to_thread(_last_port, file, address.url)
    )
    authorizer = _authorizer(address, file, callback, show)
    authorizer.redactor.learn(*address_secrets(configured, os.environ))
    try:
        async with (
            asyncio.timeout(patience_s),
            bounded_http_client(address.headers, authorizer) as client,
        ):
            await client.post(address.url, json=_KNOCK, headers=_HEADERS)
    except TimeoutError as error:
        raise SourceError(f"nobody has logged in to {server!r} in time; try again") from error
    except Exception as error:  # noqa: BLE001 - no cause is named: see above
        reason = _reason(error, authorizer.redactor)
        raise SourceError(f"{server!r} cannot be reached: {reason}") from None
    finally:
        await callback.close()
    if authorizer.error:
        raise SourceError(_failed(server, authorizer.error, authorizer.redactor))
    if authorizer.refused:
        raise SourceError(f"{server!r} refuses access, although the login went well")


def _authorizer(
    address: ServerAddress, file: ServerLogin, callback: OAuthCallback, show: Callable[[str], None]
) -> Authorizer:
    async def send(page: str) -> None:
        callback.expect(parse_qs(urlsplit(page).query).get("state", [""])[0])
        show(page)

    async def wait() -> AuthorizationCodeResult:
        given = await callback.answer()
        return AuthorizationCodeResult(
            code=given.get("code", ""), state=given.get("state"), iss=given.get("iss")
        )

    return login_authorizer(file, address, callback.url, show=send, wait=wait)


def _last_port(file: ServerLogin, url: str) -> int:
    """The port of the last login, for which the client is registered; 0 if there was none."""
    login = file.read(url)
    redirects = login.client.get("redirect_uris") if login else None
    first = redirects[0] if isinstance(redirects, list) and redirects else ""
    try:
        return urlsplit(str(first)).port or 0
    except ValueError:
        return 0


def _failed(server: str, error: Exception, redactor: Redactor) -> str:
    if isinstance(error, SourceError | StoreError):
        return str(error)
    reason = _reason(error, redactor)
    if isinstance(error, LoginDenied):
        return f"the login to {server!r} was denied: {reason}; ask somebody who may"
    return f"the login to {server!r} failed: {reason}"


def _reason(error: Exception, redactor: Redactor) -> str:
    return short_line(redactor.text(str(error)) or type(error).__name__, LONGEST_REASON)
