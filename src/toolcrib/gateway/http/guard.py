"""The guard of the gateway over HTTP: what every request has to pass before anybody acts on it.

Host and Origin are checked on every route. Then come the route, the method, where the request comes
from, the credential, the content type, the size, and how much is under way. Each endpoint states
whether it is open. Two are: `/health` says that we are here, `/ready` whether we take work, and
neither says more. There is no CORS, no WebSocket, no page. `/metrics` is there only if the settings
want it, and opens with a key of its own.
"""

import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from toolcrib.gateway import sdk
from toolcrib.gateway.binding import MCP_PATH, Binding
from toolcrib.gateway.credentials import (
    AccessDenied,
    CannotTell,
    ProfileForbidden,
    RequestAuthenticator,
    ScopeMissing,
    UnknownProfile,
)
from toolcrib.gateway.http.drain import Drain, retry_later
from toolcrib.gateway.http.edge_log import EdgeLog, EdgeRequest
from toolcrib.gateway.http.handshake_transport import opens_session
from toolcrib.gateway.message_streams import MOST_VALUES, id_problem
from toolcrib.gateway.oauth.resource_metadata import (
    WELL_KNOWN,
    challenge,
    metadata,
    profile_resource,
    resource_of,
)
from toolcrib.gateway.principal import DEFAULT_PROFILE, Principal
from toolcrib.gateway.quotas import Overloaded, Quota, QuotaExceeded, Quotas, RequestLimiter
from toolcrib.http import (
    AUTHENTICATED,
    HEADERS,
    App,
    HttpRefusal,
    Receive,
    Scope,
    Send,
    bearer_of,
    check_content,
    check_host,
    check_origin,
    headers_of,
    is_loopback,
    peer_of,
    read_json_body,
    replayed,
    send_content,
    send_json,
    unauthorized,
)
from toolcrib.model import Json
from toolcrib.settings import GatewaySettings

