"""Prompts of all servers that a guest may see, under names like those of their tools."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.asking import Heard
from toolcrib.gateway.beside import page, result, running, seen_servers
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.rounds import Rounds
from toolcrib.names.origin import Origin, name_all
from toolcrib.sources.mcp.offered import Offered
from toolcrib.sources.mcp.source import McpSource
from toolcrib.text.nearest import nearest


class Named(NamedTuple):
    """A prompt, and whose it is."""

    source: McpSource
    prompt: Offered


def handlers(crib: Crib, guest: Guest, rounds: Rounds) -> dict[str, Any]:
    """What an SDK server takes as `on_...`, for this guest."""
    served = Prompts(crib, guest, rounds)
    return {"on_list_prompts": served.list, "on_get_prompt": served.get}


class Prompts:
    """By server, and then in the server's own order."""

    def __init__(self, crib: Crib, guest: Guest, rounds: Rounds) -> None:
        self._crib = crib
        self._guest = guest
        self._rounds = rounds

    async def list(self, context: sdk.Context, params: sdk.PaginatedRequestParams) -> sdk.Result:
        every = seen_prompts(self._crib, self._guest)
        items = [{**each.prompt.raw, "name": name} for name, each in every.items()]
        return sdk.sendable(context, "prompts", page("prompts", items, params))

    async def get(self, context: sdk.Context, params: sdk.GetPromptRequestParams) -> sdk.Result:
        """Get one, by the name that is listed here, or by the server's own where it is unique."""
        meant = meant_prompt(self._crib, self._guest, params.name)

        async def work(heard: Heard) -> sdk.Result:
            under_way = running(self._crib, self._guest, heard)
            offers, name = meant.source.offers, meant.prompt.key
            return result(await offers.prompt(name, params.arguments or {}, under_way))

        return await self._rounds.serve(context, work)


def seen_prompts(crib: Crib, guest: Guest) -> Mapping[str, Named]:
    """All prompts that this guest may get, by the names that they have here."""
    every = {
        Origin("mcp", source.id or "", prompt.key): Named(source, prompt)
        for source in seen_servers(crib, guest)
        for prompt in source.offers.listed("prompts")
    }
    names = name_all(list(every))
    return {names[origin]: each for origin, each in every.items()}


def meant_prompt(crib: Crib, guest: Guest, name: str) -> Named:
    """Raises `MCPError` for a name that none has, or that several servers have."""
    every = seen_prompts(crib, guest)
    if name in every:
        return every[name]
    found = {full: each for full, each in every.items() if each.prompt.key == name}
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        names = ", ".join(found)
        raise sdk.MCPError(sdk.INVALID_PARAMS, f"{name!r:.200} is of several servers; say {names}")
    near = ", ".join(nearest(name, list(every))) or "none"
    raise sdk.MCPError(sdk.INVALID_PARAMS, f"no prompt {name!r:.200} here; nearest: {near}")
