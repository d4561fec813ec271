"""OpenAI Chat Completions, and every gateway that speaks it: revealed tools join `tools`.

    wire = ChatWire(session)
    done = await client.chat.completions.create(model=model, **wire.request(messages))
    messages.append(done.choices[0].message)
    messages += await wire.results(done)        # nothing once the model has made no call

Chat Completions cannot defer tools. `append` puts what is found behind the other tools; the
provider reads the list anew from there on. `proxy` keeps the list as it is, and the model calls
what it found through one tool: for when the cache matters more than arguments that the provider
checks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from openai.types.chat import (
    ChatCompletion,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessage,
    ChatCompletionMessageParam,
    ChatCompletionToolMessageParam,
)

from toolcrib.adapters.auto import ProviderWire
from toolcrib.adapters.wire.calls import ToolCall, make_calls
from toolcrib.adapters.wire.outcome_text import outcome_text, prefetched_text
from toolcrib.adapters.wire.proxy import (
    proxy_tools,
    revealed_by_call,
    unwrap_proxy_call,
)
from toolcrib.adapters.wire.reply import (
    check_ended,
    check_uncut,
    objects,
    read_reply,
    sdk_json,
    text_of,
    tokens_in,
)
from toolcrib.adapters.wire.tool_list import object_schema, tools_within_limit
from toolcrib.adapters.wire.user_messages import text_parts
from toolcrib.api_arguments import several
from toolcrib.execute import Approver
from toolcrib.model import JsonObject, Outcome, ToolInfo
from toolcrib.session import Session, UserMessage

__all__ = ["ChatMessage", "ChatMode", "ChatRequest", "ChatWire"]

ChatMode = Literal["append", "proxy"]
MOST_TOOLS = 128
ChatMessage: TypeAlias = ChatCompletionMessageParam | ChatCompletionMessage
"""A message of a conversation: given, or as the model gave it."""


class ChatRequest(TypedDict):
    """The arguments of a request: pass them to `chat.completions.create` with `**`."""

    messages: list[ChatCompletionMessageParam]
    tools: NotRequired[list[ChatCompletionFunctionToolParam]]


class ChatWire(ProviderWire):
    """One conversation of a session on Chat Completions.

    `model` decides whether the user's messages are prefetched, where the settings leave it to that.
    """

    def __init__(
        self,
        session: Session,
        *,
        model: str = "",
        mode: ChatMode = "append",
        approver: Approver | None = None,
    ) -> None:
        super().__init__(session, "openai_chat", mode, approver, model)

    def request(self, messages: Iterable[ChatMessage]) -> ChatRequest:
        """The conversation as it is, and the tools; without any, the provider wants no list.

        What the conversation shows to be revealed is revealed in the session, and the newest
        message of the user is prefetched. The provider takes 128 tools: beyond that, those found
        longest ago are left out until they are found again.
        Raises `ConfigError` where more tools than that are always shown.
        """
        given = [*several(messages, "request()", object)]
        self._session.see(_revealed(given), prefetch=self._prefetch.on)
        sent: list[Any] = [*given]
        if self.choice.mode == "proxy":
            tools = proxy_tools(self._session)
            shown = self._session.prefetched(map(_said, given))
            sent = [_with_prefetched(message, shown) for message in given]
        else:
            tools = tools_within_limit(self._session, MOST_TOOLS, _revealed(given))
        request = ChatRequest(messages=cast("list[ChatCompletionMessageParam]", sent))
        if tools:
            request["tools"] = [_param(tool) for tool in tools]
        return request

    async def results(
        self, reply: ChatCompletion | JsonObject
    ) -> list[ChatCompletionToolMessageParam]:
        """The messages that answer a reply, one a call, in order; none if it has no calls.

        Raises `ReplyError` for what is not a reply of this API, or not a whole one.
        """
        read = read_reply(reply, "choices", "a ChatCompletion of OpenAI")
        calls = [unwrap_proxy_call(call) for call in _calls(read)]
        _check_whole(read, has_calls=bool(calls))
        self._session.used(tokens_in(read.get("usage"), "total_tokens"))
        outcomes = await make_calls(self._session, calls, self._approver)
        return [_result(*each) for each in zip(calls, outcomes, strict=True)]

    def see(self, messages: Iterable[ChatMessage]) -> None:
        """Reveal in the session what these messages show; `request` does so by itself."""
        self._session.see(_revealed(messages))

    def compacted(self, messages: Iterable[ChatMessage]) -> None:
        """Forget what is revealed, unless these messages still show it."""
        self._session.compacted(frozenset(_revealed(messages)))


def _param(tool: ToolInfo) -> ChatCompletionFunctionToolParam:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": cast("dict[str, object]", object_schema(tool.parameters)),
        },
    }


def _calls(reply: JsonObject) -> Iterator[ToolCall]:
    for choice in objects(reply.get("choices"))[:1]:
        yield from map(_call, _tool_calls(choice.get("message")))


def _tool_calls(message: object) -> list[JsonObject]:
    """The tool calls of an assistant's message."""
    return objects(cast("JsonObject", sdk_json(message) or {}).get("tool_calls"))


def _check_whole(reply: JsonObject, *, has_calls: bool) -> None:
    reasons = (choice.get("finish_reason") for choice in objects(reply.get("choices")))
    why = text_of(next(reasons, ""))
    check_ended(why, "take that of the whole stream, `await stream.get_final_completion()`")
    check_uncut(why, ("length", "content_filter"), has_calls=has_calls)


def _call(call: JsonObject) -> ToolCall:
    function = cast("JsonObject", call.get("function") or {})
    name, arguments = function.get("name"), function.get("arguments")
    return ToolCall(text_of(call.get("id")), text_of(name), text_of(arguments) or "{}")


def _result(call: ToolCall, outcome: Outcome) -> ChatCompletionToolMessageParam:
    return {"role": "tool", "tool_call_id": call.id, "content": outcome_text(outcome)}


def _revealed(messages: Iterable[ChatMessage]) -> Iterator[str | UserMessage]:
    """The names that searches have revealed, those that were called, and what the user wrote."""
    calls: dict[str, ToolCall] = {}
    for message in objects(list(messages)):
        if said := _said(message):
            yield UserMessage(said)
        calls |= {call.id: call for call in map(_call, _tool_calls(message))}
        if call := calls.get(text_of(message.get("tool_call_id"))):
            yield from revealed_by_call(call, _text(message.get("content")))


def _said(message: object) -> str:
    """What the user wrote; "" for any other message."""
    read = cast("JsonObject", sdk_json(message) or {})
    is_user = read.get("role") == "user"
    return text_parts(read.get("content"), "text").strip() if is_user else ""


def _with_prefetched(
    message: ChatMessage, shown: Mapping[str, Sequence[ToolInfo]]
) -> ChatMessage | JsonObject:
    """A message of the user, with what it has shown: with the proxy tool that is text."""
    text = prefetched_text(shown.get(_said(message), ()))
    if not text:
        return message
    read = cast("JsonObject", sdk_json(message))
    content = read["content"]
    if isinstance(content, str):  # not every server that speaks this API takes parts
        return {**read, "content": f"{content}\n\n{text}"}
    return {**read, "content": [*objects(content), {"type": "text", "text": text}]}


def _text(content: object) -> str:
    parts = "".join(text_of(part.get("text")) for part in objects(content))
    return text_of(content) or parts
