"""What the scripted model knows of one provider: its API, and how a step becomes a call."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, cast

from toolcrib.model import Json, JsonObject
from toolcrib.session import SEARCH_TOOL
from toolcrib.testing.script import CallTool, SearchTools, Step

PROXY = "call_tool"


class ApiRefusal(Exception):
    """The provider would not take this request, or the script cannot be played here."""


class ProviderApi(Protocol):
    """The API of one provider: it checks a request as the provider does, and answers as it does."""

    def is_for(self, path: str) -> bool:
        """Whether requests to this path are this provider's."""
        ...

    def streams(self, path: str, body: JsonObject) -> bool:
        """Whether a request wants its reply as a stream."""
        ...

    def sees(self, body: JsonObject) -> Mapping[str, str]:
        """The tools that the model can call, each with how: a word of this API alone.

        `hosted` is the provider's own search. Raises `ApiRefusal`.
        """
        ...

    def reply(self, body: JsonObject, steps: Sequence[Step], turn: int) -> JsonObject:
        """The reply in which the model does these steps. Raises `ApiRefusal`."""
        ...

    def events(self, reply: JsonObject) -> Iterable[JsonObject | str]:
        """The same reply as the events of a stream, in order."""
        ...

    def error(self, message: str) -> JsonObject:
        """A refusal, as this provider words it."""
        ...


def call_of(step: SearchTools | CallTool, visible: Mapping[str, str]) -> CallTool:
    """The call that a step makes, with these tools listed. Raises `ApiRefusal`.

    Where a tool is not listed but the proxy tool is, the call goes through the proxy tool.
    """
    if isinstance(step, SearchTools):
        step = CallTool(SEARCH_TOOL.name, {"query": step.query})
    if step.name in visible or step.guess:
        return step
    if PROXY in visible and step.name != SEARCH_TOOL.name:
        inner: Json = step.arguments if isinstance(step.arguments, str) else {**step.arguments}
        return CallTool(PROXY, {"name": step.name, "arguments": inner})
    raise ApiRefusal(f"the scripted model cannot call {step.name!r}: it sees {', '.join(visible)}")


def arguments_of(call: CallTool) -> dict[str, Json]:
    """The arguments of a call, where the provider has them as an object. Raises `ApiRefusal`."""
    if isinstance(call.arguments, str):
        raise ApiRefusal(f"the arguments of {call.name!r} are an object on this wire")
    return {**call.arguments}


def arguments_text(call: CallTool) -> str:
    """The arguments of a call, where the provider has them as text."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def objects(value: Json) -> list[JsonObject]:
    """The objects of a list, or of none."""
    if not isinstance(value, list):
        return []
    return [cast("JsonObject", each) for each in value if isinstance(each, dict)]


def object_of(value: Json) -> JsonObject:
    """An object, or an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def text_of(value: Json) -> str:
    """The value if it is text, else empty text."""
    return value if isinstance(value, str) else ""


def refuse(problem: str, *, when: bool) -> None:
    """Raises `ApiRefusal` when something holds."""
    if when:
        raise ApiRefusal(problem)


def once_each(names: Iterable[str], problem: str) -> None:
    """Raises `ApiRefusal` with the first name that comes twice."""
    seen: set[str] = set()
    for name in names:
        refuse(problem.format(name), when=name in seen)
        seen.add(name)
