"""All tools of a server, page by page, raw, and never without end."""

from toolcrib.model import JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.bounded import TooLarge, bounded
from toolcrib.sources.mcp.known import Listing
from toolcrib.sources.mcp.tap import MOST_TOOLS, Tap

MOST_PAGES = 100
LARGEST_TOOL = 1024 * 1024
DEEPEST_TOOL = 128


async def list_tools(session: sdk.ClientSession, tap: Tap) -> Listing:
    """The listing; cut, and marked so, where it passes the caps or goes round in a circle.

    A server without tools has an empty one.
    """
    tools: list[JsonObject] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MOST_PAGES):
        cursor = await _page(session, cursor)
        tools += map(_kept, tap.take_page())
        if len(tools) > MOST_TOOLS or cursor in seen:
            break
        if cursor is None:
            return Listing(tuple(tools))
        seen.add(cursor)
    return Listing(tuple(tools[:MOST_TOOLS]), complete=False)


async def _page(session: sdk.ClientSession, cursor: str | None) -> str | None:
    """Ask for a page; returns where the next one is."""
    try:
        page = await session.list_tools(params=sdk.PaginatedRequestParams(cursor=cursor))
    except sdk.MCPError as error:
        if error.code == sdk.METHOD_NOT_FOUND:
            return None
        raise
    return page.next_cursor


def _kept(tool: JsonObject) -> JsonObject:
    """The raw tool in full; of one that is absurdly large, only its name."""
    try:
        kept = bounded(tool, deepest=DEEPEST_TOOL, largest=LARGEST_TOOL)
    except TooLarge:
        return {"name": tool.get("name")}
    return kept if isinstance(kept, dict) else {}
