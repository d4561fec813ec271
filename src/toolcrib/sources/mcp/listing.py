"""All that a server lists, page by page, raw, and never without end."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from toolcrib.model import JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.bounded import TooLarge, bounded
from toolcrib.sources.mcp.known import Listing, Offer
from toolcrib.sources.mcp.tap import MOST_TOOLS, Tap

MOST_PAGES = 100
MOST_OFFERS = 2_000
LARGEST_TOOL = 1024 * 1024
LARGEST_OFFER = 64 * 1024
DEEPEST_TOOL = 128
OFFERS_S = 5.0  # for all that are no tools: they delay a start, and must not fail it
_OFFERS: Mapping[Offer, tuple[str, str]] = {  # which capability, which key of the page
    "resources": ("resources", "resources"),
    "templates": ("resources", "resourceTemplates"),
    "prompts": ("prompts", "prompts"),
}

Ask = Callable[[str | None], Awaitable[str | None]]


async def list_all(client: sdk.Client, tap: Tap) -> Listing:
    """The listing; cut, and marked so, where it passes the caps or goes round in a circle.

    A server without tools has none. What it has beside tools is listed where it says that it has
    such; a kind whose list fails is missing, which is not to say that there are none.
    """
    pages = partial(_tools, client.session), lambda: tap.take_page("tools")
    tools, complete = await _gathered(*pages, MOST_TOOLS, LARGEST_TOOL)
    return Listing(tools, complete, await _offers(client, tap))


async def _offers(client: sdk.Client, tap: Tap) -> Mapping[str, tuple[JsonObject, ...]]:
    offers: dict[str, tuple[JsonObject, ...]] = {}
    session = client.session
    asks: Mapping[Offer, Ask] = {
        "resources": partial(_resources, session),
        "templates": partial(_templates, session),
        "prompts": partial(_prompts, session),
    }
    try:
        async with asyncio.timeout(OFFERS_S):
            for kind, (capability, key) in _OFFERS.items():
                declared = getattr(client.server_capabilities, capability) is not None
                take = partial(tap.take_page, key)
                found = await _offered(asks[kind], take) if declared else ()
                if found is not None:
                    offers[kind] = found
    except TimeoutError:
        pass  # those that were listed in time are listed
    return offers


async def _offered(
    ask: Ask, take: Callable[[], tuple[JsonObject, ...]]
) -> tuple[JsonObject, ...] | None:
    """All of one kind; None if the server fails to list them."""
    try:
        return (await _gathered(ask, take, MOST_OFFERS, LARGEST_OFFER))[0]
    except (sdk.MCPError, sdk.ValidationError):
        return None


async def _gathered(
    ask: Ask, take: Callable[[], tuple[JsonObject, ...]], most: int, largest: int
) -> tuple[tuple[JsonObject, ...], bool]:
    """What is on the pages, and whether that is all."""
    found: list[JsonObject] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MOST_PAGES):
        cursor = await _next(ask, cursor)
        found += (_kept(raw, largest) for raw in take())
        if len(found) > most or cursor in seen:
            break
        if cursor is None:
            return tuple(found), True
        seen.add(cursor)
    return tuple(found[:most]), False


async def _next(ask: Ask, cursor: str | None) -> str | None:
    """Ask for a page; returns where the next one is."""
    try:
        return await ask(cursor)
    except sdk.MCPError as error:
        if error.code == sdk.METHOD_NOT_FOUND:
            return None
        raise


async def _tools(session: sdk.ClientSession, cursor: str | None) -> str | None:
    return (await session.list_tools(params=_page(cursor))).next_cursor


async def _resources(session: sdk.ClientSession, cursor: str | None) -> str | None:
    return (await session.list_resources(params=_page(cursor))).next_cursor


async def _templates(session: sdk.ClientSession, cursor: str | None) -> str | None:
    return (await session.list_resource_templates(params=_page(cursor))).next_cursor


async def _prompts(session: sdk.ClientSession, cursor: str | None) -> str | None:
    return (await session.list_prompts(params=_page(cursor))).next_cursor


def _page(cursor: str | None) -> sdk.PaginatedRequestParams:
    return sdk.PaginatedRequestParams(cursor=cursor)


def _kept(raw: JsonObject, largest: int) -> JsonObject:
    """What was listed, in full; of one that is absurdly large, only its name.

    A tool of these has the schema that nothing fits: it cannot be called.
    """
    try:
        kept = bounded(raw, deepest=DEEPEST_TOOL, largest=largest)
    except TooLarge:
        schema = {"inputSchema": False} if "inputSchema" in raw else {}
        return {"name": raw.get("name"), **schema}
    return kept if isinstance(kept, dict) else {}