HEALTH = "/health"
READY = "/ready"
METRICS = "/metrics"
LISTEN = "subscriptions/listen"
RETRY_S: Mapping[str, int] = {"issuer_unreachable": 30, "store_away": 1, "tenant_unavailable": 30}
REFUSED = -32093
INVALID = "invalid_request"
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class HttpEndpoint(NamedTuple):
    """Where a path leads: its methods, and for MCP the profile."""

    methods: frozenset[str]
    profile: str = ""
    metrics: bool = False
    metadata: str | None = None
    ready: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it answers without a credential, and always the same."""
        return not self.profile and not self.metrics and self.metadata is None


class MetricsPage(NamedTuple):
    """A page for Prometheus, and what it is written in."""

    content_type: str
    content: bytes


def _no_metrics() -> None:
    """Of a gateway that has no such page."""


def _on_loopback() -> Binding:
    return Binding("127.0.0.1")


def _always() -> bool:
    return True


@dataclass(frozen=True)
class HttpGuard:
    """The ASGI app that stands in front. `transport` is the app that serves a principal.

    `metrics` gives what makes the page for Prometheus; None where there is none. `is_ready` says
    whether there is something to serve yet, and calls are made.
    """

    settings: Callable[[], GatewaySettings]
    port: int
    authenticator: Callable[[], RequestAuthenticator]
    request_limiter: RequestLimiter
    stream_limiter: RequestLimiter
    transport: Callable[[Principal], App]
    metrics: Callable[[], Callable[[], Awaitable[MetricsPage]] | None] = _no_metrics
    edge_log: EdgeLog = field(default_factory=EdgeLog)
    binding: Callable[[], Binding] = _on_loopback
    drain: Drain = field(default_factory=Drain)
    is_ready: Callable[[], bool] = _always

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or nothing: whatever else a server may ask for is refused."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            raise RuntimeError(f"no {scope['type']} is served")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = EdgeRequest.of(scope, self.binding().proxies.client(scope))
        send = self.drain.closing(send)
        if self.edge_log.is_full:
            send = request.noting(send)
        try:
            await self._serve(request, scope, receive, send)
        except HttpRefusal as refusal:
            self.edge_log.refused(request, refusal)
            await _send_refusal(refusal, send)
        else:
            if self.edge_log.is_full:
                self.edge_log.served(request)

    async def _serve(
        self, request: EdgeRequest, scope: Scope, receive: Receive, send: Send
    ) -> None:
        headers = scope[HEADERS] = headers_of(scope["headers"])
        endpoint = self._endpoint(scope, headers)
        if endpoint.is_open:
            await self._tell(endpoint, send)
            return
        self._check_peer(scope)
        if endpoint.metrics:
            await self._show_metrics(request, headers, scope, send)
            return
        if endpoint.metadata is not None:
            await self._show_metadata(endpoint.metadata, send)
            return
        principal = await self._principal(headers, endpoint.profile)
        request.who, request.path = principal.caller.id, scope["path"]
        scope.get("state", {}).get(AUTHENTICATED, _ignore)()
        if scope["method"] == "POST":
            await self._post(principal, request, scope, receive, send)
        else:
            await self._stream(principal, scope, receive, send)

    async def _tell(self, endpoint: HttpEndpoint, send: Send) -> None:
        if endpoint.ready and (self.drain.has_begun or not self.is_ready()):
            await send_json(503, {"status": "unavailable"}, send, retry_later())
        else:
            await send_json(200, {"status": "ok"}, send)

    def _check_peer(self, scope: Scope) -> None:
        """Raises `HttpRefusal` for a key that came in the clear, past the proxy."""
        binding, peer = self.binding(), peer_of(scope)
        if not (binding.tls or is_loopback(peer) or binding.proxies.has(peer)):
            problem = "plain HTTP is for the proxy alone; use the proxy's https address"
            raise HttpRefusal(403, "not_proxied", problem)

    async def _show_metrics(
        self, request: EdgeRequest, headers: Mapping[str, str], scope: Scope, send: Send
    ) -> None:
        make_page = self.metrics()
        if make_page is None:
            raise _not_found()
        request.who = f"metrics:{self._scraper(headers)}"
        scope.get("state", {}).get(AUTHENTICATED, _ignore)()
        with _admitted(self.request_limiter, (Quota(request.who),)):
            page = await make_page()
        await send_content(200, page.content, send, {"content-type": page.content_type})

    def _endpoint(self, scope: Scope, headers: Mapping[str, str]) -> HttpEndpoint:
        check_host(headers, self.port, self.settings().hosts)
        check_origin(headers, self.settings().origins)
        if "upgrade" in headers:
            raise HttpRefusal(
                400, "bad_request", "connections are not upgraded here; use streamable HTTP"
            )
        endpoint = _endpoint(scope["path"])
        if endpoint is None:
            raise _not_found()
        if scope["method"] not in endpoint.methods:
            allowed = ", ".join(sorted(endpoint.methods))
            problem = f"{scope['method'][:20]} is not served here; use {allowed}"
            raise HttpRefusal(405, "bad_method", problem, {"allow": allowed})
        return endpoint

    async def _show_metadata(self, suffix: str, send: Send) -> None:
        """Where a client gets a token for what has this path; for the root of it, for the whole."""
        oauth = self.settings().oauth
        resource = resource_of(oauth, self.port)
        path = urlsplit(resource).path
        endpoint = _endpoint(f"{MCP_PATH}{suffix.removeprefix(path)}") if suffix else None
        if not oauth.issuer or (suffix and (not suffix.startswith(path) or not endpoint)):
            raise _not_found()
        profile = endpoint.profile if endpoint else DEFAULT_PROFILE
        await send_json(200, metadata(oauth, profile_resource(resource, profile)), send)

    async def _principal(self, headers: Mapping[str, str], profile: str) -> Principal:
        try:
            return await self.authenticator().bearer(bearer_of(headers), profile)
        except UnknownProfile as error:
            raise HttpRefusal(404, "no_profile", str(error)) from None
        except ProfileForbidden as error:
            raise HttpRefusal(403, "forbidden", str(error)) from None
        except ScopeMissing as error:
            how = self._challenge(profile, "insufficient_scope")
            raise HttpRefusal(403, "insufficient_scope", str(error), how) from None
        except CannotTell as error:
            raise _later(error) from None
        except AccessDenied as error:
            how = self._challenge(profile, "invalid_token")
            raise HttpRefusal(401, "unauthorized", str(error), how) from None
        except HttpRefusal as refusal:  # there is no credential
            how = {**refusal.headers, **self._challenge(profile)}
            raise HttpRefusal(refusal.status, refusal.code, refusal.message, how) from None

    def _challenge(self, profile: str, error: str = "") -> Mapping[str, str]:
        """The header of a refusal that says what is missing, and where a client gets it."""
        oauth = self.settings().oauth
        if not oauth.issuer:
            return unauthorized("").headers
        return challenge(oauth, profile_resource(resource_of(oauth, self.port), profile), error)

    def _scraper(self, headers: Mapping[str, str]) -> str:
        try:
            return self.authenticator().scraper(bearer_of(headers))
        except ProfileForbidden as error:
            raise HttpRefusal(403, "forbidden", str(error)) from None
        except CannotTell as error:
            raise _later(error) from None
        except AccessDenied as error:
            raise unauthorized(str(error)) from None

    async def _post(
        self,
        principal: Principal,
        request: EdgeRequest,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        headers: Mapping[str, str] = scope[HEADERS]
        check_content(headers)
        # A subscription lasts, and does nothing meanwhile.
        lasts = headers.get("mcp-method") == LISTEN
        if lasts or opens_session(headers):
            self.drain.check_beginning()
        limiter = self.stream_limiter if lasts else self.request_limiter
        with _admitted(limiter, principal.quotas), nullcontext() if lasts else self.drain:
            most = self.settings().body_bytes
            body, message = await read_json_body(receive, headers, most, most_values=MOST_VALUES)
            _check_message(message, lasts=lasts)
            if self.edge_log.is_full:
                request.read(headers, body)
            await self.transport(principal)(scope, replayed(body, receive), send)

    async def _stream(
        self, principal: Principal, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["method"] == "GET":
            self.drain.check_beginning()
        with _admitted(self.stream_limiter, principal.quotas):
            await self.transport(principal)(scope, receive, send)


def _check_message(message: Json, *, lasts: bool) -> None:
    """Raises `HttpRefusal` for one that cannot be answered, or that its header calls another."""
    if problem := id_problem(message):
        raise HttpRefusal(400, INVALID, problem)
    if lasts and not (isinstance(message, Mapping) and message.get("method") == LISTEN):
        problem = "the header `Mcp-Method` and the body name different methods; send the same"
        raise HttpRefusal(400, INVALID, problem)


async def _send_refusal(refusal: HttpRefusal, send: Send) -> None:
    """Answer with it, in the shape of a JSON-RPC error, and close the connection."""
    data: dict[str, str | int] = {"code": refusal.code, "status": refusal.status}
    if later := refusal.headers.get("retry-after"):
        data["retry_after_s"] = int(later)
    code = sdk.INVALID_REQUEST if refusal.code == INVALID else REFUSED
    error = {"code": code, "message": refusal.message, "data": data}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    # What is left of a body that was not wanted is not read either.
    await send_json(refusal.status, body, send, {"connection": "close", **refusal.headers})


def _ignore() -> None:
    """For a request without a connection of ours behind it."""


@contextmanager
def _admitted(limiter: RequestLimiter, quotas: Quotas) -> Generator[None]:
    try:
        limiter.enter(quotas)
    except Overloaded as error:
        is_own = isinstance(error, QuotaExceeded)
        status, code = (429, "too_many_requests") if is_own else (503, "overloaded")
        later = {"retry-after": str(error.retry_after_s)}
        raise HttpRefusal(status, code, f"{code}: {error}", later) from None
    try:
        yield
    finally:
        limiter.leave(quotas)


def _later(error: CannotTell) -> HttpRefusal:
    """Nobody is let in, and nobody is told that their credential is bad."""
    return HttpRefusal(503, error.code, str(error), {"retry-after": str(RETRY_S[error.code])})


def _not_found() -> HttpRefusal:
    return HttpRefusal(404, "not_found", "there is nothing here; MCP is at /mcp, /mcp/PROFILE")


def _endpoint(path: str) -> HttpEndpoint | None:
    """Where a path leads; None for nowhere."""
    if path == HEALTH:
        return HttpEndpoint(frozenset({"GET"}))
    if path == READY:
        return HttpEndpoint(frozenset({"GET"}), ready=True)
    if path == METRICS:
        return HttpEndpoint(frozenset({"GET"}), metrics=True)
    if path == WELL_KNOWN or path.startswith(f"{WELL_KNOWN}/"):
        return HttpEndpoint(frozenset({"GET"}), metadata=path.removeprefix(WELL_KNOWN))
    root, _, profile = path.removeprefix("/").partition("/")
    if f"/{root}" != MCP_PATH or (path != MCP_PATH and not _PROFILE.fullmatch(profile)):
        return None
    return HttpEndpoint(frozenset({"GET", "POST", "DELETE"}), profile or DEFAULT_PROFILE)
