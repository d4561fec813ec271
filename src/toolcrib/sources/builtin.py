"""Tools that are Python functions in this process."""

import asyncio
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

from pydantic import TypeAdapter

from toolcrib.errors import BadArguments, NameTaken, UnknownTool
from toolcrib.model import Call, CallError, Json, Outcome, Running, SourceKind, State, ToolInfo
from toolcrib.sources.deadline import LATE, left_s
from toolcrib.sources.function import Function, ToolFacts, function_from, with_facts
from toolcrib.sources.threads import in_thread
from toolcrib.text.nearest import nearest

_ANYTHING = TypeAdapter(object)


class BuiltinSource:
    """Holds functions, by name, in the order in which they were added.

    `links` says of each declared link, from a tool to a name, where it was declared.
    """

    kind: SourceKind = "builtin"
    problems: tuple[str, ...] = ()

    def __init__(self, id: str | None = None) -> None:
        self.id = id
        self.links: dict[tuple[str, str], str] = {}
        self._functions: dict[str, Function] = {}

    def add(self, fn: Callable[..., object], **facts: Unpack[ToolFacts]) -> ToolInfo:
        """Add one function. Raises `NameTaken`, and `DeclarationError` as `tool_from` does."""
        return self.put(function_from(fn, **facts))

    def put(self, function: Function) -> ToolInfo:
        """Add one function that was read before. Raises `NameTaken`."""
        name = function.info.name
        if name in self._functions:
            raise NameTaken(f"there is a tool {name!r} here; add this one with another name=")
        return self._keep(replace(function.info, source_id=self.id), function)

    def amend(self, name: str, /, **facts: Unpack[ToolFacts]) -> ToolInfo:
        """Put new facts in place of those of a tool that is here; its name stays.

        Raises `UnknownTool`.
        """
        function = self._function(name)
        return self._keep(replace(with_facts(function.info, **facts), name=name), function)

    def remove(self, name: str) -> None:
        """Take one tool away. Raises `UnknownTool`."""
        del self._functions[self._function(name).info.name]

    def capabilities(self) -> Sequence[ToolInfo]:
        """All tools, in the order in which they were added."""
        return tuple(function.info for function in self._functions.values())

    def state(self, name: str) -> State:
        """A function in this process is always ready. Raises `UnknownTool`."""
        self._function(name)
        return "ready"

    async def call(self, call: Call, running: Running) -> Outcome:
        """Run one function: on the loop if it is async, else in a thread, so that it may wait.

        A thread cannot be stopped: at the deadline, or when it is cancelled, nobody waits any more.
        """
        function = self._function(call.name)
        try:
            bound = function.signature.bind(call.arguments)
        except BadArguments as error:
            raise BadArguments(f"{call.name}: {error}") from None
        return await _outcome(partial(function.run, *bound.by_position, **bound.by_name), running)

    def _keep(self, info: ToolInfo, function: Function) -> ToolInfo:
        self._functions[info.name] = replace(function, info=info)
        return info

    def _function(self, name: str) -> Function:
        if name not in self._functions:
            near = nearest(name, list(self._functions))
            nearby = f" Nearest: {', '.join(near)}." if near else ""
            raise UnknownTool(f"no tool {name!r} here; search for it first.{nearby}")
        return self._functions[name]


async def _outcome(run: Callable[[], object], running: Running) -> Outcome:
    limit = asyncio.timeout(left_s(running))
    try:
        async with limit:
            result = await _result(run)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its outcome
        return Outcome(error=LATE if limit.expired() else _failure("tool_failed", _told(error)))
    try:
        return Outcome(_as_json(result))
    except ValueError as error:
        lost = f"the tool ran, but its result cannot be written as JSON: {_told(error)}"
        return Outcome(error=_failure("bad_result", lost))


async def _result(run: Callable[[], object]) -> object:
    if inspect.iscoroutinefunction(run):
        return await run()
    result = await in_thread(run)
    return await result if inspect.isawaitable(result) else result


def _failure(code: str, message: str) -> CallError:
    return CallError(code, "call", message, effect="failed")


def _as_json(result: object) -> Json:
    """Through text and back: what comes out is JSON and nothing else; NaN and infinity are null."""
    return json.loads(_ANYTHING.dump_json(result))


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
