"""How an argument of a prompt, or of a template of resources, may go on: its server knows."""

from typing import Any

from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.asking import Heard
from toolcrib.gateway.beside import result, running, seen_servers
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.prompts import meant_prompt
from toolcrib.gateway.rounds import Rounds
from toolcrib.gateway.uris import prefix
from toolcrib.model import JsonObject
from toolcrib.sources.mcp.source import McpSource


def handlers(crib: Crib, guest: Guest, rounds: Rounds) -> dict[str, Any]:
    """What an SDK server takes as `on_...`, for this guest."""

    async def complete(context: sdk.Context, params: sdk.CompleteRequestParams) -> sdk.Result:
        source, ref = _meant(crib, guest, params.ref.model_dump(**sdk.AS_SENT))
        asked = params.model_dump(**sdk.AS_SENT, include={"argument", "context"})

        async def work(heard: Heard) -> sdk.Result:
            under_way = running(crib, guest, heard)
            return result(await source.offers.complete({**asked, "ref": ref}, under_way))

        return await rounds.serve(context, work)

    return {"on_completion": complete}


def _meant(crib: Crib, guest: Guest, ref: JsonObject) -> tuple[McpSource, JsonObject]:
    """Whose argument it is, and what it belongs to there. Raises `MCPError`."""
    if ref.get("type") == "ref/prompt":
        meant = meant_prompt(crib, guest, str(ref.get("name")))
        return meant.source, {**ref, "name": meant.prompt.key}
    uri, servers = str(ref.get("uri")), seen_servers(crib, guest)
    for source in servers:
        if uri.startswith(prefix(source)):
            return source, {**ref, "uri": uri.removeprefix(prefix(source))}
    found = [
        each for each in servers if any(one.key == uri for one in each.offers.listed("templates"))
    ]
    if len(found) == 1:
        return found[0], ref
    names = ", ".join(prefix(each) + uri for each in found) or "none; list the templates first"
    raise sdk.MCPError(
        sdk.INVALID_PARAMS, f"{uri!r:.200} is not one template here; there is: {names}"
    )
