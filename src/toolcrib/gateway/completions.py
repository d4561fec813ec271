"""Completion of an argument of a prompt, or of a resource template: its server knows."""

from typing import Any

from toolcrib.gateway import sdk
from toolcrib.gateway.offers import VisibleOffers
from toolcrib.gateway.prompts import find_prompt
from toolcrib.gateway.resources import uri_prefix
from toolcrib.model import CallContext, JsonObject, Outcome
from toolcrib.sources.mcp import McpSource


def completion_handlers(offers: VisibleOffers) -> dict[str, Any]:
    """What an SDK server takes as `on_...`."""

    async def complete(context: sdk.Context, params: sdk.CompleteRequestParams) -> sdk.Result:
        source, ref = _find_reference(offers, params.ref.model_dump(**sdk.AS_SENT))
        request = params.model_dump(**sdk.AS_SENT, include={"argument", "context"})

        async def send(call_context: CallContext) -> Outcome:
            return await source.offers.complete({**request, "ref": ref}, call_context)

        return await offers.request(context, send)

    return {"on_completion": complete}


def _find_reference(offers: VisibleOffers, ref: JsonObject) -> tuple[McpSource, JsonObject]:
    """Whose argument it is, and what it belongs to there. Raises `MCPError`."""
    if ref.get("type") == "ref/prompt":
        found = find_prompt(offers, str(ref.get("name")))
        return found.source, {**ref, "name": found.prompt.key}
    uri, servers = str(ref.get("uri")), offers.servers()
    for source in servers:
        if uri.startswith(uri_prefix(source)):
            return source, {**ref, "uri": uri.removeprefix(uri_prefix(source))}
    having = [
        each for each in servers if any(one.key == uri for one in each.offers.listed("templates"))
    ]
    if len(having) == 1:
        return having[0], ref
    names = ", ".join(uri_prefix(each) + uri for each in having) or "none; list the templates first"
    raise sdk.MCPError(
        sdk.INVALID_PARAMS, f"{uri!r:.200} is not one template here; there is: {names}"
    )
