"""LangChain's injected arguments: state, store, ids and context, which no model fills in."""

from collections.abc import Mapping
from functools import partial
from inspect import Parameter
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolCallId
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.prebuilt.tool_node import ToolCallRequest

from toolcrib.adapters.langchain_messages import message_of
from toolcrib.execute import Approver
from toolcrib.session import Session
from toolcrib.sources import injecting, injection


async def call_in_graph(
    session: Session, request: ToolCallRequest, *, pin: str, approver: Approver | None
) -> ToolMessage:
    """Make a call of the model; what the graph knows is filled into the function that it reaches.

    A plain `InjectedToolArg` is looked up by its name: in the context of the run, else under
    `configurable` of its config.
    """
    call = request.tool_call
    with injecting(partial(_value, cast("Any", request))):  # theirs is typed in part alone
        outcome = await session.call(call["name"], call["args"], pin=pin, approver=approver)
    return message_of(call["name"], call["id"], outcome)


def _value(request: Any, parameter: Parameter) -> object:  # noqa: ANN401
    kind, runtime = injection(parameter.annotation) or object, request.runtime
    if issubclass(kind, InjectedState):
        marks = getattr(parameter.annotation, "__metadata__", ())
        field = next(filter(None, (getattr(mark, "field", None) for mark in marks)), None)
        return _member(request.state, field, parameter.default) if field else request.state
    for known, value in (
        (InjectedStore, runtime.store),
        (InjectedToolCallId, request.tool_call["id"]),
        (ToolRuntime, runtime),
        (RunnableConfig, runtime.config),
    ):
        if known in kind.__mro__:
            return value
    configured = _member(runtime.config.get("configurable"), parameter.name, parameter.default)
    return _member(runtime.context, parameter.name, configured)


def _member(value: object, name: str, default: object) -> object:
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value).get(name, default)
    return getattr(value, name, default)
