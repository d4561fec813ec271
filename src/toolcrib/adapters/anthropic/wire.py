"""Anthropic Messages: tools are sent with `defer_loading`, and a search answers with references.

    wire = AnthropicWire(session, model=model, endpoint=str(client.base_url))
    reply = await client.messages.create(model=model, max_tokens=1024, **wire.request(messages))
    messages.append({"role": "assistant", "content": reply.content})
    messages += await wire.results(reply)       # nothing once the model has made no call

The provider leaves deferred tools out of the prompt, and out of its cache, until a `tool_reference`
names one. So only tools that were found are sent: behind the others, deferred, and named by the
result of the search. What stands before them keeps its bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, cast
from weakref import finalize

from anthropic.lib.tools import BetaFunctionToolResultType, ToolError
from anthropic.types import (
    Base64ImageSourceParam,
    CacheControlEphemeralParam,
    ImageBlockParam,
    Message,
    MessageParam,
    TextBlockParam,
    ToolParam,
    ToolResultBlockParam,
    ToolUnionParam,
)
from anthropic.types.beta import BetaMessage
from anthropic.types.tool_result_block_param import Content

from toolcrib.adapters.anthropic.conversation import (
    as_referred,
    call_of,
    hosted_names,
    revealed,
    said_in,
    typed,
    with_references_to,
)
from toolcrib.adapters.anthropic.runner import AsyncRunnerTool, RunnerTool
from toolcrib.adapters.auto import Auto, ProviderWire, refuses_prefetch
from toolcrib.adapters.auto_table import WireMode
from toolcrib.adapters.wire.calls import ToolCall, found_tools, make_calls
from toolcrib.adapters.wire.outcome_text import (
    Image,
    outcome_parts,
    prefetched_text,
    text_beside_loaded,
    unloaded_text,
)
from toolcrib.adapters.wire.proxy import proxy_tools, unwrap_proxy_call
from toolcrib.adapters.wire.reply import (
    check_ended,
    check_uncut,
    objects,
    read_reply,
    sdk_json,
    text_of,
    tokens_in,
)
from toolcrib.adapters.wire.tool_list import object_schema
from toolcrib.adapters.wire.user_messages import with_text
from toolcrib.api_arguments import check, several
from toolcrib.errors import ConfigError, ReplyError
from toolcrib.execute import Approver
from toolcrib.model import JsonObject, Outcome, ToolInfo
from toolcrib.session import Session
from toolcrib.system import BackgroundLoop

AnthropicMode = Literal["reference", "append", "proxy"]
AnthropicSearch = Literal["ours", "bm25", "regex"]

MOST_DEFERRED = 10_000
CUTS = ("max_tokens", "model_context_window_exceeded", "refusal")


class AnthropicRequest(TypedDict):
    """The arguments of a request: pass them to `messages.create` with `**`."""

    messages: list[MessageParam]
    tools: list[ToolUnionParam]
    extra_headers: NotRequired[dict[str, str]]


class AnthropicWire(ProviderWire):
    """One conversation of a session on the Messages API.

    `mode` None chooses by model and endpoint, see `toolcrib.adapters.auto`. With another `search`
    than `ours` the provider ranks, where its native wire is used; then all deferred tools are sent
    with every request. `cache_control` is put on the last tool that is not deferred.
    """

    modes = AnthropicMode

    def __init__(  # noqa: PLR0913 - each by its name
        self,
        session: Session,
        *,
        model: str,
        endpoint: str,
        mode: AnthropicMode | None = None,
        search: AnthropicSearch = "ours",
        cache_control: CacheControlEphemeralParam | None = None,
        approver: Approver | None = None,
        auto: Auto | None = None,
    ) -> None:
        super().__init__(session, "anthropic", mode, approver, model, endpoint, auto)
        check(search, AnthropicSearch, "search=")
        self._search = search
        self._refuses_prefetch = False
        self._cache_control = cache_control
        self._loop = BackgroundLoop("toolcrib-calls")
        finalize(self, self._loop.end_soon)

    def request(self, messages: Iterable[MessageParam]) -> AnthropicRequest:
        """The conversation and the tools, as they are to be sent.

        What the conversation shows to be revealed is revealed in the session, and the newest
        message of the user is prefetched, unless the provider searches. The messages are sent as
        they are, except for references that would be refused or are missing: see `as_referred`.
        Raises `ConfigError` where more tools are to be sent than the provider takes.
        """
        given = [*several(messages, "request()", object)]
        prefetch = self._prefetch.on and not self._hosted and not self._refuses_prefetch
        self._session.see(revealed(given), prefetch=prefetch)
        choice = self.choice
        tools = self._tools(choice.mode)
        request = AnthropicRequest(messages=self._as_sent(given, tools), tools=tools)
        if choice.betas:
            request["extra_headers"] = {"anthropic-beta": ",".join(choice.betas)}
        return request

    async def results(self, reply: Message | BetaMessage | JsonObject) -> list[MessageParam]:
        """The message that answers a reply, in a list; none where the model has called nothing.

        A search that found tools is answered with references to them, any other with text. A result
        with references holds nothing else, so what a search says besides follows as text. The
        searches of the provider itself are noted first, and so is the length of the conversation.
        Raises `ReplyError` for what is not a reply of this provider, or not a whole one.
        """
        read = read_reply(reply, "content", "a Message of Anthropic")
        blocks = objects(read.get("content"))
        _check_whole(text_of(read.get("stop_reason")), blocks)
        self._session.see(hosted_names(blocks))
        self._session.used(tokens_in(read.get("usage"), *_USAGE))
        calls = [unwrap_proxy_call(call) for call in map(call_of, typed(blocks, "tool_use"))]
        outcomes = await make_calls(self._session, calls, self._approver, paged=not self._hosted)
        answered = list(zip(calls, outcomes, strict=True))
        results = [self._result(*each) for each in answered]
        besides = (
            text_beside_loaded(outcome) for call, outcome in answered if self._refers(call, outcome)
        )
        content = [*results, *map(_block, filter(None, besides))]
        return [{"role": "user", "content": content}] if content else []

    def see(self, messages: Iterable[MessageParam]) -> None:
        """Reveal in the session what these messages show; `request` does so by itself."""
        self._session.see(revealed(messages))

    def compacted(self, messages: Iterable[MessageParam]) -> None:
        """Forget what is revealed, unless these messages still show it."""
        self._session.compacted(frozenset(revealed(messages)))

    def refused(self, error: Exception) -> bool:
        """Whether the error is the endpoint's refusal of the native wire, or of prefetch on it.

        If so, send `request(messages)` again, which is without it now. Raise any other error. With
        a thinking budget the provider refuses a search that the model did not make itself.
        """
        if self._prefetch.on and self.choice.mode == "reference" and refuses_prefetch(error):
            refused, self._refuses_prefetch = not self._refuses_prefetch, True
            return refused
        return super().refused(error)

    def runner_tools(self) -> list[AsyncRunnerTool]:
        """The tools for `AsyncAnthropic().beta.messages.tool_runner`, with all deferred ones.

        Raises `ConfigError` where those are more than the provider takes.
        """
        return [AsyncRunnerTool(param, self._run) for param in self._all_tools()]

    def blocking_runner_tools(self) -> list[RunnerTool]:
        """The tools for `Anthropic().beta.messages.tool_runner`, as `runner_tools`."""
        return [RunnerTool(param, self._run, self._loop) for param in self._all_tools()]

    async def _run(self, name: str, arguments: object) -> BetaFunctionToolResultType:
        """What the model reads. A runner has no place for text beside references.

        So where a search has something to say that a model must not miss, the whole answer is text,
        and the model selects the tools it wants.
        """
        call = unwrap_proxy_call(ToolCall("", name, cast("JsonObject", arguments)))
        paged = self._session.deferring  # else the runner's list has no search tool to read on with
        [outcome] = await make_calls(self._session, [call], self._approver, paged=paged)
        if self._refers(call, outcome) and text_beside_loaded(outcome, hints=False):
            return unloaded_text(outcome)
        content = cast("BetaFunctionToolResultType", self._content(call, outcome))
        if outcome.error:
            raise ToolError(content)
        return content

    def _refers(self, call: ToolCall, outcome: Outcome) -> bool:
        """Whether the answer to a call is references."""
        native = call.is_search and self.choice.mode == "reference"
        return native and bool(found_tools(self._session, outcome))

    def _content(self, call: ToolCall, outcome: Outcome) -> str | list[Content]:
        """What the model reads: references after a search that found tools, else the outcome."""
        if self._refers(call, outcome):
            found = found_tools(self._session, outcome)
            return [{"type": "tool_reference", "tool_name": tool.name} for tool in found]
        parts = outcome_parts(outcome)
        return parts if isinstance(parts, str) else [_block(part) for part in parts]

    def _result(self, call: ToolCall, outcome: Outcome) -> ToolResultBlockParam:
        result = ToolResultBlockParam(
            type="tool_result",
            tool_use_id=call.id,
            content=self._content(call, outcome),
        )
        if outcome.error:
            result["is_error"] = True
        return result

    def _as_sent(
        self, messages: list[MessageParam], tools: Iterable[ToolUnionParam]
    ) -> list[MessageParam]:
        names = {str(tool.get("name")) for tool in tools if tool.get("defer_loading")}
        said = () if self._refuses_prefetch else tuple(map(said_in, messages))
        shown = self._session.prefetched(said)
        if self.choice.mode == "proxy":
            messages = [_with_prefetched(message, shown) for message in messages]
        if self.choice.mode != "reference" or self._hosted:
            return with_references_to(messages, names)
        return as_referred(messages, names, shown)

    def _tools(self, mode: WireMode) -> list[ToolUnionParam]:
        session = self._session
        if mode == "proxy":
            return self._listed(proxy_tools(session))
        if mode != "reference":
            return self._listed(session.active_tools())
        if self._hosted and session.deferring:
            return self._with_deferred(_HOSTED[self._search])
        # Deferred whether or not anything refers to it: to show at once what a summary dropped
        # would change what stands before, and change it back when it is found again.
        waiting = (_param(tool, deferred=True) for tool in session.revealed_tools())
        return [*self._listed(session.stable_tools()), *waiting]

    def _listed(self, tools: Sequence[ToolInfo]) -> list[ToolUnionParam]:
        return self._marked([_param(tool) for tool in tools])

    def _all_tools(self) -> list[ToolUnionParam]:
        """The tools that a runner has from its start to its end."""
        search = self._session.search_tool
        if self.choice.mode != "reference" or not search:
            return self._listed(proxy_tools(self._session))
        return self._with_deferred(_param(search))

    def _with_deferred(self, search: ToolUnionParam) -> list[ToolUnionParam]:
        deferred = self._session.deferred_tools()
        if len(deferred) > MOST_DEFERRED:
            message = (
                f"{len(deferred)} deferred tools, and the provider takes at most {MOST_DEFERRED}:"
                " search with search='ours' and a loop of your own, which send only what is found"
            )
            raise ConfigError(message)
        core = [_param(tool) for tool in self._session.core_tools()]
        at_once = self._marked([*core, search])
        return [*at_once, *(_param(tool, deferred=True) for tool in deferred)]

    def _marked(self, tools: Sequence[ToolUnionParam]) -> list[ToolUnionParam]:
        """The tools with `cache_control` on the last. A deferred tool may not have it."""
        if not self._cache_control or not tools:
            return list(tools)
        last = cast("ToolUnionParam", {**tools[-1], "cache_control": self._cache_control})
        return [*tools[:-1], last]


_USAGE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)

_HOSTED: Mapping[str, ToolUnionParam] = {
    "bm25": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    "regex": {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
}


def _param(tool: ToolInfo, *, deferred: bool = False) -> ToolParam:
    param = ToolParam(
        name=tool.name,
        description=tool.description,
        input_schema=cast("dict[str, object]", object_schema(tool.parameters)),
    )
    if deferred:
        param["defer_loading"] = True
    return param


def _with_prefetched(
    message: MessageParam, shown: Mapping[str, Sequence[ToolInfo]]
) -> MessageParam:
    """A message of the user, with what it has shown: with the proxy tool that is text."""
    text = prefetched_text(shown.get(said_in(message), ()))
    if not text:
        return message
    content = with_text(sdk_json(message["content"]), {"type": "text", "text": text})
    return cast("MessageParam", {**message, "content": content})


def _block(part: str | Image) -> TextBlockParam | ImageBlockParam:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    media_type = cast("Literal['image/png']", part.media_type)  # the provider checks
    source = Base64ImageSourceParam(type="base64", media_type=media_type, data=part.data)
    return {"type": "image", "source": source}


def _check_whole(why: str, blocks: Sequence[JsonObject]) -> None:
    """Raises `ReplyError` for a reply that is paused or was cut off."""
    check_ended(why, "take the final message of the stream, `await stream.get_final_message()`")
    has_calls = any(typed(blocks, "tool_use"))
    if why == "pause_turn" and not has_calls:
        raise ReplyError("the model has paused (pause_turn): send the conversation once more")
    check_uncut(why, CUTS, has_calls=has_calls)
