"""The HTTP client for servers elsewhere and for logins: it takes in no more than a bound."""

from collections.abc import Mapping

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.jsonrpc import reply_id
from toolcrib.system import LONGEST_LINE

CONNECT_S = 10.0
HTTP_OK = 200
HTTP_TOO_LARGE = 413
CONNECT_TO = "toolcrib.connect_to"
"""The extension of a request that goes to this address, whatever its name stands for by then."""
PEER = "toolcrib.peer"
"""The extension of a response that has the address that it came from."""


def bounded_http_client(
    headers: Mapping[str, str], authorizer: "sdk.httpx2.Auth | None" = None
) -> "sdk.httpx2.AsyncClient":
    """A client whose replies are bounded: see `_BoundedTransport`. Its requests are not."""
    return sdk.httpx2.AsyncClient(
        headers={**headers, "accept-encoding": "identity"},
        auth=authorizer,
        timeout=sdk.httpx2.Timeout(None, connect=CONNECT_S),
        transport=_BoundedTransport(sdk.httpx2.AsyncHTTPTransport(limits=sdk.httpx2.Limits())),
    )


class _BoundedTransport(sdk.httpx2.AsyncBaseTransport):
    """Replaces a body that is too large, or compressed, by a JSON-RPC error.

    An exception would end every other call on the connection. An event stream has no limit as a
    whole: each of its events has one.
    """

    def __init__(self, inner: "sdk.httpx2.AsyncHTTPTransport") -> None:
        self._inner = inner

    async def handle_async_request(self, request: "sdk.httpx2.Request") -> "sdk.httpx2.Response":
        response = await self._inner.handle_async_request(_pinned(request))
        response.extensions[PEER] = peer = _peer_of(response)
        headers = response.headers
        if headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _refusal(
                request, sdk.UNREADABLE, "its reply came compressed, though nobody asked for that"
            )
        if headers.get("content-type", "").startswith("text/event-stream"):
            return response
        body = await _body(response)
        if body is None:
            return _refusal(request, sdk.TOO_LARGE, "its reply is too large")
        return sdk.httpx2.Response(
            response.status_code, headers=headers, content=body, extensions={PEER: peer}
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


def _pinned(request: "sdk.httpx2.Request") -> "sdk.httpx2.Request":
    """The request to the address that it was checked for; as it is without one."""
    if not (address := request.extensions.get(CONNECT_TO)):
        return request
    return sdk.httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode()},
    )


def _peer_of(response: "sdk.httpx2.Response") -> str:
    """The address that a response came from; "" where nobody knows."""
    stream = response.extensions.get("network_stream")
    address = stream.get_extra_info("server_addr") if stream else None
    return str(address[0]) if address else ""


async def _body(response: "sdk.httpx2.Response") -> bytes | None:
    """The whole body; None if it passes the limit."""
    chunks: list[bytes] = []
    length = 0
    try:
        async for chunk in response.aiter_raw():
            length += len(chunk)
            if length > LONGEST_LINE:
                return None
            chunks.append(chunk)
    finally:
        await response.aclose()
    return b"".join(chunks)


def _refusal(request: "sdk.httpx2.Request", code: int, message: str) -> "sdk.httpx2.Response":
    """An error in place of the reply to this request."""
    id = reply_id(request.content) if request.method == "POST" else None
    error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
    status = HTTP_OK if id is not None else HTTP_TOO_LARGE
    return sdk.httpx2.Response(status, json=error)
