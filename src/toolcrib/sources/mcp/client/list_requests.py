"""`tools/list`, `resources/list`, `prompts/list`: all pages, raw, within bounds.

A listing is bounded as a whole, as well as page by page and tool by tool. Of all listings under way
only a few may be large at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

from toolcrib.model import JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.listing import OfferKind, ServerListing
from toolcrib.sources.mcp.sanitize import TooLarge, measured_json
from toolcrib.sources.mcp.transport.tap import Tap

MOST_PAGES = 1_000  # of cursors without end; all pages have the time of one listing
MOST_OFFERS = 2_000
LARGEST_LISTING = 64 * 1024 * 1024  # all pages and kinds together; the cache takes a little more
LARGE = 256 * 1024  # a listing that is larger waits for one of the slots for large ones
LARGEST_TOOL = 1024 * 1024
LARGEST_OFFER = 64 * 1024
DEEPEST_TOOL = 128
OFFERS_S = 5.0  # for resources and prompts: they delay a start, and must not fail it
_OFFERS: Mapping[OfferKind, tuple[str, str]] = {  # which capability, which key of the page
    "resources": ("resources", "resources"),
    "templates": ("resources", "resourceTemplates"),
    "prompts": ("prompts", "prompts"),
}

PageRequest = Callable[[str | None], Awaitable[str | None]]


class ListAllowance:
    """How many bytes one listing may still take. `large` are the slots of all large listings."""

    def __init__(self, large: asyncio.Semaphore) -> None:
        self._large = large
        self._taken = 0
        self._has_slot = False

    async def take(self, size: int) -> bool:
        """Whether so many more bytes are within the bounds; may wait until others are done."""
        self._taken += size
        if self._taken > LARGE and not self._has_slot:
            await self._large.acquire()
            self._has_slot = True
        return self._taken <= LARGEST_LISTING

    def leave(self) -> None:
        """Give the slot back, if it has one."""
        if self._has_slot:
            self._large.release()


async def list_all(client: sdk.Client, tap: Tap, large: asyncio.Semaphore) -> ServerListing:
    """The listing. It is cut, and marked so, if it passes the limits or its cursors repeat.

    Resources and prompts are listed if the server declares them. A kind that it fails to list is
    missing, which is not the same as an empty list.
    """
    pages = partial(_tools, client.session), lambda: tap.take_page("tools")
    allowance = ListAllowance(large)
    try:
        tools, complete = await _all_pages(*pages, None, LARGEST_TOOL, allowance)
        return ServerListing(tools, complete, await _offers(client, tap, allowance))
    finally:
        allowance.leave()


async def _offers(
    client: sdk.Client, tap: Tap, allowance: ListAllowance
) -> Mapping[str, tuple[JsonObject, ...]]:
    offers: dict[str, tuple[JsonObject, ...]] = {}
    session = client.session
    asks: Mapping[OfferKind, PageRequest] = {
        "resources": partial(_resources, session),
        "templates": partial(_templates, session),
        "prompts": partial(_prompts, session),
    }
    try:
        async with asyncio.timeout(OFFERS_S):
            for kind, (capability, key) in _OFFERS.items():
                declared = getattr(client.server_capabilities, capability) is not None
                take = partial(tap.take_page, key)
                found = await _offers_of_kind(asks[kind], take, allowance) if declared else ()
                if found is not None:
                    offers[kind] = found
    except TimeoutError:
        pass  # what came in time is listed
    return offers


async def _offers_of_kind(
    ask: PageRequest, take: Callable[[], tuple[JsonObject, ...]], allowance: ListAllowance
) -> tuple[JsonObject, ...] | None:
    """All of one kind; None if the server fails to list them."""
    try:
        return (await _all_pages(ask, take, MOST_OFFERS, LARGEST_OFFER, allowance))[0]
    except (sdk.MCPError, sdk.ValidationError):
        return None


async def _all_pages(
    ask: PageRequest,
    take: Callable[[], tuple[JsonObject, ...]],
    most: int | None,
    largest: int,
    allowance: ListAllowance,
) -> tuple[tuple[JsonObject, ...], bool]:
    """The items of all pages, and whether they are all that there are."""
    found: list[JsonObject] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MOST_PAGES):
        cursor = await _next_cursor(ask, cursor)
        page, size = await asyncio.to_thread(_bounded_page, take(), largest)
        if not await allowance.take(size):
            break
        found += page
        if (most and len(found) > most) or cursor in seen:
            break
        if cursor is None:
            return tuple(found), True
        seen.add(cursor)
    return tuple(found[:most]), False


async def _next_cursor(ask: PageRequest, cursor: str | None) -> str | None:
    """Request a page; the cursor of the next one, if there is one."""
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


def _bounded_page(page: Iterable[JsonObject], largest: int) -> tuple[list[JsonObject], int]:
    """The items and their size. Called in a thread: a large page takes a while."""
    items = [_bounded_item(raw, largest) for raw in page]
    return [item for item, _ in items], sum(size for _, size in items)


def _bounded_item(raw: JsonObject, largest: int) -> tuple[JsonObject, int]:
    """The item and its size; of one that is too large, only its name.

    Such a tool gets a schema that no arguments fit, so that it cannot be called.
    """
    try:
        item, size = measured_json(raw, deepest=DEEPEST_TOOL, largest=largest)
    except TooLarge:
        schema = {"inputSchema": False} if "inputSchema" in raw else {}
        return {"name": raw.get("name"), **schema}, largest
    return (item if isinstance(item, dict) else {}), size
