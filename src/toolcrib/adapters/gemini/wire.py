"""Gemini: revealed tools join the function declarations, or are called through the proxy tool.

    wire = GeminiWire(session)
    reply = await client.aio.models.generate_content(model=model, **wire.request(contents))
    contents.append(reply.candidates[0].content)
    contents += await wire.results(reply)       # nothing once the model has made no call

Gemini cannot defer tools. With an explicit cache, the tools are part of the cache and cannot
change: there the proxy tool is used, and `cached_tools` go into the cache.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, TypedDict, cast

from google.genai import types

from toolcrib.adapters.auto import ProviderWire
from toolcrib.adapters.gemini.reply import calls_of, tokens_of
from toolcrib.adapters.gemini.schema import gemini_schema
from toolcrib.adapters.wire.calls import ToolCall, make_calls
from toolcrib.adapters.wire.outcome_text import outcome_text, prefetched_text
from toolcrib.adapters.wire.proxy import (
    proxy_tools,
    revealed_by_call,
    unwrap_proxy_call,
)
from toolcrib.adapters.wire.reply import objects, sdk_json, text_of
from toolcrib.adapters.wire.tool_list import tools_within_limit
from toolcrib.api_arguments import check, several
from toolcrib.execute import Approver
from toolcrib.model import Json, JsonObject, Outcome, ToolInfo
from toolcrib.session import Session, UserMessage

GeminiMode = Literal["append", "proxy"]
MOST_FUNCTIONS = 512
GeminiContent: TypeAlias = types.Content | types.ContentDict


class GeminiRequest(TypedDict):
    """The arguments of a request: pass them to `generate_content` with `**`."""

    contents: list[GeminiContent]
    config: types.GenerateContentConfig


class GeminiWire(ProviderWire):
    """One conversation of a session on Gemini.

    `config` has the other options of a request. `mode` None means `append`, or `proxy` where the
    config names a cache. `model` decides whether the user's messages are prefetched, where the
    settings leave it to that.
    """

    def __init__(
        self,
        session: Session,
        *,
        model: str = "",
        mode: GeminiMode | None = None,
        config: types.GenerateContentConfig | None = None,
        approver: Approver | None = None,
    ) -> None:
        check(config, types.GenerateContentConfig | None, "config=")
        self._config = config or types.GenerateContentConfig()
        wanted = mode or ("proxy" if self._config.cached_content else None)
        super().__init__(session, "gemini", wanted, approver, model)

    def request(self, contents: Iterable[GeminiContent]) -> GeminiRequest:
        """The conversation as it is, and the config with the tools.

        What the conversation shows to be revealed is revealed in the session, and the newest
        message of the user is prefetched. Gemini takes 512 functions: beyond that, the tools found
        longest ago are left out until they are found again.
        Raises `ConfigError` where more tools than that are always shown.
        """
        given = [*several(contents, "request()", object)]
        self._session.see(_revealed(given), prefetch=self._prefetch.on)
        if self.choice.mode == "proxy":
            shown = self._session.prefetched(map(_said, objects(given)))
            given = [_with_prefetched(each, shown) for each in given]
        if self._config.cached_content:
            return {"contents": given, "config": self._config}
        if self.choice.mode == "proxy":
            tools = proxy_tools(self._session)
        else:
            tools = tools_within_limit(self._session, MOST_FUNCTIONS, _revealed(given))
        own = list(self._config.tools or [])
        with_tools = {"tools": [*own, *_declared(tools)]}
        return {"contents": given, "config": self._config.model_copy(update=with_tools)}

    def cached_tools(self) -> list[types.Tool]:
        """The tools to make an explicit cache with."""
        return _declared(proxy_tools(self._session))

    async def results(
        self, reply: types.GenerateContentResponse | JsonObject
    ) -> list[types.Content]:
        """The content that answers a reply, in a list: one part a call; none if it has no calls.

        Raises `ReplyError` for what is not a reply of Gemini, or not a whole one.
        """
        function_calls = calls_of(reply)
        self._session.used(tokens_of(reply))
        calls = [unwrap_proxy_call(_call(call)) for call in function_calls]
        outcomes = await make_calls(self._session, calls, self._approver)
        parts = [_part(*each) for each in zip(function_calls, outcomes, strict=True)]
        return [types.Content(role="user", parts=parts)] if parts else []

    def see(self, contents: Iterable[GeminiContent]) -> None:
        """Reveal in the session what these contents show; `request` does so by itself."""
        self._session.see(_revealed(contents))

    def compacted(self, contents: Iterable[GeminiContent]) -> None:
        """Forget what is revealed, unless these contents still show it."""
        self._session.compacted(frozenset(_revealed(contents)))


def _declared(tools: Iterable[ToolInfo]) -> list[types.Tool]:
    """All in one tool, which is how Gemini wants functions; none if there are none."""
    declared = [
        types.FunctionDeclaration(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=gemini_schema(tool.parameters),
        )
        for tool in tools
    ]
    return [types.Tool(function_declarations=declared)] if declared else []


def _call(call: types.FunctionCall) -> ToolCall:
    return ToolCall(call.id or "", call.name or "", call.args or {})


def _part(call: types.FunctionCall, outcome: Outcome) -> types.Part:
    response = {"error" if outcome.error else "result": outcome_text(outcome)}
    answer = types.FunctionResponse(id=call.id, name=call.name, response=response)
    return types.Part(function_response=answer)


def _said(content: JsonObject) -> str:
    """What the user wrote; "" for any other content. Results are in the user's name too."""
    parts = objects(content.get("parts"))
    if content.get("role", "user") != "user" or any(map(_answer_in, parts)):
        return ""
    return "\n".join(filter(None, (text_of(part.get("text")) for part in parts))).strip()


