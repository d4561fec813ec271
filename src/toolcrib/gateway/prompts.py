"""Prompts of all servers that a principal may see, and the completion of their arguments.

Prompts have names like those of tools. A server completes an argument of a prompt of its own, or of
a resource template of its own.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolcrib.errors import AmbiguousName, UnknownTool
from toolcrib.gateway import sdk
from toolcrib.gateway.offers import VisibleOffers, page
from toolcrib.gateway.resources import uri_prefix
from toolcrib.model import CallContext, JsonObject, Outcome
from toolcrib.names import Origin, name_all
from toolcrib.pool import NameResolver
from toolcrib.sources.mcp import McpSource, OfferedItem


class ServerPrompt(NamedTuple):
    """A prompt, and whose it is."""

    source: McpSource
    prompt: OfferedItem


def prompt_handlers(offers: VisibleOffers) -> dict[str, Any]:
    """What an SDK server takes as `on_...`."""
    prompts = Prompts(offers)
    return {"on_list_prompts": prompts.list, "on_get_prompt": prompts.get}


class Prompts:
    """By server, and then in the server's own order."""

    def __init__(self, offers: VisibleOffers) -> None:
        self._offers = offers

    async def list(self, context: sdk.Context, params: sdk.PaginatedRequestParams) -> sdk.Result:
        every = visible_prompts(self._offers)
        items = [{**each.prompt.raw, "name": name} for name, each in every.items()]
        return sdk.sendable(context, "prompts", page("prompts", items, params))

    async def get(self, context: sdk.Context, params: sdk.GetPromptRequestParams) -> sdk.Result:
        """Get one, by the name that is listed here, or by the server's own where it is unique."""
        found = find_prompt(self._offers, params.name)

        async def send(call_context: CallContext) -> Outcome:
            arguments = params.arguments or {}
            return await found.source.offers.prompt(found.prompt.key, arguments, call_context)

        return await self._offers.request(context, send)


def visible_prompts(offers: VisibleOffers) -> Mapping[str, ServerPrompt]:
    """All prompts that a principal may get, by the names that they have here."""
    every = {
        Origin("mcp", source.id or "", prompt.key): ServerPrompt(source, prompt)
        for source in offers.servers()
        for prompt in source.offers.listed("prompts")
    }
    names = name_all(list(every))
    return {names[origin]: each for origin, each in every.items()}


def find_prompt(offers: VisibleOffers, name: str) -> ServerPrompt:
    """By its name here or its server's own. Raises `MCPError` for a name of none, or of several."""
    prompts = visible_prompts(offers)
    resolver = NameResolver(prompts, lambda each: (each.prompt.key,), noun="prompt", where="here")
    try:
        return resolver.resolve(name)
    except (UnknownTool, AmbiguousName) as error:
        raise sdk.MCPError(sdk.INVALID_PARAMS, str(error)) from None


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
