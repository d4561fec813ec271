"""What the items of a conversation show, and how they are sent again.

A conversation that began in another mode is sent in the words of this one (`as_spoken`). And it may
use a tool that nothing in it loads any more: the definition came with the answer to a search, and
that answer is gone, for example after a summary. Then the tool is loaded again before the step that
calls it (`with_carriers`): at the same place in every request, so that the provider's cache holds.
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
from toolcrib.adapters.wire.reply import objects, sdk_json, text_of
from toolcrib.adapters.wire.tool_list import namespace_name
from toolcrib.adapters.wire.user_messages import said_in_items
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.session import SEARCH_TOOL, UserMessage, revealed_in

CARRIERS = ("tool_search_output", "additional_tools")
"""The items that bring definitions."""
NATIVE: Final = frozenset({"output", "inject"})
"""The modes in which a definition comes with the items."""


def carried(items: Iterable[object]) -> dict[str, str]:
    """The tools that these items define, in order, and their namespaces.

    A tool outside of any namespace has its own name for one.
    """
    found: dict[str, str] = {}
    for item in objects(list(items)):
        if item.get("type") in CARRIERS:
            found |= dict(_members(item))
    return found


def revealed(items: Iterable[object]) -> Iterator[str | UserMessage]:
    """The names that searches have revealed, those that were called, and what the user wrote."""
    read = objects(list(items))
    calls = {call.id: call for _, call in calls_of(read)}
    for item, said in zip(read, said_in_items(read), strict=True):
        if said:
            yield UserMessage(said)
        if item.get("type") in CARRIERS:
            yield from (name for name, _ in _members(item))
        if call := _answered(item, calls):
            yield from revealed_by_call(call, _text(item.get("output")))


def found_in_words(items: Iterable[JsonObject], answers: Iterable[JsonObject]) -> Iterator[str]:
    """The names that searches have found, where these answers say so as text."""
    searches = {call.id: call for _, call in calls_of(items) if call.is_search}
    for item in answers:
        if _answered(item, searches):
            yield from revealed_in(_text(item.get("output")))


def calls_of(items: Iterable[JsonObject]) -> Iterator[tuple[JsonObject, ToolCall]]:
    """The calls of functions among these items."""
    for item in items:
        match item:
            case {"type": "function_call", "call_id": str(id), "name": str(name)}:
                yield item, ToolCall(id, name, text_of(item.get("arguments")) or "{}")
            case _:
                pass


def _answered(item: JsonObject, calls: Mapping[str, ToolCall]) -> ToolCall | None:
    """The call of a function that an item answers."""
    is_answer = item.get("type") == "function_call_output"
    return calls.get(text_of(item.get("call_id"))) if is_answer else None


def as_spoken(items: Iterable[JsonObject], mode: WireMode) -> list[JsonObject]:
    """The items in the words of a mode.

    In `output` they are as they are. The other modes do not have the API's own search: its calls
    and results become those of a function.
    """
    if mode == "output":
        return list(items)
    return [each for item in items for each in _without_search(item, mode)]


def with_namespaces(items: Sequence[JsonObject], listed: Collection[str]) -> Iterator[JsonObject]:
    """The items, with the namespace on each call of a loaded tool.

    A namespace that nothing loads is taken off, unless the tool is listed in the request. The API
    refuses a call of a loaded tool without its namespace, and any other call with one.
    """
    namespaces = carried(items)
    for item in items:
        name, has_namespace = text_of(item.get("name")), bool(item.get("namespace"))
        if item.get("type") != "function_call" or has_namespace == (name in namespaces):
            yield item
        elif name in namespaces:
            yield {**item, "namespace": namespaces[name]}
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
    return {"type": "function_call", "call_id": id, "name": SEARCH_TOOL.name, "arguments": text}


def _flat(item: JsonObject) -> list[JsonObject]:
    """The functions of an item, out of their namespaces and no longer deferred."""
    tools = objects(item.get("tools"))
    inner = [each for tool in tools for each in (objects(tool.get("tools")) or [tool])]
    return [{key: each[key] for key in each if key != "defer_loading"} for each in inner]


def _text(output: Json) -> str:
    parts = "".join(text_of(part.get("text")) for part in objects(sdk_json(output)))
    return text_of(output) or parts


@dataclass(frozen=True, slots=True)
class _ItemStep:
    """The items of one reply of the model, and the items that answer it."""

    reply: tuple[JsonObject, ...]
    answers: tuple[JsonObject, ...]


def with_carriers(
    items: Sequence[JsonObject],
    mode: WireMode,
    tools: Iterable[ToolInfo],
    shown: Mapping[str, Sequence[ToolInfo]],
) -> Iterator[JsonObject]:
    """The items, with items that load those of these tools that are used and not loaded.

    A call counts if it has a namespace or did not fail: a refused call needs no definition. What a
    message of the user has shown is loaded behind it.
    """
    by_name = {tool.name: tool for tool in tools}
    said = {id(item): text for item, text in zip(items, said_in_items(items), strict=True)}
    loaded: set[str] = set()
    place = 0
    for step in _steps(items):
        loaded_here = loaded.union(carried(step.reply), carried(step.answers))
        unloaded = {name: space for name, space in _called(step).items() if name not in loaded_here}
        before = _carriers(unloaded, by_name, mode, place)
        loaded = loaded_here.union(unloaded)
        tools_shown = (tool for each in step.answers for tool in shown.get(said[id(each)], ()))
        found = (*found_in_words(items, step.answers), *(tool.name for tool in tools_shown))
        in_words = {name: "" for name in found if name not in loaded}
        behind = _carriers(in_words, by_name, mode, place + len(step.reply) + 1)
        loaded.update(in_words)
        step_items = [*before, *step.reply, *step.answers, *behind]
        place += len(step_items)
        yield from step_items


def _steps(items: Sequence[JsonObject]) -> Iterator[_ItemStep]:
    reply: tuple[JsonObject, ...] = ()
    for by_client, run in groupby(items, key=_is_ours):
        if by_client:
            yield _ItemStep(reply, tuple(run))
            reply = ()
        else:
            reply = tuple(run)
    if reply:
        yield _ItemStep(reply, ())


def _is_ours(item: JsonObject) -> bool:
    """Whether an item is from our side of the conversation, and not the model's."""
    match item:
        case {"execution": "server"} | {"role": "assistant"}:
            return False
        case {"role": _}:
            return True
        case _:
            return text_of(item.get("type")).endswith("_output")


def _called(step: _ItemStep) -> dict[str, str]:
    """The tools that a step calls, and the namespaces that the calls have."""
    well = {*revealed((*step.reply, *step.answers))}
    calls = ((call.name, text_of(item.get("namespace"))) for item, call in calls_of(step.reply))
    return {name: space for name, space in calls if space or name in well}


def _carriers(
    names: Mapping[str, str], by_name: Mapping[str, ToolInfo], mode: WireMode, place: int
) -> list[JsonObject]:
    tools = {name: by_name[name] for name in names if name in by_name}
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
    arguments = {"query": f"select:{','.join(tools)}"}
    return [
        cast("JsonObject", {"type": "tool_search_call", **facts, "arguments": arguments}),
        cast("JsonObject", {"type": "tool_search_output", **facts, "tools": loaded}),
    ]
