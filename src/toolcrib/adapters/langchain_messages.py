"""The messages of LangChain: what they reveal, and how they carry tools to a model."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages import ToolCall as LangChainCall

from toolcrib.adapters.wire.outcome_text import outcome_text, text_beside_loaded
from toolcrib.adapters.wire.proxy import paging_tool_in
from toolcrib.adapters.wire.reply import objects, text_of
from toolcrib.adapters.wire.tool_list import object_schema
from toolcrib.execute import CallRefused
from toolcrib.model import JsonObject, Outcome, ToolInfo
from toolcrib.session import (
    SEARCH_TOOL,
    SEARCH_TOOL_NAMES,
    Session,
    UserMessage,
    revealed_in,
)
from toolcrib.strict_json import NotJson, read_json

Shown: TypeAlias = Mapping[str, Sequence[ToolInfo]]
"""What the messages of the user have shown; see `Session.prefetched`."""


def session_after(
    session: Session, messages: Sequence[AnyMessage], *, prefetch: bool | None = None
) -> Session:
    """The session, with everything revealed that these messages show.

    `prefetch` is as `Session.see` has it. A reply whose calls have no result yet does not count for
    the length of the conversation: its request is what counts.
    """
    session.used(used(_before_reply(messages)))
    session.see(revealed(messages), prefetch=prefetch)
    return session


def said_in(message: AnyMessage) -> str:
    """What the user wrote; "" for any other message. A summary is not the user's."""
    is_user = isinstance(message, HumanMessage)
    return "" if not is_user or "lc_source" in message.additional_kwargs else message.text.strip()


def revealed(messages: Iterable[AnyMessage]) -> Iterator[str | UserMessage]:
    """The names that searches have revealed, those that were called, and what the user wrote."""
    for message in messages:
        if said := said_in(message):
            yield UserMessage(said)
        if isinstance(message, ToolMessage) and message.status != "error":
            called = (message.name or "", *paging_tool_in(message.text))
            yield from found_in(message) if message.name in SEARCH_TOOL_NAMES else called


def found_in(message: AnyMessage) -> tuple[str, ...]:
    """The names that a message reveals: one that answers a search."""
    is_search = isinstance(message, ToolMessage) and message.name in SEARCH_TOOL_NAMES
    return revealed_in(message.text) if is_search else ()


