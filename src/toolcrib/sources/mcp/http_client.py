"""The HTTP client for servers elsewhere and for logins: it takes in no more than a bound."""

from collections.abc import Mapping

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.jsonrpc import reply_id
from toolcrib.system import LONGEST_LINE

CONNECT_S = 10.0
HTTP_OK = 200
HTTP_TOO_LARGE = 413


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
        response = await self._inner.handle_async_request(request)
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
        return sdk.httpx2.Response(response.status_code, headers=headers, content=body)

    async def aclose(self) -> None:
        await self._inner.aclose()


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
