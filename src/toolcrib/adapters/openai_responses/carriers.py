"""What loads a tool that a conversation uses and nothing in it loads any more.

A definition comes with the answer to a search. Once that answer is gone, after a summary say, a
call that was kept refers to a namespace that nothing loads. So it is loaded again, before the step
that calls it: the same place in every request, so that what the provider has cached holds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, cast

from toolcrib.adapters.auto_table import Mode
from toolcrib.adapters.openai_responses.items import calls_of, carried, found_in_words, revealed
from toolcrib.adapters.openai_responses.tools import function, namespace
from toolcrib.adapters.wire.namespaces import namespace_of
from toolcrib.adapters.wire.plain import text_of
from toolcrib.model import JsonObject, ToolInfo

NATIVE: Final = frozenset({"output", "inject"})
"""The modes in which a definition comes with the items."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What the model gave at once, and what it was answered and told before it went on."""

    given: tuple[JsonObject, ...]
    answers: tuple[JsonObject, ...]


def with_carriers(
    items: Sequence[JsonObject], mode: Mode, tools: Iterable[ToolInfo]
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


def _steps(items: Sequence[JsonObject]) -> Iterator[_Step]:
    given: tuple[JsonObject, ...] = ()
    for by_client, run in groupby(items, key=_is_ours):
        if by_client:
            yield _Step(given, tuple(run))
            given = ()
        else:
            given = tuple(run)
    if given:
        yield _Step(given, ())


def _is_ours(item: JsonObject) -> bool:
    """Whether it is from our side of the conversation, and not of the model's making."""
    match item:
        case {"execution": "server"} | {"role": "assistant"}:
            return False
        case {"role": _}:
            return True
        case _:
            return text_of(item.get("type")).endswith("_output")


def _called(step: _Step) -> dict[str, str]:
    """The tools that a step calls, and the namespaces that the calls have."""
    well = set(revealed((*step.given, *step.answers)))
    calls = ((call.name, text_of(item.get("namespace"))) for item, call in calls_of(step.given))
    return {name: space for name, space in calls if space or name in well}


def _carriers(
    names: Mapping[str, str], known: Mapping[str, ToolInfo], mode: Mode, place: int
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
        spaces.setdefault(names[name] or namespace_of(tool), []).append(tool)
    loaded = [namespace(name, members) for name, members in spaces.items()]
    facts = {"execution": "client", "call_id": f"toolcrib_{place}", "status": "completed"}
    asked = {"query": f"select:{','.join(tools)}"}
    return [
        cast("JsonObject", {"type": "tool_search_call", **facts, "arguments": asked}),
        cast("JsonObject", {"type": "tool_search_output", **facts, "tools": loaded}),
    ]
