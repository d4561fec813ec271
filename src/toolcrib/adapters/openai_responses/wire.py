"""OpenAI Responses: the model calls `tool_search`, and the definitions come with the answer.

    wire = ResponsesWire(session, model=model, endpoint=str(client.base_url))
    reply = await client.responses.create(model=model, **wire.request(items))
    items += reply.output
    items += await wire.results(reply)          # nothing once the model has made no call

    output    `tool_search` that we answer; definitions come in its output, in namespaces
    inject    a search function of ours; definitions come in an `additional_tools` item
    append    a search function of ours; definitions join `tools`
    proxy     a search function of ours; `call_tool` calls what it found

In the first two, `tools` never changes and a definition stays where it was loaded, so the
provider's cache holds. A function has the same name in a namespace as elsewhere: the name alone
says which tool a call means.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NotRequired, TypeAlias, TypedDict, cast

from openai.types.responses import (
    Response,
    ResponseInputItemParam,
    ResponseOutputItem,
    ToolParam,
)

from toolcrib.adapters.auto import Auto, ProviderWire
from toolcrib.adapters.openai_responses.conversation import (
    NATIVE,
    as_spoken,
    carried,
    revealed,
    with_carriers,
    with_namespaces,
)
from toolcrib.adapters.openai_responses.tools import function, namespaces, search_tool
from toolcrib.adapters.wire.calls import ToolCall, found_tools, make_calls
from toolcrib.adapters.wire.outcome_text import (
    Image,
    outcome_parts,
    outcome_text,
    prefetched_text,
    text_beside_loaded,
)
from toolcrib.adapters.wire.proxy import proxy_tools, unwrap_proxy_call
from toolcrib.adapters.wire.reply import (
    check_ended,
    check_uncut,
    objects,
    read_reply,
    text_of,
    tokens_in,
)
from toolcrib.adapters.wire.user_messages import said_in_items, with_text
from toolcrib.api_arguments import check, several
from toolcrib.errors import ReplyError
from toolcrib.execute import Approver
from toolcrib.model import JsonObject, Outcome, ToolInfo
from toolcrib.session import SEARCH_TOOL, Session

ResponsesMode = Literal["output", "inject", "append", "proxy"]
ResponsesSearch = Literal["ours", "hosted"]
Item: TypeAlias = ResponseInputItemParam | ResponseOutputItem
"""An item of a conversation: given, or as the model gave it."""


class ResponsesRequest(TypedDict):
    """The arguments of a request: pass them to `responses.create` with `**`."""

    input: list[ResponseInputItemParam]
    tools: NotRequired[list[ToolParam]]


class ResponsesWire(ProviderWire):
    """One conversation of a session on the Responses API.

    `mode` None chooses by model and endpoint, see `toolcrib.adapters.auto`. With `search="hosted"`
    the provider ranks, where it has `tool_search`; then all deferred tools are sent with every
    request.
    """

    modes = ResponsesMode

    def __init__(  # noqa: PLR0913 - each by its name
        self,
        session: Session,
        *,
        model: str,
        endpoint: str,
        mode: ResponsesMode | None = None,
        search: ResponsesSearch = "ours",
        approver: Approver | None = None,
        auto: Auto | None = None,
    ) -> None:
        super().__init__(session, "openai_responses", mode, approver, model, endpoint, auto)
        check(search, ResponsesSearch, "search=")
        self._search = search
        self._carried: set[str] = set()

    def request(self, items: Iterable[Item]) -> ResponsesRequest:
        """The conversation and the tools, as they are to be sent.

        What the conversation shows to be revealed is revealed in the session, and the newest
        message of the user is prefetched, unless the provider searches. The items are sent as they
        are, unless the conversation began in another mode or was made shorter: see `with_carriers`.
        """
        given = [*several(items, "request()", object)]
        prefetch = self._prefetch.on and not self._hosted
        self._session.see(revealed(given), prefetch=prefetch)
        sent = self._as_sent(given)
        self._carried = set(carried(sent))
        request = ResponsesRequest(input=sent)
        if tools := self._tools():
            request["tools"] = tools
        return request

    async def results(self, reply: Response | JsonObject) -> list[ResponseInputItemParam]:
        """The items that answer a reply, in the order of its calls; none if it has no calls.

        The searches of the provider itself are noted first. Behind the answers comes what has no
        place in them: definitions, what a search says besides, and what to do where it found
        nothing.
        """
        read = read_reply(reply, "output", "a Response of OpenAI")
        output = objects(read.get("output"))
        _check_whole(read, has_calls=any(_calls(output)))
        self._session.see(revealed(output))
        self._session.used(tokens_in(read.get("usage"), "total_tokens"))
        calls = [unwrap_proxy_call(call) for call in _calls(output)]
        outcomes = await make_calls(self._session, calls, self._approver, paged=not self._hosted)
        answered = list(zip(calls, outcomes, strict=True))
        native = self.choice.mode == "output"
        answers = [
            self._searched(*each) if native and each[0].is_search else _output(*each)
            for each in answered
        ]
        searches = [outcome for call, outcome in answered if call.is_search]
        return cast("list[ResponseInputItemParam]", [*answers, *self._behind(searches)])

    def see(self, items: Iterable[Item]) -> None:
        """Reveal in the session what these items show; `request` does so by itself."""
        self._session.see(revealed(items))

    def compacted(self, items: Iterable[Item]) -> None:
        """Forget what is revealed, unless these items still show it."""
        self._session.compacted(frozenset(revealed(items)))

    def _as_sent(self, items: Sequence[Item]) -> list[ResponseInputItemParam]:
        """The items in the words of the mode. An item that needs no change is the given one."""
        mode = self.choice.mode
        read = [(item, each) for item in items for each in objects([item])]
        sent = as_spoken([each for _, each in read], mode)
        shown = self._session.prefetched(said_in_items(sent))
        if mode in NATIVE and not self._hosted:
            sent = list(with_carriers(sent, mode, self._session.revealed_tools(), shown))
        if mode in NATIVE:
            listed = self._session.deferred_tools() if self._hosted else ()
            sent = list(with_namespaces(sent, {tool.name for tool in listed}))
        if mode == "proxy":
            sent = [*map(partial(_with_prefetched, shown), sent, said_in_items(sent))]
        originals = {id(each): item for item, each in read}
        return cast(
            "list[ResponseInputItemParam]", [originals.get(id(each), each) for each in sent]
        )

    def _tools(self) -> list[ToolParam]:
        session, mode = self._session, self.choice.mode
        core = [function(tool) for tool in session.core_tools()]
        search = session.search_tool
        if mode == "append":
            return [function(tool) for tool in session.active_tools()]
        if mode == "proxy":
            return [function(tool) for tool in proxy_tools(session)]
        if not search:
            return [*core]
        if mode == "inject":
            return [*core, function(search)]
        if self._hosted:
            return [*core, search_tool(search, "server"), *namespaces(session.deferred_tools())]
        return [*core, search_tool(search, "client")]

    def _searched(self, call: ToolCall, outcome: Outcome) -> JsonObject:
        """The answer to a search: what it found and the conversation has not got yet."""
        facts = {"execution": "client", "call_id": call.id, "status": "completed"}
        loaded = namespaces(self._new(outcome))
        return cast("JsonObject", {"type": "tool_search_output", **facts, "tools": loaded})

    def _new(self, outcome: Outcome) -> list[ToolInfo]:
        found = found_tools(self._session, outcome)
        new = [tool for tool in found if tool.name not in self._carried]
        self._carried |= {tool.name for tool in new}
        return new

    def _behind(self, searches: Sequence[Outcome]) -> Iterator[JsonObject]:
        mode = self.choice.mode
        for outcome in searches:
            if mode == "inject" and (new := self._new(outcome)):
                tools = [function(tool) for tool in new]
                added = {"type": "additional_tools", "role": "developer", "tools": tools}
                yield cast("JsonObject", added)
            if mode == "output" and (text := self._remarks_on(outcome)):
                # An output holds definitions alone. With no more rights than a user has.
                yield {"type": "message", "role": "user", "content": text}

    def _remarks_on(self, outcome: Outcome) -> str:
        if found_tools(self._session, outcome):
            return text_beside_loaded(outcome)
        if outcome.structured is None and not outcome.error:  # the text of a skill
            return outcome_text(outcome)
        return f"{SEARCH_TOOL.name} has found nothing to load. {outcome_text(outcome)}"


def _with_prefetched(
    shown: Mapping[str, Sequence[ToolInfo]], item: JsonObject, said: str
) -> JsonObject:
    """A message of the user, with what it has shown: with the proxy tool that is text."""
    text = prefetched_text(shown.get(said, ()))
    part: JsonObject = {"type": "input_text", "text": text}
    return {**item, "content": with_text(item["content"], part)} if text else item


def _calls(output: Iterable[JsonObject]) -> Iterator[ToolCall]:
    for item in output:
        match item:
            case {"type": "function_call", "call_id": str(id), "name": str(name)}:
                yield ToolCall(id, name, text_of(item.get("arguments")) or "{}")
            case {"type": "tool_search_call", "execution": "client", "call_id": str(id)}:
                yield ToolCall(
                    id, SEARCH_TOOL.name, cast("JsonObject", item.get("arguments") or {})
                )
            case _:
                pass


def _check_whole(reply: JsonObject, *, has_calls: bool) -> None:
    """Raises `ReplyError` for a response that is still made, has failed, or was cut off."""
    status = text_of(reply.get("status")) or "completed"
    remedy = (
        "wait until its status is `completed`; of a stream, `await stream.get_final_response()`"
    )
    check_ended("" if status in {"queued", "in_progress"} else status, remedy)
    if status in {"failed", "cancelled"}:
        message = cast("JsonObject", reply.get("error") or {}).get("message", "no reason is given")
        raise ReplyError(f"this response is {status}: {message}")
    check_uncut(status, ("incomplete",), has_calls=has_calls)


def _output(call: ToolCall, outcome: Outcome) -> JsonObject:
    parts = outcome_parts(outcome)
    output = parts if isinstance(parts, str) else [_part(part) for part in parts]
    return {"type": "function_call_output", "call_id": call.id, "output": output}


def _part(part: str | Image) -> JsonObject:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    url = f"data:{part.media_type};base64,{part.data}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}
