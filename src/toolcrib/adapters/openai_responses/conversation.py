"""What the items of a conversation show, and what of them can be sent again.

Where the wire is another, items are said otherwise. And what loads a tool may be missing: a
definition comes with the answer to a search. Once that answer is gone, after a summary say, a call
that was kept refers to a namespace that nothing loads. So it is loaded again, before the step that
calls it: the same place in every request, so that what the provider has cached holds.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, cast

from toolcrib.adapters.auto_table import WireMode
from toolcrib.adapters.openai_responses.tools import function, namespace
from toolcrib.adapters.wire.calls import ToolCall
from toolcrib.adapters.wire.outcome_text import loaded_text
from toolcrib.adapters.wire.proxy import revealed_by_call
from toolcrib.adapters.wire.reply import objects, plain_json, text_of
from toolcrib.adapters.wire.tool_list import namespace_name
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.session import SEARCH_TOOL_NAME, revealed_in

CARRIERS = ("tool_search_output", "additional_tools")
SEARCHES = ("tool_search_call", "tool_search_output")


def carried(items: Iterable[object]) -> dict[str, str]:
    """The tools whose definitions lie in these items, in their order, and their namespaces.

    One that stands there alone has its own name for a namespace.
    """
    found: dict[str, str] = {}
    for item in objects(list(items)):
        if item.get("type") in CARRIERS:
            found |= dict(_members(item))
    return found


def revealed(items: Iterable[object]) -> Iterator[str]:
    """The names that searches have revealed, and those that were called, in order."""
    read = objects(list(items))
    asked = {call.id: call for _, call in calls_of(read)}
    for item in read:
        if item.get("type") in CARRIERS:
            yield from (name for name, _ in _members(item))
        if call := _answered(item, asked):
            yield from revealed_by_call(call, _text(item.get("output")))


def found_in_words(items: Iterable[JsonObject], answers: Iterable[JsonObject]) -> Iterator[str]:
    """The names that searches among the items have found, where these answers say so in words."""
    asked = {call.id: call for _, call in calls_of(items) if call.is_search}
    for item in answers:
        if _answered(item, asked):
            yield from revealed_in(_text(item.get("output")))


def calls_of(items: Iterable[JsonObject]) -> Iterator[tuple[JsonObject, ToolCall]]:
    """The calls of functions among these items."""
    for item in items:
        match item:
            case {"type": "function_call", "call_id": str(id), "name": str(name)}:
                yield item, ToolCall(id, name, text_of(item.get("arguments")) or "{}")
            case _:
                pass


def _answered(item: JsonObject, asked: Mapping[str, ToolCall]) -> ToolCall | None:
    """The call of a function that an item answers."""
    is_answer = item.get("type") == "function_call_output"
    return asked.get(text_of(item.get("call_id"))) if is_answer else None


def as_spoken(items: Iterable[JsonObject], mode: WireMode) -> list[JsonObject]:
    """The items as a mode has them.

    With `output` that is as they are. Elsewhere there is no search of the API's own: calls and
    results are those of a function.
    """
    if mode == "output":
        return list(items)
    return [each for item in items for each in _without_search(item, mode)]


def with_namespaces(items: Sequence[JsonObject], listed: Collection[str]) -> Iterator[JsonObject]:
    """The items, in which a call of a loaded tool has its namespace.

    A call that has one which nothing loads loses it, unless the tool is listed in the request. The
    API refuses the first without, and the second with it.
    """
    known = carried(items)
    for item in items:
        name, has = text_of(item.get("name")), bool(item.get("namespace"))
        if item.get("type") != "function_call" or has == (name in known):
            yield item
        elif name in known:
            yield {**item, "namespace": known[name]}
        else:
            yield item if name in listed else _without_namespace(item)


def _without_namespace(item: JsonObject) -> JsonObject:
    return {key: value for key, value in item.items() if key != "namespace"}


def _members(item: JsonObject) -> Iterator[tuple[str, str]]:
    for tool in objects(item.get("tools")):
        name = text_of(tool.get("name"))
        members = objects(tool.get("tools")) if tool.get("type") == "namespace" else [tool]
        yield from ((text_of(each.get("name")), name) for each in members)


def _without_search(item: JsonObject, mode: WireMode) -> Iterator[JsonObject]:
    names = [name for name, _ in _members(item)] if item.get("type") in CARRIERS else []
    match item:
        case {"type": "tool_search_call", "call_id": str(id), "arguments": arguments}:
            yield _function_call(id, arguments)
        case {"type": "tool_search_output", "call_id": str(id)}:
            text = loaded_text(names) if names else "Nothing was found."
            yield {"type": "function_call_output", "call_id": id, "output": text}
            if mode == "inject" and names:
                yield {"type": "additional_tools", "role": "developer", "tools": _flat(item)}
        case {"type": "tool_search_call" | "tool_search_output"}:
            pass  # the provider's own search, which nobody can answer elsewhere
        case {"type": "additional_tools"} if mode != "inject":
            pass
        case {"type": "function_call", "namespace": _} if mode != "inject":
            yield _without_namespace(item)
        case {"type": "function_call", "namespace": str(), "name": str(name)}:
            yield {**item, "namespace": name}
        case _:
            yield item


def _function_call(id: str, arguments: Json) -> JsonObject:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": "function_call", "call_id": id, "name": SEARCH_TOOL_NAME, "arguments": text}


def _flat(item: JsonObject) -> list[JsonObject]:
    """The functions of an item, out of their namespaces and no longer deferred."""
    tools = objects(item.get("tools"))
    inner = [each for tool in tools for each in (objects(tool.get("tools")) or [tool])]
    return [{key: each[key] for key in each if key != "defer_loading"} for each in inner]


def _text(output: Json) -> str:
    parts = "".join(text_of(part.get("text")) for part in objects(plain_json(output)))
    return text_of(output) or parts


# What loads a tool that a conversation uses and nothing in it loads any more.

NATIVE: Final = frozenset({"output", "inject"})
"""The modes in which a definition comes with the items."""


@dataclass(frozen=True, slots=True)
class _ItemStep:
    """What the model gave at once, and what it was answered and told before it went on."""

    given: tuple[JsonObject, ...]
    answers: tuple[JsonObject, ...]


def with_carriers(
    items: Sequence[JsonObject], mode: WireMode, tools: Iterable[ToolInfo]
) -> Iterator[JsonObject]:
    """The items, and what loads these tools where nothing does that is there.

    A call counts if it has a namespace or has not failed: one that was refused loads nothing.
    """
    known = {tool.name: tool for tool in tools}
    loaded: set[str] = set()
    place = 0
    for step in _steps(items):
        soon = loaded.union(carried(step.given), carried(step.answers))
        lost = {name: space for name, space in _called(step).items() if name not in soon}
        before = _carriers(lost, known, mode, place)
        loaded = soon.union(lost)
        told = {name: "" for name in found_in_words(items, step.answers) if name not in loaded}
        behind = _carriers(told, known, mode, place + len(step.given) + 1)
        loaded.update(told)
        made = [*before, *step.given, *step.answers, *behind]
        place += len(made)
        yield from made


def _steps(items: Sequence[JsonObject]) -> Iterator[_ItemStep]:
    given: tuple[JsonObject, ...] = ()
    for by_client, run in groupby(items, key=_is_ours):
        if by_client:
            yield _ItemStep(given, tuple(run))
            given = ()
        else:
            given = tuple(run)
    if given:
        yield _ItemStep(given, ())


def _is_ours(item: JsonObject) -> bool:
    """Whether it is from our side of the conversation, and not of the model's making."""
    match item:
        case {"execution": "server"} | {"role": "assistant"}:
            return False
        case {"role": _}:
            return True
        case _:
            return text_of(item.get("type")).endswith("_output")


