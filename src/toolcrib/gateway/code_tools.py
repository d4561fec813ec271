"""What the fixed tools of the mode `code` do: search for functions, run a program, read on."""

import asyncio
from collections.abc import Sequence
from typing import cast

from toolcrib.execute import CallRefused
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.caller_view import CallerView
from toolcrib.gateway.client_events import ClientEvents, origin_of
from toolcrib.gateway.code_tool_definitions import CODE_TOOLS, RUN
from toolcrib.gateway.fixed_tool_arguments import ArgumentReader, read_search
from toolcrib.gateway.fixed_tool_definitions import MOST_QUERIES, SEARCH
from toolcrib.gateway.fixed_tools import TOO_MANY, UNAVAILABLE_KEY, read_page
from toolcrib.gateway.sdk import Result
from toolcrib.gateway.tool_results import outcome_result, program_result, text_result
from toolcrib.model import JsonObject
from toolcrib.session import RunRequest, read_run, stub_text
from toolcrib.text import most_tokens

FUNCTIONS_KEY = "toolcrib/functions"

_MAY_NOT_RUN = "this caller may search, and not run programs; ask the operator for it"


class CodeTools:
    """The tools of one principal. What a model says wrong raises `CallRefused`, no more."""

    def __init__(self, view: CallerView, events: ClientEvents) -> None:
        self._view = view
        self._events = events
        self._arguments = ArgumentReader()

    async def run(self, name: str, given: JsonObject, channel: CallChannel) -> Result:
        """Run one of them. Raises `CallRefused`."""
        tool = CODE_TOOLS[name]
        if name == SEARCH:
            return await self._search(self._arguments.read(tool, given, read_search), channel)
        if name == RUN:
            return await self._run(self._arguments.read(tool, given, read_run), channel)
        return await read_page(self._view, self._arguments.read(tool, given), channel)

    async def _search(self, given: JsonObject, channel: CallChannel) -> Result:
        if read := cast("str", given.get("read") or ""):
            outcome = await asyncio.to_thread(self._view.read, read)
            return outcome_result(outcome, modern=channel.is_modern)
        return await asyncio.to_thread(self._found, given, channel)

    def _found(self, given: JsonObject, channel: CallChannel) -> Result:
        """Search, and tell the functions that were found. May take a while."""
        queries = tuple(dict.fromkeys(cast("Sequence[str]", given.get("queries") or ("",))))
        origin = origin_of(channel.context)
        found = self._view.search(queries[:MOST_QUERIES], origin=origin)
        functions = self._view.signatures(found)
        note = TOO_MANY if len(queries) > MOST_QUERIES else ""
        budget = self._view.settings.session.answer_tokens - most_tokens(note)
        text = f"{stub_text(found, functions, budget)}\n{note}".strip()
        self._events.shown(origin, list(functions), text, "")
        paths = [signature.path for signature in functions.values()]
        missing = found.unavailable()
        return text_result(
            text, {FUNCTIONS_KEY: paths, **({UNAVAILABLE_KEY: missing} if missing else {})}
        )

    async def _run(self, given: JsonObject, channel: CallChannel) -> Result:
        if not self._view.principal.may_call:
            raise CallRefused("not_allowed", "rights", _MAY_NOT_RUN)
        asked, origin = RunRequest.of(given), origin_of(channel.context)
        if asked.handle:
            outcome = await self._view.resume(asked.handle, channel, origin)
        else:
            outcome = await self._view.run(asked.program, channel, origin)
            purpose = cast("str", given.get("propose") or "")
            if purpose and outcome.ok:
                await asyncio.to_thread(self._view.propose, asked.program, purpose)
        return program_result(outcome, modern=channel.is_modern)
