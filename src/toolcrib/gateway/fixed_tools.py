"""What the fixed tools do: search, describe, call through the door, page through a result."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from toolcrib.execute import ArgumentCheck, CallRefused
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.caller_view import CallerView
from toolcrib.gateway.fixed_tool_arguments import CallRequest, read_call, read_names, read_search
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
from toolcrib.gateway.reveal_sets import RevealSets
from toolcrib.gateway.sdk import Result
from toolcrib.gateway.tool_results import outcome_result, text_result
from toolcrib.model import Entry, Json, JsonObject, Kind
from toolcrib.session import SearchResult
from toolcrib.text import NotJson, check_json_size, most_tokens


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


# What the fixed tools do. All of it ends at the door, or tells what the principal may see.

SET_KEY: Final = "toolcrib/set"
TOOLS_KEY: Final = "toolcrib/tools"
UNAVAILABLE_KEY: Final = "toolcrib/unavailable"

MOST_VALUES = 1_000
MOST_CHARACTERS = 64 * 1024
"""Of what a fixed tool is asked itself; what it hands on is the door's to bound."""

_LOST_SET = "The set that was given is not known any more; this is a new one."
_TOO_MANY = f"Only the first {MOST_QUERIES} queries were looked up; search again for the rest."


def _ignore(_found: SearchResult) -> None:
    pass


@dataclass(frozen=True, slots=True)
class FrontRequest:
    """How the front request came: its era, who listens, who hears of what a search found."""

    heard: CallChannel
    modern: bool = False
    found: Callable[[SearchResult], None] = _ignore


class FixedTools:
    """The fixed tools of one principal. What a model says wrong raises `CallRefused`, no more."""

    def __init__(self, side: CallerView, sets: RevealSets) -> None:
        self._side = side
        self._sets = sets
        self._check = ArgumentCheck()

    async def run(self, name: str, given: JsonObject, asking: FrontRequest) -> Result:
        """Run one of them. Raises `CallRefused`."""
        if name == SEARCH:
            return await self._search(self._checked(name, given, read_search), asking)
        if name == DESCRIBE:
            return await self._describe(self._checked(name, given, read_names))
        if name == RESULT:
            return await self._page(self._checked(name, given), asking)
        wanted = await asyncio.to_thread(read_call, given)
        return await self._call(wanted, asking, read_only=name == CALL_READ)

    async def _search(self, given: JsonObject, asking: FrontRequest) -> Result:
        queries = cast("Sequence[str]", given.get("queries") or ())
        limit = cast("int | None", given.get("limit"))
        kinds = cast("Sequence[Kind]", given.get("kinds") or ())
        handle = cast("str", given.get("set") or "")
        known = self._sets.pins(handle) if handle else None
        asked = tuple(dict.fromkeys(queries)) or _set_query(known or ())
        found = await asyncio.to_thread(self._side.search, asked[:MOST_QUERIES], limit, kinds)
        lost = bool(handle) and known is None
        notes = [_LOST_SET] * lost + [_TOO_MANY] * (len(asked) > MOST_QUERIES)
        handle = self._remembered(handle, found)
        asking.found(found)
        text = search_text(found, handle, self._side.settings.session.answer_tokens, notes)
        meta: dict[str, Json] = {SET_KEY: handle, TOOLS_KEY: [tool.name for tool in found.tools]}
        if missing := found.unavailable():
            meta[UNAVAILABLE_KEY] = missing
        return text_result(text, meta)

    def _remembered(self, handle: str, found: SearchResult) -> str:
        """The handle of the set that has all this; a search that found no tool makes none."""
        if not found.tools and not handle:
            return ""
        return self._sets.add(handle, {tool.name: tool.pin for tool in found.tools})

    async def _describe(self, given: JsonObject) -> Result:
        names = cast("Sequence[str]", given["names"])
        texts = await asyncio.to_thread(lambda: [self._told(name) for name in names[:MOST_NAMES]])
        left = len(names) - MOST_NAMES
        more = (
            [f"({left} names more than the {MOST_NAMES} that fit; ask again)"] if left > 0 else []
        )
        return text_result("\n\n".join([*texts, *more]))

    def _told(self, name: str) -> str:
        """All about one name; of one that the principal may not see, that there is none."""
        outcome = self._side.read(name)
        return (
            f"# {name!r:.200}: {outcome.error.message}" if outcome.error else str(outcome.content)
        )

    async def _call(self, wanted: CallRequest, asking: FrontRequest, *, read_only: bool) -> Result:
        entry = self._side.visible.resolve(wanted.name)
        if read_only and entry.capability.permission_kind != "read":
            raise _not_read_only(entry)
        outcome = await self._side.call(
            entry,
            wanted.arguments,
            pin=self._shown(entry, wanted.set),
            read_only=read_only,
            heard=asking.heard,
        )
        return outcome_result(outcome, modern=asking.modern)

    def _shown(self, entry: Entry, handle: str) -> str:
        """The pin that a set has of an entry; "" without a set. Raises `CallRefused`."""
        if not handle:
            return ""
        pins = self._sets.pins(handle)
        if pins is None:
            message = "no set has this handle, or not any more; search again, or call without one"
            raise CallRefused("unknown_set", "state", message)
        if entry.name not in pins:
            message = f"{entry.name!r} is not in this set; search for it with the set first"
            raise CallRefused("not_revealed", "state", message)
        return pins[entry.name]

    async def _page(self, given: JsonObject, asking: FrontRequest) -> Result:
        handle, find = cast("str", given["handle"]), cast("str", given.get("find") or "")
        page = int(cast("int", given.get("page") or 1))
        outcome = await asyncio.to_thread(self._side.result, handle, page, find)
        return outcome_result(outcome, modern=asking.modern)

    def _checked(
        self, name: str, given: JsonObject, read: Callable[[JsonObject], JsonObject] = dict
    ) -> JsonObject:
        """The arguments as they are meant. Within these bounds the check takes a moment."""
        tool = FIXED_TOOLS[name]
        try:
            check_json_size(given, most_values=MOST_VALUES, most_characters=MOST_CHARACTERS)
        except NotJson as error:
            message = f"the arguments of {name!r}: {error}"
            raise CallRefused(
                "bad_arguments", "arguments", message, schema=tool.parameters
            ) from None
        return self._check.check(tool, read(given)).arguments


def _set_query(names: Sequence[str] | JsonObject) -> tuple[str, ...]:
    """The query for what is in a set; the empty one, which browses, where nothing is."""
    return (f"select:{','.join(names)}",) if names else ("",)


def _not_read_only(entry: Entry) -> CallRefused:
    kind = entry.capability.permission_kind
    message = (
        f"{entry.name!r} is [{kind}], and this tool calls what is [read] alone; use `tool_call`"
    )
    return CallRefused("not_read", "rights", message)