def _called(step: _ItemStep) -> dict[str, str]:
    """The tools that a step calls, and the namespaces that the calls have."""
    well = set(revealed((*step.given, *step.answers)))
    calls = ((call.name, text_of(item.get("namespace"))) for item, call in calls_of(step.given))
    return {name: space for name, space in calls if space or name in well}


def _carriers(
    names: Mapping[str, str], known: Mapping[str, ToolInfo], mode: WireMode, place: int
) -> list[JsonObject]:
    tools = {name: known[name] for name in names if name in known}
    if not tools:
        return []
    if mode == "inject":
        flat = [function(tool) for tool in tools.values()]
        return [
            cast("JsonObject", {"type": "additional_tools", "role": "developer", "tools": flat})
        ]
    spaces: dict[str, list[ToolInfo]] = {}
    for name, tool in tools.items():
        spaces.setdefault(names[name] or namespace_name(tool), []).append(tool)
    loaded = [namespace(name, members) for name, members in spaces.items()]
    facts = {"execution": "client", "call_id": f"toolcrib_{place}", "status": "completed"}
    asked = {"query": f"select:{','.join(tools)}"}
    return [
        cast("JsonObject", {"type": "tool_search_call", **facts, "arguments": asked}),
        cast("JsonObject", {"type": "tool_search_output", **facts, "tools": loaded}),
    ]