def _with_prefetched(
    content: GeminiContent, shown: Mapping[str, Sequence[ToolInfo]]
) -> GeminiContent:
    """A content of the user, with what it has shown: with the proxy tool that is text."""
    said = _said(cast("JsonObject", sdk_json(content)))
    text = prefetched_text(shown.get(said, ()))
    if not text:
        return content
    read = types.Content.model_validate(content)
    return read.model_copy(update={"parts": [*(read.parts or []), types.Part(text=text)]})


def _answer_in(part: JsonObject) -> JsonObject:
    return _member(part, "functionResponse", "function_response")


def _revealed(contents: Iterable[GeminiContent]) -> Iterator[str | UserMessage]:
    """The names that searches have revealed, those that were called, and what the user wrote.

    Answers come in the order of the calls; an id, which not every model gives, is not needed.
    """
    waiting: list[ToolCall] = []
    for content in objects(list(contents)):
        if said := _said(content):
            yield UserMessage(said)
        for part in objects(content.get("parts")):
            if call := _member(part, "functionCall", "function_call"):
                waiting.append(_plain_call(call))
            if answer := _answer_in(part):
                call_answered = next((call for call in waiting if _answers(answer, call)), None)
                waiting = [call for call in waiting if call is not call_answered]
                result = _member(answer, "response").get("result")
                yield from _revealed_by(call_answered or _plain_call(answer), result)


def _revealed_by(call: ToolCall, result: Json) -> tuple[str, ...]:
    return revealed_by_call(call, text_of(result)) if result is not None else ()


def _plain_call(call: JsonObject) -> ToolCall:
    arguments = cast("JsonObject", call.get("args") or {})
    return ToolCall(text_of(call.get("id")), text_of(call.get("name")), arguments)


def _answers(answer: JsonObject, call: ToolCall) -> bool:
    return answer.get("name") == call.name and text_of(answer.get("id")) == call.id


def _member(value: JsonObject, *names: str) -> JsonObject:
    """An object in an object, under either of its names."""
    found: list[Json] = [value[name] for name in names if name in value]
    return found[0] if found and isinstance(found[0], dict) else {}
