"""What the fixed tools do: search, describe, call through the door, page through a result."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, cast

from toolcrib.errors import StoreError
from toolcrib.execute import CallRefused, is_little
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.caller_view import CallerView
from toolcrib.gateway.client_events import ClientEvents, origin_of
from toolcrib.gateway.fixed_tool_arguments import (
    ArgumentReader,
    CallRequest,
    read_call,
    read_names,
    read_search,
)
from toolcrib.gateway.fixed_tool_definitions import (
    CALL,
    CALL_READ,
    DESCRIBE,
    FIXED_TOOLS,
    MOST_NAMES,
    MOST_QUERIES,
    RESULT,
    SEARCH,
)
from toolcrib.gateway.reveal_sets import RevealSets, new_handle
from toolcrib.gateway.sdk import Context, Result
from toolcrib.gateway.tool_results import outcome_result, text_result
from toolcrib.model import Entry, EventOrigin, Json, JsonObject, Kind
from toolcrib.session import SearchResult
from toolcrib.text import most_tokens

SET_KEY: Final = "toolcrib/set"
TOOLS_KEY: Final = "toolcrib/tools"
UNAVAILABLE_KEY: Final = "toolcrib/unavailable"

Reveal: TypeAlias = Callable[[Context, SearchResult], Awaitable[None]]
"""Called with what a search found, for the request that it was made in."""

_LOST_SET = "The set that was given is not known any more; this is a new one."
TOO_MANY = f"Only the first {MOST_QUERIES} queries were looked up; search again for the rest."


class _LookUp(NamedTuple):
    """What a search found, the set it is in, and what was in that before."""

    found: SearchResult
    handle: str
    before: Mapping[str, str]
    notes: Sequence[str]
    origin: EventOrigin


class FixedTools:
    """The fixed tools of one principal. What a model says wrong raises `CallRefused`, no more."""

    def __init__(
        self, view: CallerView, sets: RevealSets, events: ClientEvents, reveal: Reveal
    ) -> None:
        self._view = view
        self._events = events
        self._reveal = reveal
        self._sets = sets
        self._arguments = ArgumentReader()

    async def run(self, name: str, given: JsonObject, channel: CallChannel) -> Result:
        """Run one of them. Raises `CallRefused`."""
        if name == SEARCH:
            return await self._search(self._checked(name, given, read_search), channel)
        if name == DESCRIBE:
            return await self._describe(self._checked(name, given, read_names))
        if name == RESULT:
            return await read_page(self._view, self._checked(name, given), channel)
        request = await _call_request(given)
        return await self._call(request, channel, read_only=name == CALL_READ)

    async def _search(self, given: JsonObject, channel: CallChannel) -> Result:
        looked = await asyncio.to_thread(self._look_up, given, channel.context)
        found, handle = looked.found, looked.handle
        await self._reveal(channel.context, found)
        budget = self._view.settings.session.answer_tokens
        text = search_text(found, handle, budget, looked.notes)
        shown = [tool.name for tool in found.tools if tool.name not in looked.before]
        self._events.shown(looked.origin, shown, text, handle)
        meta: dict[str, Json] = {SET_KEY: handle, TOOLS_KEY: [tool.name for tool in found.tools]}
        if missing := found.unavailable():
            meta[UNAVAILABLE_KEY] = missing
        return text_result(text, meta)

    def _look_up(self, given: JsonObject, context: Context) -> "_LookUp":
        """Search, and keep what was found in the set. May take a while."""
        queries = cast("Sequence[str]", given.get("queries") or ())
        limit = cast("int | None", given.get("limit"))
        kinds = cast("Sequence[Kind]", given.get("kinds") or ())
        handle = cast("str", given.get("set") or "")
        pins = self._known_pins(handle) if handle else None
        every = tuple(dict.fromkeys(queries)) or _set_query(pins or ())
        new = new_handle()
        origin = origin_of(context, new if pins is None else handle)
        found = self._view.search(every[:MOST_QUERIES], limit, kinds, origin)
        is_lost = bool(handle) and pins is None
        notes = [_LOST_SET] * is_lost + [TOO_MANY] * (len(every) > MOST_QUERIES)
        return _LookUp(found, self._remember(handle, found, new), pins or {}, notes, origin)

    def _known_pins(self, handle: str) -> Mapping[str, str] | None:
        """Those of a set; none where the store cannot tell: a search goes on with a new set."""
        try:
            return self._sets.pins(handle)
        except StoreError:
            return None

    def _remember(self, handle: str, found: SearchResult, new: str) -> str:
        """The handle of the set that has these tools; a search that found none makes no set."""
        if not found.tools and not handle:
            return ""
        return self._sets.add(handle, {tool.name: tool.pin for tool in found.tools}, new)

    async def _describe(self, given: JsonObject) -> Result:
        names = cast("Sequence[str]", given["names"])
        texts = await asyncio.to_thread(lambda: [*map(self._text_of, names[:MOST_NAMES])])
        left = len(names) - MOST_NAMES
        more = (
            [f"({left} names more than the {MOST_NAMES} that fit; ask again)"] if left > 0 else []
        )
        return text_result("\n\n".join([*texts, *more]))

    def _text_of(self, name: str) -> str:
        """All about one name. A name that the principal may not see is an unknown one."""
        outcome = self._view.read(name)
        return (
            f"# {name!r:.200}: {outcome.error.message}" if outcome.error else str(outcome.content)
        )

    async def _call(self, request: CallRequest, channel: CallChannel, *, read_only: bool) -> Result:
        entry = self._view.visible.resolve(request.name)
        if read_only and entry.permission_kind != "read":
            raise _not_read_only(entry)
        outcome = await self._view.call(
            entry,
            request.arguments,
            channel,
            origin=origin_of(channel.context, request.set),
            pin=await self._revealed_pin(entry, request.set),
            read_only=read_only,
        )
        return outcome_result(outcome, modern=channel.is_modern)

    async def _revealed_pin(self, entry: Entry, handle: str) -> str:
        """The pin that a set has of an entry; "" without a set. Raises `CallRefused`."""
        if not handle:
            return ""
        if self._sets.shows(handle, entry.name, entry.pin):
            return entry.pin
        try:
            pins = await asyncio.to_thread(self._sets.pins, handle)
        except StoreError as error:
            message = f"the set cannot be read now; try again later, or call without it: {error}"
            raise CallRefused("store_away", "state", message) from None
        if pins is None:
            message = "no set has this handle, or not any more; search again, or call without one"
            raise CallRefused("unknown_set", "state", message)
        if entry.name not in pins:
            message = f"{entry.name!r} is not in this set; search for it with the set first"
            raise CallRefused("not_revealed", "state", message)
        return pins[entry.name]

    def _checked(
        self, name: str, given: JsonObject, read: Callable[[JsonObject], JsonObject] = dict
    ) -> JsonObject:
        return self._arguments.read(FIXED_TOOLS[name], given, read)


async def read_page(view: CallerView, given: JsonObject, channel: CallChannel) -> Result:
    """A page of a long result, or of what was found in it."""
    handle, find = cast("str", given["handle"]), cast("str", given.get("find") or "")
    page = int(cast("int", given.get("page") or 1))
    outcome = await asyncio.to_thread(view.result, handle, page, find)
    return outcome_result(outcome, modern=channel.is_modern)


def search_text(found: SearchResult, handle: str, budget: int, notes: Sequence[str] = ()) -> str:
    """What was found, and how to go on."""
    hits = [hit for answer in found.answers for hit in answer]
    lines = list(notes)
    if found.tools:
        lines.append(f"Call what is [read] with `{CALL_READ}`, all else with `{CALL}`.")
    if any(hit.kind != "tool" for hit in hits):
        lines.append(f"Read a skill or an agent with `{DESCRIBE}`.")
    if handle:
        lines.append(f"set: {handle}")
    rest = "\n".join(lines)
    return f"{found.text(budget - most_tokens(rest), read='')}\n{rest}".strip()


async def _call_request(given: JsonObject) -> CallRequest:
    """Read at once if it is small: a thread would cost a small call a tenth of its time."""
    return read_call(given) if is_little(given) else await asyncio.to_thread(read_call, given)


def _set_query(names: Sequence[str] | JsonObject) -> tuple[str, ...]:
    """The query for what is in a set; the empty one, which browses, where nothing is."""
    return (f"select:{','.join(names)}",) if names else ("",)


def _not_read_only(entry: Entry) -> CallRefused:
    kind = entry.permission_kind
    message = (
        f"{entry.name!r} is [{kind}], and this tool calls what is [read] alone; use `tool_call`"
    )
    return CallRefused("not_read", "rights", message)
