"""What the items of a conversation show, and how they are said where the wire is another."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolcrib.adapters.auto_table import Mode
from toolcrib.adapters.wire.plain import objects, plain, text_of
from toolcrib.adapters.wire.told import told_loaded
from toolcrib.model import Json, JsonObject
from toolcrib.session.found import revealed_in
from toolcrib.session.search_tool import NAME, NAMES

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
    """The names that the searches of a conversation have revealed, in its order."""
    searches: set[str] = set()
    for item in objects(list(items)):
        if item.get("type") in CARRIERS:
            yield from (name for name, _ in _members(item))
        if item.get("type") == "function_call" and item.get("name") in NAMES:
            searches.add(text_of(item.get("call_id")))
        if item.get("type") == "function_call_output" and item.get("call_id") in searches:
            yield from revealed_in(_text(item.get("output")))


def as_spoken(items: Sequence[object], mode: Mode) -> Sequence[object]:
    """The items as a mode has them; as they are, if there is nothing to change.

    With `output` a call of a loaded tool has its namespace. Elsewhere there is no search of the
    API's own: calls and results are those of a function.
    """
    read = objects(list(items))
    if mode == "output":
        spoken = list(_with_namespaces(read, carried(items)))
    else:
        spoken = [each for item in read for each in _without_search(item, mode)]
    return items if spoken == read else spoken


def _members(item: JsonObject) -> Iterator[tuple[str, str]]:
    for tool in objects(item.get("tools")):
        name = text_of(tool.get("name"))
        members = objects(tool.get("tools")) if tool.get("type") == "namespace" else [tool]
        yield from ((text_of(each.get("name")), name) for each in members)


def _with_namespaces(items: Iterable[JsonObject], known: Mapping[str, str]) -> Iterator[JsonObject]:
    """The API refuses a call of a loaded tool that does not say where it was loaded."""
    for item in items:
        name = text_of(item.get("name"))
        lost = item.get("type") == "function_call" and name in known and not item.get("namespace")
        yield {**item, "namespace": known[name]} if lost else item


def _without_search(item: JsonObject, mode: Mode) -> Iterator[JsonObject]:
    names = [name for name, _ in _members(item)] if item.get("type") in CARRIERS else []
    match item:
        case {"type": "tool_search_call", "call_id": str(id), "arguments": arguments}:
            yield _function_call(id, arguments)
        case {"type": "tool_search_output", "call_id": str(id)}:
            text = told_loaded(names) if names else "Nothing was found."
            yield {"type": "function_call_output", "call_id": id, "output": text}
            if mode == "inject" and names:
                yield {"type": "additional_tools", "role": "developer", "tools": _flat(item)}
        case {"type": "tool_search_call" | "tool_search_output"}:
            pass  # the provider's own search, which nobody can answer elsewhere
        case {"type": "additional_tools"} if mode != "inject":
            pass
        case {"type": "function_call", "namespace": _} if mode != "inject":
            yield {key: value for key, value in item.items() if key != "namespace"}
        case {"type": "function_call", "namespace": str(), "name": str(name)}:
            yield {**item, "namespace": name}
        case _:
            yield item


def _function_call(id: str, arguments: Json) -> JsonObject:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": "function_call", "call_id": id, "name": NAME, "arguments": text}


def _flat(item: JsonObject) -> list[JsonObject]:
    """The functions of an item, out of their namespaces and no longer deferred."""
    tools = objects(item.get("tools"))
    inner = [each for tool in tools for each in (objects(tool.get("tools")) or [tool])]
    return [{key: each[key] for key in each if key != "defer_loading"} for each in inner]


def _text(output: Json) -> str:
    parts = "".join(text_of(part.get("text")) for part in objects(plain(output)))
    return text_of(output) or parts
