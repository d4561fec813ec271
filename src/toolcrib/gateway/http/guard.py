"""The guard of the gateway over HTTP: what every request has to pass before anybody acts on it.

Host and Origin are checked on every route. Then come the route, the method, the credential, the
content type, the size, and how much is under way. Each endpoint states whether it is open; only
`/health` is, and it says no more than that we are here. There is no CORS, no WebSocket, no page.
`/metrics` is there only if the settings want it, and opens with a key of its own.
"""

import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from toolcrib.gateway.credentials import (
    AccessDenied,
    Authenticator,
    ProfileForbidden,
    UnknownProfile,
)
from toolcrib.gateway.http.edge_log import EdgeLog, EdgeRequest
from toolcrib.gateway.limits import RETRY_S, Overloaded, RequestLimiter
from toolcrib.gateway.message_streams import MOST_VALUES
from toolcrib.gateway.principal import DEFAULT_PROFILE, Principal
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
    read_json_body,
    replayed,
    send_content,
    send_json,
    unauthorized,
)
from toolcrib.settings import GatewaySettings

MCP = "/mcp"
HEALTH = "/health"
METRICS = "/metrics"
LISTEN = "subscriptions/listen"
REFUSED = -32093
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class HttpEndpoint(NamedTuple):
    """Where a path leads: its methods, and for MCP the profile. None but `/health` is open."""

    methods: frozenset[str]
    profile: str = ""
    metrics: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it answers without a credential."""
        return not self.profile and not self.metrics


class MetricsPage(NamedTuple):
    """A page for Prometheus, and what it is written in."""

    content_type: str
    content: bytes


def _no_metrics() -> None:
    """Of a gateway that has no such page."""


@dataclass(frozen=True)
class HttpGuard:
    """The ASGI app that stands in front. `transport` is the app that serves a principal.

    `metrics` gives what makes the page for Prometheus; None where there is none.
    """

    settings: Callable[[], GatewaySettings]
    port: int
    authenticator: Callable[[], Authenticator]
    request_limiter: RequestLimiter
    stream_limiter: RequestLimiter
    transport: Callable[[Principal], App]
    metrics: Callable[[], Callable[[], Awaitable[MetricsPage]] | None] = _no_metrics
    edge_log: EdgeLog = field(default_factory=EdgeLog)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or nothing: whatever else a server may ask for is refused."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            raise RuntimeError(f"no {scope['type']} is served")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = EdgeRequest.of(scope)
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
            await send_json(200, {"status": "ok"}, send)
            return
        if endpoint.metrics:
            await self._show_metrics(request, headers, scope, send)
            return
        principal = self._principal(headers, endpoint.profile)
        request.who, request.path = principal.caller.id, scope["path"]
        scope.get("state", {}).get(AUTHENTICATED, _ignore)()
        if scope["method"] == "POST":
            await self._post(principal, request, scope, receive, send)
        else:
            await self._stream(principal, scope, receive, send)

    async def _show_metrics(
        self, request: EdgeRequest, headers: Mapping[str, str], scope: Scope, send: Send
    ) -> None:
        make_page = self.metrics()
        if make_page is None:
            raise _not_found()
        request.who = f"metrics:{self._scraper(headers)}"
        scope.get("state", {}).get(AUTHENTICATED, _ignore)()
        with _admitted(self.request_limiter, request.who):
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

    def _principal(self, headers: Mapping[str, str], profile: str) -> Principal:
        try:
            return self.authenticator().keyed(bearer_of(headers), profile)
        except UnknownProfile as error:
            raise HttpRefusal(404, "no_profile", str(error)) from None
        except ProfileForbidden as error:
            raise HttpRefusal(403, "forbidden", str(error)) from None
        except AccessDenied as error:
            raise unauthorized(str(error)) from None

    def _scraper(self, headers: Mapping[str, str]) -> str:
        try:
            return self.authenticator().scraper(bearer_of(headers))
        except ProfileForbidden as error:
            raise HttpRefusal(403, "forbidden", str(error)) from None
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
        limiter = self.stream_limiter if lasts else self.request_limiter
        with _admitted(limiter, principal.caller.id):
            most = self.settings().body_bytes
            body = await read_json_body(receive, headers, most, most_values=MOST_VALUES)
            if self.edge_log.is_full:
                request.read(headers, body)
            await self.transport(principal)(scope, replayed(body, receive), send)

    async def _stream(
        self, principal: Principal, scope: Scope, receive: Receive, send: Send
    ) -> None:
        with _admitted(self.stream_limiter, principal.caller.id):
            await self.transport(principal)(scope, receive, send)


async def _send_refusal(refusal: HttpRefusal, send: Send) -> None:
    """Answer with it, in the shape of a JSON-RPC error, and close the connection."""
    data = {"code": refusal.code, "status": refusal.status}
    error = {"code": REFUSED, "message": refusal.message, "data": data}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    # What is left of a body that was not wanted is not read either.
    await send_json(refusal.status, body, send, {"connection": "close", **refusal.headers})


def _ignore() -> None:
    """For a request without a connection of ours behind it."""


@contextmanager
def _admitted(limiter: RequestLimiter, who: str) -> Generator[None]:
    try:
        limiter.enter(who)
    except Overloaded as error:
        later = {"retry-after": str(RETRY_S)}
        raise HttpRefusal(503, "overloaded", f"overloaded: {error}", later) from None
    try:
        yield
    finally:
        limiter.leave(who)


def _not_found() -> HttpRefusal:
    return HttpRefusal(404, "not_found", "there is nothing here; MCP is at /mcp, /mcp/PROFILE")


def _endpoint(path: str) -> HttpEndpoint | None:
    """Where a path leads; None for nowhere."""
    if path == HEALTH:
        return HttpEndpoint(frozenset({"GET"}))
    if path == METRICS:
        return HttpEndpoint(frozenset({"GET"}), metrics=True)
    root, _, profile = path.removeprefix("/").partition("/")
    if f"/{root}" != MCP or (path != MCP and not _PROFILE.fullmatch(profile)):
        return None
    return HttpEndpoint(frozenset({"GET", "POST", "DELETE"}), profile or DEFAULT_PROFILE)
