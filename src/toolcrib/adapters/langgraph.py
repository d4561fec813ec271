"""LangGraph: a `ToolNode` that searches, calls what is found, and asks where the rules say so.

    tools = ApprovalToolNode([], crib)

    def model(state):
        shown = tools.active_tools(state["messages"])
        return {"messages": [chat.bind_tools(shown).invoke(state["messages"])]}

    tool calls → questions → one interrupt each → all calls at once → messages

What is revealed is read from the messages of the state, before each request and each call. How a
question and its reply stay together is in `toolcrib.adapters.interrupts`.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from operator import itemgetter
from typing import Any, TypeAlias, TypedDict, Unpack, cast
from weakref import finalize

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
)
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from toolcrib.adapters.auto import choose_prefetch
from toolcrib.adapters.injection import call_in_graph
from toolcrib.adapters.interrupts import (
    ApprovalSteps,
    Replies,
    approval_steps,
    approver_of,
    question_of,
    recorded_value,
    run_steps,
    run_steps_async,
    shown_pin,
)
from toolcrib.adapters.langchain_messages import (
    function,
    session_after,
    unreadable,
    unreadable_answer,
)
from toolcrib.adapters.wire.proxy import search_note
from toolcrib.api_arguments import check
from toolcrib.crib import HOST, Crib
from toolcrib.execute import Caller
from toolcrib.session import SEARCH_TOOL_NAMES, Session
from toolcrib.system import BackgroundLoop

__all__ = ["ApprovalToolNode", "NodeOptions"]

Done: TypeAlias = "ToolMessage | Command[Any]"
CallerOf: TypeAlias = Callable[[Any], Caller]
"""Who calls, by the context of the run."""

_REPLIES: ContextVar[Replies] = ContextVar("toolcrib_replies", default=())


class NodeOptions(TypedDict, total=False):
    """What else a `ToolNode` takes. Its wrappers are not among it: they would go round the door."""

    name: str
    tags: list[str] | None
    handle_tool_errors: (
        bool | str | Callable[..., str] | type[Exception] | tuple[type[Exception], ...]
    )
    messages_key: str


class ApprovalToolNode(ToolNode):
    """Runs the tools that were bound, the search tool, and every tool of a crib without binding it.

    A bound tool runs as in any `ToolNode`, unless the crib has a tool of that name; all other calls
    are those of a session that reads the messages of the state: a deferred tool can be called once
    they show that it was found. Where a call has to be approved, the graph is interrupted, once for
    each such call, before any call of the message is made. To resume with True or with
    `{"approved": True}` approves that call; anything else refuses it, and the model reads so. An
    interrupt needs a checkpointer.

    `caller` is who calls, or a function that says so from the context of a run.
    """

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., object]],
        crib: Crib,
        *,
        caller: Caller | CallerOf = HOST,
        **options: Unpack[NodeOptions],
    ) -> None:
        check(caller, Caller | Callable, "caller=", 'write Caller("ann")')
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - a bare Callable of theirs
            tools, wrap_tool_call=self._called, awrap_tool_call=self._acalled, **options
        )
        self._crib = crib
        self._caller = caller
        self._loop = BackgroundLoop("toolcrib-calls")
        finalize(self, self._loop.end_soon)

    def active_tools(
        self, messages: Sequence[AnyMessage], context: object = None, *, model: str = ""
    ) -> list[BaseTool | dict[str, Any]]:
        """What to bind to the chat model for its next reply, given the messages of the state.

        The bound tools, then core, the search tool, and what these messages show to be revealed,
        each as a function. The newest message of the user is prefetched, unless `model` is the name
        of one that searches by itself; see the setting `session.prefetch`. `context` is that of the
        run, where `caller` is told from it.
        """
        own = {name: tool for name, tool in self.tools_by_name.items() if self._is_bound(name)}
        session = self._open(context)
        prefetch = choose_prefetch(session.prefetch_mode, model).on
        found = session_after(session, messages, prefetch=prefetch).active_tools()
        return [*own.values(), *(function(tool) for tool in found if tool.name not in own)]

    def system_note(self, context: object = None) -> str:
        """How to find tools and what there is, for the system prompt; "" if nothing is deferred.

        The same bytes as long as the catalog is the same.
        """
        return search_note(self._open(context))

    def _func(
        self,
        input: list[AnyMessage] | dict[str, Any] | Any,  # noqa: A002, ANN401 - named by LangGraph
        config: RunnableConfig,
        runtime: Runtime[Any],
    ) -> Any:  # noqa: ANN401
        replies = run_steps(self._asking(input, config, runtime), recorded_value)
        with _replied(replies):
            return super()._func(input, config, runtime)

    async def _afunc(
        self,
        input: list[AnyMessage] | dict[str, Any] | Any,  # noqa: A002, ANN401
        config: RunnableConfig,
        runtime: Runtime[Any],
    ) -> Any:  # noqa: ANN401
        replies = await run_steps_async(self._asking(input, config, runtime))
        with _replied(replies):
            return await super()._afunc(input, config, runtime)

    def _asking(
        self,
        input: Any,  # noqa: A002, ANN401
        config: RunnableConfig,
        runtime: Runtime[Any],
    ) -> ApprovalSteps:
        calls = [call for call in self._parse_input(input)[0] if self._is_for_the_door(call)]
        if not calls:
            return ()
        messages = self._messages(self._extract_state(input, config))
        session = self._session(messages, runtime.context)
        requests = ((call["id"], session.question(call["name"], call["args"])) for call in calls)
        return (
            yield from approval_steps(
                [question_of(id, request) for id, request in requests if request]
            )
        )

    def _is_for_the_door(self, call: ToolCall) -> bool:
        """Whether somebody may have to be asked about it: no search is, and no bound tool."""
        name = call["name"]
        return (
            name not in SEARCH_TOOL_NAMES
            and not self._is_bound(name)
            and not _unreadable_call(call)
        )

    def _is_bound(self, name: str) -> bool:
        """Whether it is a tool of the node's own. By the full name: a crib's bare name is none."""
        return name in self.tools_by_name and name not in self._crib.entries()

    def _parse_input(self, input: Any) -> tuple[list[ToolCall], Any]:  # noqa: A002, ANN401
        """The calls of the last reply, also those whose arguments are no JSON: as text."""
        calls, kind = super()._parse_input(input)
        if kind == "tool_calls":
            return calls, kind
        messages = reversed(self._messages(input))
        reply = next(message for message in messages if isinstance(message, AIMessage))
        return [*calls, *cast("list[ToolCall]", unreadable(reply))], kind

    def _called(self, request: ToolCallRequest, run: Callable[[ToolCallRequest], Done]) -> Done:
        if broken := _unreadable_call(request.tool_call):
            return unreadable_answer(broken)
        if self._is_bound(request.tool_call["name"]):
            return run(request)
        return self._loop.submit(self._through_the_door(request)).result()

    async def _acalled(
        self, request: ToolCallRequest, run: Callable[[ToolCallRequest], Awaitable[Done]]
    ) -> Done:
        if broken := _unreadable_call(request.tool_call):
            return unreadable_answer(broken)
        if self._is_bound(request.tool_call["name"]):
            return await run(request)
        return await self._through_the_door(request)

    async def _through_the_door(self, request: ToolCallRequest) -> ToolMessage:
        name, arguments, id = itemgetter("name", "args", "id")(request.tool_call)
        context = cast("Any", request).runtime.context  # theirs is typed in part alone
        session = self._session(self._messages(request.state), context)
        replies = _REPLIES.get()
        runs = session.runs_programs(name)  # a call in it that nobody has approved yet waits
        approver = None if runs else approver_of(id, arguments, replies)
        pin = shown_pin(id, replies)
        return await call_in_graph(session, request, pin=pin, approver=approver)

    def _session(self, messages: Sequence[AnyMessage], context: object) -> Session:
        return session_after(self._open(context), messages)

    def _open(self, context: object) -> Session:
        caller = self._caller if isinstance(self._caller, Caller) else self._caller(context)
        return self._crib.session(caller=caller)

    def _messages(self, state: Any) -> Sequence[AnyMessage]:  # noqa: ANN401 - as theirs
        """The messages of a state, in whichever of its forms."""
        match state:
            case list():
                return cast("list[AnyMessage]", state)
            case Mapping():
                return cast("Mapping[str, list[AnyMessage]]", state).get(self._messages_key, [])
            case _:
                return getattr(state, self._messages_key, [])


def _unreadable_call(call: ToolCall) -> InvalidToolCall | None:
    """The call as what it is where its arguments are no JSON; see `_parse_input`."""
    kind = cast("Mapping[str, object]", call).get("type")
    return cast("InvalidToolCall", call) if kind == "invalid_tool_call" else None


@contextmanager
def _replied(replies: Replies) -> Generator[None]:
    """Have these replies at hand, in every thread and task that this context starts."""
    token = _REPLIES.set(replies)
    try:
        yield
    finally:
        _REPLIES.reset(token)
