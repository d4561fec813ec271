"""The two ways to send one request: by the SDK's session, or past it as a line to a process.

Both say the same to a server and take the same for an answer. What is past the session is checked
by the same models, but for a result of plain texts: they would leave it as it is.
"""

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol, TypeAlias, cast

from toolcrib.model import JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.client.upstream_request import UpstreamMethod
from toolcrib.sources.mcp.jsonrpc import is_plain_result
from toolcrib.sources.mcp.transport.pipe_requests import OnProgress, PipeRequests
from toolcrib.sources.mcp.transport.tap import withhold

PlainResult: TypeAlias = JsonObject
"""The `content` of a tool, texts alone; its `structuredContent`; and whether it `isError`."""
UpstreamResult: TypeAlias = sdk.BaseModel | PlainResult

_REQUESTS: Mapping[UpstreamMethod, type[sdk.Request[Any, Any]]] = {
    "tools/call": sdk.CallToolRequest,
    "resources/read": sdk.ReadResourceRequest,
    "prompts/get": sdk.GetPromptRequest,
    "completion/complete": sdk.CompleteRequest,
}
_RESULTS: Mapping[UpstreamMethod, "sdk.TypeAdapter[Any]"] = {
    "tools/call": sdk.TypeAdapter(sdk.CallToolResult | sdk.InputRequiredResult),
    "resources/read": sdk.TypeAdapter(sdk.ReadResourceResult | sdk.InputRequiredResult),
    "prompts/get": sdk.TypeAdapter(sdk.GetPromptResult | sdk.InputRequiredResult),
    "completion/complete": sdk.TypeAdapter(sdk.CompleteResult),
}


class RequestSender(Protocol):
    """Sends one request of a connection."""

    def __call__(
        self, method: UpstreamMethod, params: JsonObject, on_progress: OnProgress
    ) -> Awaitable[UpstreamResult]:
        """The result. Raises `MCPError`, and `ValidationError` for one that is not valid."""
        ...


def session_sender(session: sdk.ClientSession) -> RequestSender:
    """By the session."""

    async def send(
        method: UpstreamMethod, params: JsonObject, on_progress: OnProgress
    ) -> UpstreamResult:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message or "")

        adapter = cast("sdk.TypeAdapter[sdk.BaseModel]", _RESULTS[method])
        request = _REQUESTS[method].model_validate({"method": method, "params": params})
        return await session.send_request(request, adapter, progress_callback=report)

    return send


def pipe_sender(session: sdk.ClientSession, pipe: PipeRequests) -> RequestSender:
    """Past the session, which says how its requests are stamped and what may be answered."""

    async def send(
        method: UpstreamMethod, params: JsonObject, on_progress: OnProgress
    ) -> UpstreamResult:
        stamped = sdk.stamped(session, method, params)
        result = await pipe.send(method, withhold(stamped), on_progress)
        if is_plain_result(result) and sdk.later_fields(session, method).isdisjoint(result):
            return result
        return sdk.read_result(session, method, result, _RESULTS[method])

    return send
