"""The messages of LangChain: what they show, and the forms in which they carry tools to a model."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolMessage,
)

from toolcrib.adapters.wire.schemas import object_schema
from toolcrib.adapters.wire.told import told, told_beside
from toolcrib.execute.refusal import Refused
from toolcrib.execute.strict_json import NotJson, read_json
from toolcrib.model import JsonObject, Outcome, ToolInfo
from toolcrib.session.found import revealed_in
from toolcrib.session.search_tool import NAMES
from toolcrib.session.session import Session


def shown(session: Session, messages: Sequence[AnyMessage]) -> Session:
    """The session, in which is revealed what these messages show to be."""
    session.used(used(messages))
    session.see(revealed(messages))
    return session


def revealed(messages: Iterable[AnyMessage]) -> Iterator[str]:
    """The names that searches have revealed, and those that were called, in order."""
    for message in messages:
        if isinstance(message, ToolMessage) and message.status != "error":
            yield from found_in(message) if message.name in NAMES else [message.name or ""]


def referred(messages: Iterable[AnyMessage]) -> Iterator[str]:
    """The names that the results of searches have in these messages, in order."""
    for message in messages:
        yield from found_in(message)


def found_in(message: AnyMessage) -> tuple[str, ...]:
    """The names that a message reveals: one that answers a search."""
    is_search = isinstance(message, ToolMessage) and message.name in NAMES
    return revealed_in(message.text) if is_search else ()


def used(messages: Iterable[AnyMessage]) -> int:
    """The tokens that the conversation took at its longest, as far as the provider told."""
    usages = (message.usage_metadata for message in messages if isinstance(message, AIMessage))
    return max((usage["total_tokens"] for usage in usages if usage), default=0)


def with_references(messages: Iterable[AnyMessage], known: Collection[str]) -> list[AnyMessage]:
    """The messages with the results of searches as references, as Anthropic takes them.

    What a result says besides follows all results of that step: one with references holds nothing
    else, and they may not be parted from their calls.
    """
    made: list[AnyMessage] = []
    due: list[AnyMessage] = []
    for message in messages:
        if not isinstance(message, ToolMessage):
            made, due = made + due, []
        names = [name for name in found_in(message) if name in known]
        made.append(_referring(message, names) if names else message)
        if names and (besides := told_beside(Outcome(message.text))):
            due.append(HumanMessage(besides))
    return made + due


def _referring(message: AnyMessage, names: Iterable[str]) -> AnyMessage:
    blocks = [{"type": "tool_reference", "tool_name": name} for name in names]
    return message.model_copy(update={"content": blocks})


def with_additions(
    messages: Iterable[AnyMessage], definitions: Mapping[str, JsonObject]
) -> list[AnyMessage]:
    """The messages with each tool in an item of its own behind the search that found it first.

    The item stands behind all results of that step: a result may not be parted from its call.
    """
    made: list[AnyMessage] = []
    carried: set[str] = set()
    due: list[JsonObject] = []
    for message in messages:
        if not isinstance(message, ToolMessage):
            made += _addition(due)
            due = []
        made.append(message)
        new = [name for name in found_in(message) if name in definitions and name not in carried]
        carried |= set(new)
        due += [definitions[name] for name in new]
    return made + _addition(due)


def _addition(definitions: list[JsonObject]) -> list[AnyMessage]:
    item = {"type": "additional_tools", "role": "developer", "tools": definitions}
    return [SystemMessage([item])] if definitions else []


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
        told(outcome),
        name=name,
        tool_call_id=id or "",
        status="error" if outcome.error else "success",
        artifact={key: value for key, value in extras.items() if value} or None,
    )


def unreadable(message: AnyMessage) -> list[InvalidToolCall]:
    """The calls of a reply whose arguments are no JSON, and which can be answered."""
    calls = message.invalid_tool_calls if isinstance(message, AIMessage) else []
    return [call for call in calls if call["id"]]


def unreadable_answer(call: InvalidToolCall) -> ToolMessage:
    """What the model reads of a call whose arguments are no JSON."""
    name = call["name"] or ""
    message = f"the arguments of {name!r}: {_problem(call['args'] or '')}. Make the call again"
    refused = Refused("bad_arguments", "arguments", message)
    return message_of(name, call["id"], Outcome(error=refused.error))


def _problem(text: str) -> str:
    try:
        read_json(text)
    except NotJson as error:
        return str(error)
    return "not a JSON object"
