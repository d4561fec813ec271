"""Prompts of all servers that a principal may see, under names like those of their tools."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolcrib.crib import Crib
from toolcrib.errors import AmbiguousName, UnknownTool
from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.input_requests import InputRequests
from toolcrib.gateway.offers import offer_result, page, running_request, visible_servers
from toolcrib.gateway.principal import Principal
from toolcrib.names import Origin, name_all
from toolcrib.pool import NameResolver
from toolcrib.sources.mcp import McpSource, OfferedItem


class ServerPrompt(NamedTuple):
    """A prompt, and whose it is."""

    source: McpSource
    prompt: OfferedItem


def prompt_handlers(
    crib: Crib, principal: Principal, input_requests: InputRequests
) -> dict[str, Any]:
    """What an SDK server takes as `on_...`, for this principal."""
    prompts = Prompts(crib, principal, input_requests)
    return {"on_list_prompts": prompts.list, "on_get_prompt": prompts.get}


class Prompts:
    """By server, and then in the server's own order."""

    def __init__(self, crib: Crib, principal: Principal, input_requests: InputRequests) -> None:
        self._crib = crib
        self._principal = principal
        self._input_requests = input_requests

    async def list(self, context: sdk.Context, params: sdk.PaginatedRequestParams) -> sdk.Result:
        every = visible_prompts(self._crib, self._principal)
        items = [{**each.prompt.raw, "name": name} for name, each in every.items()]
        return sdk.sendable(context, "prompts", page("prompts", items, params))

    async def get(self, context: sdk.Context, params: sdk.GetPromptRequestParams) -> sdk.Result:
        """Get one, by the name that is listed here, or by the server's own where it is unique."""
        found = find_prompt(self._crib, self._principal, params.name)

        async def work(channel: CallChannel) -> sdk.Result:
            call_context = running_request(self._crib, self._principal, channel)
            offers, name = found.source.offers, found.prompt.key
            return offer_result(await offers.prompt(name, params.arguments or {}, call_context))

        return await self._input_requests.serve(context, work)


def visible_prompts(crib: Crib, principal: Principal) -> Mapping[str, ServerPrompt]:
    """All prompts that this principal may get, by the names that they have here."""
    every = {
        Origin("mcp", source.id or "", prompt.key): ServerPrompt(source, prompt)
        for source in visible_servers(crib, principal)
        for prompt in source.offers.listed("prompts")
    }
    names = name_all(list(every))
    return {names[origin]: each for origin, each in every.items()}


def find_prompt(crib: Crib, principal: Principal, name: str) -> ServerPrompt:
    """By its name here or its server's own. Raises `MCPError` for a name of none, or of several."""
    prompts = visible_prompts(crib, principal)
    resolver = NameResolver(prompts, lambda each: (each.prompt.key,), noun="prompt", where="here")
    try:
        return resolver.resolve(name)
    except (UnknownTool, AmbiguousName) as error:
        raise sdk.MCPError(sdk.INVALID_PARAMS, str(error)) from None
