"""LangGraph: a `ToolNode` that calls what search finds, and asks where the rules say so.

    tool calls → questions → one interrupt each → all calls at once → messages

LangGraph runs an interrupted node again from its start, with the replies in the order of the
interrupts. So all questions are asked before anything is called, and they are recorded in the
checkpoint before the first is asked: a reply then belongs to what was shown, whatever has changed
since, and in whichever process the graph goes on.
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from secrets import token_hex
from typing import Any, TypeAlias, TypedDict, Unpack
from weakref import finalize

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.func import task  # pyright: ignore[reportMissingTypeStubs]
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from toolcrib.adapters.wire.told import told
from toolcrib.crib import HOST, Crib
from toolcrib.execute.approval import Approver
from toolcrib.execute.caller import Caller
from toolcrib.execute.tickets import ApprovalRequest
from toolcrib.model import JsonObject, Outcome
from toolcrib.sources.background_loop import BackgroundLoop

Done: TypeAlias = "ToolMessage | Command[Any]"
Replies: TypeAlias = Sequence[tuple[JsonObject, bool]]
"""Each question that was asked, and whether the reply to it was leave."""

_REPLIES: ContextVar[Replies] = ContextVar("toolcrib_replies", default=())


@task
def approval_questions(questions: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """What is asked, as it was when it was first asked."""
    return questions


@task
def approval_spent(run: str) -> str:
    """The run of the node that the replies were spent on."""
    return run


class NodeOptions(TypedDict, total=False):
    """What else a `ToolNode` takes. Its wrappers are not among it: they would go round the door."""

    name: str
    tags: list[str] | None
    handle_tool_errors: (
        bool | str | Callable[..., str] | type[Exception] | tuple[type[Exception], ...]
    )
    messages_key: str


class ApprovalToolNode(ToolNode):
    """Runs the tools that were bound, and every tool of a crib without binding it.

    A bound tool runs as in any `ToolNode`, unless the crib has a tool of that name; all other calls
    go through the crib's door. Where that asks for approval, the graph is interrupted, once for
    each such call, before any call of the message is made. To resume with True or with
    `{"approved": True}` is leave for that call; anything else is none, and the model reads that the
    call was refused. An interrupt needs a checkpointer.
    """

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., object]],
        crib: Crib,
        *,
        caller: Caller = HOST,
        **options: Unpack[NodeOptions],
    ) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - a bare Callable of theirs
            tools, wrap_tool_call=self._called, awrap_tool_call=self._acalled, **options
        )
        self._crib = crib
        self._caller = caller
        self._loop = BackgroundLoop("toolcrib-calls")
        finalize(self, self._loop.end_soon)

    def _func(
        self,
        input: list[AnyMessage] | dict[str, Any] | Any,  # noqa: A002, ANN401 - named by LangGraph
        config: RunnableConfig,
        runtime: Runtime[Any],
    ) -> Any:  # noqa: ANN401
        steps = self._asked(input)
        try:
            record = next(steps)
            while True:
                record = steps.send(record.result())
        except StopIteration as done:
            replies = done.value
        with _replied(replies):
            return super()._func(input, config, runtime)

    async def _afunc(
        self,
        input: list[AnyMessage] | dict[str, Any] | Any,  # noqa: A002, ANN401
        config: RunnableConfig,
        runtime: Runtime[Any],
    ) -> Any:  # noqa: ANN401
        steps = self._asked(input)
        try:
            record = next(steps)
            while True:
                record = steps.send(await record)
        except StopIteration as done:
            replies = done.value
        with _replied(replies):
            return await super()._afunc(input, config, runtime)

    def _asked(self, input: Any) -> Generator[Any, Any, Replies]:  # noqa: A002, ANN401
        """The replies to all questions of a message; yields what has to be on record first.

        Once the calls may have begun, the replies are spent: a node that is run again after a
        failure has none.
        """
        questions = self._questions(input)
        if not questions:
            return ()
        questions = yield approval_questions(questions)
        replies = [(question, _is_leave(interrupt(question))) for question in questions]
        this_run = token_hex(8)
        first_run = yield approval_spent(this_run)
        return replies if first_run == this_run else ()

    def _questions(self, input: Any) -> Sequence[JsonObject]:  # noqa: A002, ANN401
        calls, _ = self._parse_input(input)
        asked = (
            (call["id"], self._crib.question(call["name"], call["args"], caller=self._caller))
            for call in calls
            if not self._is_bound(call["name"])
        )
        return [_question(id, request) for id, request in asked if request]

    def _is_bound(self, name: str) -> bool:
        """Whether it is a tool of the node's own. By the full name: a crib's bare name is none."""
        return name in self.tools_by_name and name not in self._crib.entries()

    def _called(self, request: ToolCallRequest, run: Callable[[ToolCallRequest], Done]) -> Done:
        if self._is_bound(request.tool_call["name"]):
            return run(request)
        return self._loop.submit(self._through_the_door(request)).result()

    async def _acalled(
        self, request: ToolCallRequest, run: Callable[[ToolCallRequest], Awaitable[Done]]
    ) -> Done:
        if self._is_bound(request.tool_call["name"]):
            return await run(request)
        return await self._through_the_door(request)

    async def _through_the_door(self, request: ToolCallRequest) -> ToolMessage:
        call, replies = request.tool_call, _REPLIES.get()
        outcome = await self._crib.call(
            call["name"],
            call["args"],
            caller=self._caller,
            pin=_pin_shown(call["id"], replies),
            approver=_approver(call["id"], replies),
        )
        return _message(call["name"], call["id"], outcome)


@contextmanager
def _replied(replies: Replies) -> Generator[None]:
    """Have these replies at hand, in every thread and task that this context starts."""
    token = _REPLIES.set(replies)
    try:
        yield
    finally:
        _REPLIES.reset(token)


def _question(id: str | None, request: ApprovalRequest) -> JsonObject:
    """What the person is shown, and by which a reply is held to what was shown."""
    return {
        "tool": request.name,
        "arguments": request.arguments,
        "permission_kind": request.permission_kind,
        "pin": request.pin,
        "description": request.description,
        "caller": request.caller,
        "tool_call_id": id,
    }


def _is_leave(reply: object) -> bool:
    match reply:
        case True | {"approved": True}:
            return True
        case _:
            return False


def _pin_shown(id: str | None, replies: Replies) -> str:
    """The definition that the person saw; empty where nobody was asked."""
    pins = (str(question["pin"]) for question, _ in replies if question["tool_call_id"] == id)
    return next(pins, "")


def _approver(id: str | None, replies: Replies) -> Approver:
    """Answers from the replies: leave for the call that was shown, and for no other."""

    async def reply_to(request: ApprovalRequest) -> bool:
        asked = _question(id, request)
        said = [leave for question, leave in replies if question == asked]
        if not said:
            raise LookupError("this call was not asked about, or its approval is spent")
        return all(said)

    return reply_to


def _message(name: str, id: str | None, outcome: Outcome) -> ToolMessage:
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