def _before_reply(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """The messages before a reply whose calls are still to be made; all if there is none."""
    for place in reversed(range(len(messages))):
        if isinstance(reply := messages[place], AIMessage):
            rest = messages[place + 1 :]
            done = {each.tool_call_id for each in rest if isinstance(each, ToolMessage)}
            waits = any(call["id"] not in done for call in reply.tool_calls)
            return messages[:place] if waits else messages
    return messages


def used(messages: Iterable[AnyMessage]) -> int:
    """The tokens of the conversation at its longest, as far as the provider reported them."""
    usages = (message.usage_metadata for message in messages if isinstance(message, AIMessage))
    return max((usage["total_tokens"] for usage in usages if usage), default=0)


def with_references(
    messages: Sequence[AnyMessage], deferred: Collection[str], shown: Shown
) -> list[AnyMessage]:
    """The messages with the results of searches as references, as Anthropic takes them.

    A result with references holds nothing else, and no message may stand between calls and results.
    So what a search says besides follows all results of its step. Before a call of a tool that
    nothing refers to any more, for example after a summary, stands a search that does; and behind a
    message of the user one for what it has shown.
    """
    sent: list[AnyMessage] = []
    for step in _steps(messages, deferred, shown):
        if step.unrevealed:
            sent += _search_for(step.unrevealed, len(sent))
        sent += [_referring(message, deferred) for message in step.messages]
        besides = (text_beside_loaded(Outcome(each.text)) for each in step.found)
        sent += [HumanMessage(text) for text in besides if text]
        if step.shown:
            sent += _search_for(step.shown, len(sent))
    return sent


def with_additions(
    messages: Sequence[AnyMessage], definitions: Mapping[str, JsonObject], shown: Shown
) -> list[AnyMessage]:
    """The messages with each tool in an item behind the search or the message that showed it first.

    The item stands behind all results of that step: no message may stand between calls and results.
    Before a call of a tool that no such item adds any more stands one that does. A call that
    another model made has no namespace, and gets the one that the API wants: the tool's name.
    """
    sent: list[AnyMessage] = []
    for step in _steps(messages, definitions, shown):
        sent += _addition(definitions[name] for name in step.unrevealed)
        sent += [_with_namespaces(message, definitions) for message in step.messages]
        sent += _addition(definitions[name] for name in (*step.new, *step.shown))
    return sent


@dataclass(frozen=True, slots=True)
class _MessageStep:
    """A message of the model with its results, or any other message alone.

    `found` are the results that reveal a tool, `new` the tools that are revealed here first,
    `unrevealed` those that are called here and that nothing has revealed before, and `shown` those
    that a message of the user shows first.
    """

    messages: tuple[AnyMessage, ...]
    found: tuple[AnyMessage, ...]
    new: tuple[str, ...]
    unrevealed: tuple[str, ...]
    shown: tuple[str, ...]


def _steps(
    messages: Sequence[AnyMessage], deferred: Collection[str], shown: Shown
) -> Iterator[_MessageStep]:
    loaded: set[str] = set()
    for run in _runs(messages):
        found = tuple(each for each in run if not set(deferred).isdisjoint(found_in(each)))
        fresh = (name for each in found for name in found_in(each))
        new = tuple(
            dict.fromkeys(name for name in fresh if name in deferred and name not in loaded)
        )
        loaded.update(new)
        names = (name for name in revealed(run) if isinstance(name, str))
        called = (name for name in names if name in deferred and name not in loaded)
        unrevealed = tuple(dict.fromkeys(called))
        loaded.update(unrevealed)
        by_user = (tool.name for each in run for tool in shown.get(said_in(each), ()))
        unasked = tuple(name for name in by_user if name in deferred and name not in loaded)
        loaded.update(unasked)
        yield _MessageStep(run, found, new, unrevealed, unasked)


def _runs(messages: Sequence[AnyMessage]) -> Iterator[tuple[AnyMessage, ...]]:
    run: list[AnyMessage] = []
    for message in messages:
        if run and not isinstance(message, ToolMessage):
            yield tuple(run)
            run = []
        run.append(message)
    if run:
        yield tuple(run)


def _search_for(names: Iterable[str], place: int) -> list[AnyMessage]:
    """A search that finds these, as a model makes it and we answer it."""
    id, listed = f"toolcrib_{place}", list(names)
    arguments = {"query": f"select:{','.join(listed)}"}
    call = {"type": "tool_call", "id": id, "name": SEARCH_TOOL.name, "args": arguments}
    found = ToolMessage(_to(listed), name=SEARCH_TOOL.name, tool_call_id=id)
    return [AIMessage("", tool_calls=[call]), found]


def _referring(message: AnyMessage, deferred: Collection[str]) -> AnyMessage:
    names = [name for name in found_in(message) if name in deferred]
    return message.model_copy(update={"content": _to(names)}) if names else message


def _to(names: Iterable[str]) -> list[str | dict[str, Any]]:
    return [{"type": "tool_reference", "tool_name": name} for name in names]


def _with_namespaces(message: AnyMessage, names: Collection[str]) -> AnyMessage:
    if not isinstance(message, AIMessage):
        return message
    blocks = message.content if isinstance(message.content, list) else []
    native_ids = {text_of(block.get(key)) for block in objects(blocks) for key in ("id", "call_id")}
    calls = (call for call in message.tool_calls if call["name"] in names)
    bare = [call for call in calls if call["id"] not in native_ids]
    if not bare:
        return message
    content = blocks or ([{"type": "text", "text": message.content}] if message.content else [])
    return message.model_copy(update={"content": [*content, *map(_function_call, bare)]})


def _function_call(call: LangChainCall) -> dict[str, Any]:
    name, arguments = call["name"], json.dumps(call["args"])
    facts = {"name": name, "namespace": name, "arguments": arguments}
    return {"type": "function_call", "call_id": call["id"], **facts}


def _addition(definitions: Iterable[JsonObject]) -> list[AnyMessage]:
    tools = list(definitions)
    item = {"type": "additional_tools", "role": "developer", "tools": tools}
    return [SystemMessage([item])] if tools else []


def function(tool: ToolInfo) -> dict[str, Any]:
    """A tool in the form that every chat model of LangChain takes."""
    return {"type": "function", "function": definition(tool)}


def definition(tool: ToolInfo) -> dict[str, Any]:
    """Name, description and parameters of a tool, under the keys of OpenAI."""
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": object_schema(tool.parameters),
    }


def message_of(name: str, id: str | None, outcome: Outcome) -> ToolMessage:
    """What the model reads; what only a program needs is the artifact."""
    extras = {
        "structured": outcome.structured,
        "handle": outcome.handle,
        "repaired": list(outcome.repaired),
    }
    return ToolMessage(
        outcome_text(outcome),
        name=name,
        tool_call_id=id or "",
        status="error" if outcome.error else "success",
        artifact={key: value for key, value in extras.items() if value} or None,
    )


def unreadable(message: AnyMessage) -> list[InvalidToolCall]:
    """The calls of a reply whose arguments are not JSON, if they can be answered."""
    calls = message.invalid_tool_calls if isinstance(message, AIMessage) else []
    return [call for call in calls if call["id"]]


def unreadable_answer(call: InvalidToolCall) -> ToolMessage:
    """What the model reads of a call whose arguments are not JSON."""
    name = call["name"] or ""
    message = f"the arguments of {name!r}: {_problem(call['args'] or '')}. Make the call again"
    refused = CallRefused("bad_arguments", "arguments", message)
    return message_of(name, call["id"], Outcome(error=refused.error))


def _problem(text: str) -> str:
    try:
        read_json(text)
    except NotJson as error:
        return str(error)
    return "not a JSON object"
