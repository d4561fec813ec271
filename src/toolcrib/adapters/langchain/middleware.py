"""LangChain: a middleware that gives an agent every tool of a crib, and shows it the few it needs.

    agent = create_agent(model, tools=[], middleware=[ToolcribMiddleware(crib)])

The messages of the agent are all there is to know: what was revealed is read from them before each
request and each call. So a checkpoint brings it back, a summary forgets it, and no two threads
share any.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias, cast
from weakref import finalize

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    hook_config,
)
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from toolcrib.adapters.auto import Auto, Choice
from toolcrib.adapters.injection import call_in_graph
from toolcrib.adapters.interrupts import (
    Replies,
    approval_steps,
    approver_of,
    question_of,
    recorded_value,
    run_steps,
    run_steps_async,
    shown_pin,
)
from toolcrib.adapters.langchain.wires import (
    APPEND,
    ChatModelWire,
    prefetches,
    request_in_mode,
    wire_of_model,
)
from toolcrib.adapters.langchain_messages import (
    session_after,
    unreadable,
    unreadable_answer,
)
from toolcrib.adapters.wire.proxy import search_note
from toolcrib.api_arguments import check
from toolcrib.crib import Crib
from toolcrib.session import SEARCH_TOOL_NAMES, Session
from toolcrib.system import BackgroundLoop

Done: TypeAlias = "ToolMessage | Command[Any]"
State: TypeAlias = AgentState[Any]


@dataclass(frozen=True, slots=True)
class _SentRequest:
    """A request as it is sent, and the wire that was chosen for it."""

    request: ModelRequest[Any]
    wire: ChatModelWire | None
    choice: Choice


class ToolcribMiddleware(AgentMiddleware[State, Any, Any]):
    """Shows core tools, search tool and what was found; calls them through the crib's door.

    `sessions` is a crib, or a function that makes a session without an id for the context of a run:
    for agents whose callers have different rights. The agent's own tools stand before all others,
    and win where a name is the same. `note` adds to the system prompt how to find tools, and what
    there is. The newest message of the user is prefetched, unless the model is known to search by
    itself; see the setting `session.prefetch`. Share one `auto` between agents, and an endpoint
    refuses only once.
    """

    def __init__(
        self,
        sessions: Crib | Callable[[Any], Session],
        *,
        note: bool = True,
        auto: Auto | None = None,
    ) -> None:
        check(sessions, Crib | Callable, "ToolcribMiddleware()", "pass the crib")
        super().__init__()
        self._make = _for_anyone(sessions) if isinstance(sessions, Crib) else sessions
        self._note = note
        self._auto = auto or Auto()
        self._loop = BackgroundLoop("toolcrib-calls")
        finalize(self, self._loop.end_soon)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Send what the conversation shows; without the native wire once that is refused."""
        while True:
            sent = self._sent_request(request)
            try:
                return handler(sent.request)
            except Exception as error:
                if not self._is_refused(sent, error):
                    raise

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`. The search of a prefetch does not keep the event loop waiting."""
        while True:
            sent = await asyncio.to_thread(self._sent_request, request)
            try:
                return await handler(sent.request)
            except Exception as error:
                if not self._is_refused(sent, error):
                    raise

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: State, runtime: object) -> dict[str, Any] | None:  # noqa: ARG002
        """Answer calls whose arguments are no JSON: an agent has no other call to go on with."""
        reply = state["messages"][-1]
        broken = unreadable(reply)
        if not broken:
            return None
        answers = {"messages": [unreadable_answer(call) for call in broken]}
        return answers if cast("AIMessage", reply).tool_calls else {**answers, "jump_to": "model"}

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Done]
    ) -> Done:
        """Call a tool of the crib; the graph is interrupted where a person has to be asked."""
        if request.tool is not None:
            return handler(request)
        return run_steps(self._calling(request), self._run)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Done]]
    ) -> Done:
        """As `wrap_tool_call`."""
        if request.tool is not None:
            return await handler(request)
        return await run_steps_async(self._calling(request))

    def _calling(self, request: ToolCallRequest) -> Generator[Any, Any, ToolMessage]:
        name, arguments, id = itemgetter("name", "args", "id")(request.tool_call)
        context = cast("Any", request).runtime.context  # theirs is typed in part alone
        session = self._session(context, request.state["messages"])
        replies: Replies = ()
        if name not in SEARCH_TOOL_NAMES:  # nobody is asked about a search
            question = session.question(name, arguments)
            replies = yield from approval_steps([question_of(id, question)] if question else [])
        runs = session.runs_programs(name)  # a call in it that nobody has approved yet waits
        approver = None if runs else approver_of(id, arguments, replies)
        pin = shown_pin(id, replies)
        return (yield call_in_graph(session, request, pin=pin, approver=approver))

    def _run(self, step: Any) -> Any:  # noqa: ANN401 - as generators are sent it
        if isinstance(step, Coroutine):
            return self._loop.submit(cast("Coroutine[Any, Any, Any]", step)).result()
        return recorded_value(step)

    def _sent_request(self, request: ModelRequest[Any]) -> _SentRequest:
        wire = wire_of_model(request.model)
        choice = wire.choose(self._auto) if wire else APPEND
        session = self._make(request.runtime.context)
        prefetch = prefetches(session, request.model, choice.mode)
        session_after(session, request.state["messages"], prefetch=prefetch)
        shaped = request_in_mode(choice.mode, session, request.messages)
        own = {_name(tool) for tool in request.tools}
        override = request.override(
            tools=[*request.tools, *(tool for tool in shaped.tools if _name(tool) not in own)],
            messages=shaped.messages,
            system_message=self._prompt(session, request.system_message),
        )
        return _SentRequest(override, wire, choice)

    def _is_refused(self, sent: _SentRequest, error: Exception) -> bool:
        wire = sent.wire
        return bool(wire and self._auto.refuse(wire.endpoint, sent.choice.mode, error))

    def _prompt(self, session: Session, given: SystemMessage | None) -> SystemMessage | None:
        """The system message with the note behind it: the same bytes as long as the catalog is."""
        note = search_note(session)
        if not self._note or not note:
            return given
        prompt = given.content if given else ""
        if isinstance(prompt, str):
            return SystemMessage(f"{prompt}\n\n{note}" if prompt else note)
        return SystemMessage([*prompt, {"type": "text", "text": note}])

    def _session(self, context: object, messages: Sequence[AnyMessage]) -> Session:
        return session_after(self._make(context), messages)


def _name(tool: BaseTool | dict[str, Any]) -> str:
    """The name of a tool, in whichever form it is handed to a chat model."""
    match tool:
        case {"function": {"name": str(name)}} | {"name": str(name)} | BaseTool(name=name):
            return name
        case _:
            return ""


def _for_anyone(crib: Crib) -> Callable[[Any], Session]:
    """A session for each request, with the rights of the program itself."""
    return lambda _context: crib.session()
