"""LangGraph: a `ToolNode` that calls what search finds, and asks where the rules say so.

    tool calls → questions → one interrupt each → all calls at once → messages

How a question and its reply stay together is in `toolcrib.adapters.interrupts`.
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, TypedDict, Unpack
from weakref import finalize

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from toolcrib.adapters.interrupts import (
    Replies,
    afinished,
    approver_of,
    asking,
    finished,
    message_of,
    on_record,
    question_of,
)
from toolcrib.crib import HOST, Crib
from toolcrib.execute.caller import Caller
from toolcrib.model import JsonObject
from toolcrib.sources.background_loop import BackgroundLoop

Done: TypeAlias = "ToolMessage | Command[Any]"

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
        replies = finished(asking(self._questions(input)), on_record)
        with _replied(replies):
            return super()._func(input, config, runtime)

    async def _afunc(
        self,
        input: list[AnyMessage] | dict[str, Any] | Any,  # noqa: A002, ANN401
        config: RunnableConfig,
        runtime: Runtime[Any],
    ) -> Any:  # noqa: ANN401
        replies = await afinished(asking(self._questions(input)))
        with _replied(replies):
            return await super()._afunc(input, config, runtime)

    def _questions(self, input: Any) -> Sequence[JsonObject]:  # noqa: A002, ANN401
        calls, _ = self._parse_input(input)
        asked = (
            (call["id"], self._crib.question(call["name"], call["args"], caller=self._caller))
            for call in calls
            if not self._is_bound(call["name"])
        )
        return [question_of(id, request) for id, request in asked if request]

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
            approver=approver_of(call["id"], replies),
        )
        return message_of(call["name"], call["id"], outcome)


@contextmanager
def _replied(replies: Replies) -> Generator[None]:
    """Have these replies at hand, in every thread and task that this context starts."""
    token = _REPLIES.set(replies)
    try:
        yield
    finally:
        _REPLIES.reset(token)


def _pin_shown(id: str | None, replies: Replies) -> str:
    """The definition that the person saw; empty where nobody was asked."""
    pins = (str(question["pin"]) for question, _ in replies if question["tool_call_id"] == id)
    return next(pins, "")
