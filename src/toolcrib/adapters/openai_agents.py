"""OpenAI Agents SDK: the tools of a session, for the `tools` of an agent.

    agent = Agent(name="helper", tools=[*own, *toolcrib_tools(crib.session("thread-1"))])

Before every turn the SDK asks which tools are enabled. That is how a tool is shown to the model:

    enabled    every tool is there from the start, and enabled once a search has revealed it; any
               model
    hosted     deferred, in namespaces, and OpenAI's own search loads them; Responses API
    proxy      search tool and `call_tool`: constant, for catalogs of any size; any model

A list of tools is for one conversation, as the session is. Clone an agent that several share.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from agents import (
    FunctionTool,
    RunContextWrapper,
    Tool,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolSearchTool,
    tool_namespace,
)
from agents.agent import AgentBase
from agents.tool_context import ToolContext

from toolcrib.adapters.auto import choose_prefetch
from toolcrib.adapters.wire.calls import ToolCall, approver_for, make_call
from toolcrib.adapters.wire.outcome_text import outcome_text
from toolcrib.adapters.wire.proxy import (
    PROXY_TOOL,
    revealed_by_call,
    search_note,
    unwrap_proxy_call,
)
from toolcrib.adapters.wire.reply import objects, text_of
from toolcrib.adapters.wire.tool_list import group_in_namespaces, object_schema
from toolcrib.adapters.wire.user_messages import said_in_items
from toolcrib.api_arguments import check
from toolcrib.model import JsonObject, ToolInfo
from toolcrib.session import SEARCH_TOOL, Session, UserMessage
from toolcrib.sources import injecting_context
from toolcrib.strict_json import parse_strictly

__all__ = ["AgentsMode", "revealed", "toolcrib_note", "toolcrib_tools"]

AgentsMode = Literal["enabled", "hosted", "proxy"]

Context: TypeAlias = RunContextWrapper[Any]
IsEnabled: TypeAlias = Callable[[Context, AgentBase[Any]], bool]


def toolcrib_tools(session: Session, mode: AgentsMode = "enabled") -> list[Tool]:
    """The tools of this session, as the catalog is now.

    What is revealed lasts in the session, and what the input of a run shows is revealed too. With
    `enabled` the newest message of the user is prefetched; see the setting `session.prefetch`.
    Calls go through the door. Where the rules ask for approval, the run is interrupted, and
    `state.approve(...)` approves that one call.
    """
    check(session, Session, "toolcrib_tools()", "write crib.session()")
    check(mode, AgentsMode, "mode=")
    if session.style == "code":
        return [_tool(session, tool) for tool in session.active_tools()]
    core = [_tool(session, tool) for tool in session.core_tools()]
    deferred = session.deferred_tools()
    if not deferred:
        return [*core, _tool(session, SEARCH_TOOL, is_enabled=_reading_on(session))]
    if mode == "hosted":
        return [*core, *_namespaces(session), ToolSearchTool()]
    search = _tool(session, SEARCH_TOOL, is_enabled=_seeing(session, mode))
    if mode == "proxy":
        return [*core, search, _tool(session, PROXY_TOOL, asks=_may_ask(session))]
    waiting = (_tool(session, tool, is_enabled=_revealed(session, tool.name)) for tool in deferred)
    return [*core, search, *waiting]


def toolcrib_note(session: Session, mode: AgentsMode = "enabled") -> str:
    """How to find tools, for the instructions of an agent; "" where nothing is deferred.

    The same bytes as long as the catalog is the same.
    """
    hosted = mode == "hosted" and session.style != "code"
    if hosted or not session.deferring:
        return ""
    return search_note(session, proxy=mode == "proxy")


def revealed(items: Iterable[object]) -> Iterator[str | UserMessage]:
    """The names that searches have revealed, those that were called, and what the user wrote.

    For `session.compacted(frozenset(revealed(items)))`, once a conversation was made shorter.
    """
    calls: dict[str, ToolCall] = {}
    read = objects(list(items))
    for item, said in zip(read, said_in_items(read), strict=True):
        if said:
            yield UserMessage(said)
        id = text_of(item.get("call_id"))
        match item:
            case {"type": "function_call", "name": str(name)}:
                calls[id] = ToolCall(id, name, text_of(item.get("arguments")))
            case {"type": "function_call_output"} if id in calls:
                yield from revealed_by_call(calls[id], text_of(item.get("output")))
            case _:
                pass


def _namespaces(session: Session) -> list[FunctionTool]:
    return [
        tool
        for each in group_in_namespaces(session.deferred_tools())
        for tool in tool_namespace(
            name=each.name,
            description=each.description,
            tools=[_tool(session, tool, hosted=True) for tool in each.tools],
        )
    ]


def _tool(
    session: Session,
    tool: ToolInfo,
    *,
    is_enabled: bool | IsEnabled = True,
    asks: bool | None = None,
    hosted: bool = False,
) -> FunctionTool:
    """A tool of the session as a function. `asks` None means that the rules decide."""
    handler = _ToolHandler(session, tool.name, hosted)
    may_ask = session.asks(tool.name) if asks is None else asks
    guardrail: ToolInputGuardrail[Any] = ToolInputGuardrail(handler.check, name="toolcrib")
    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=cast("dict[str, Any]", object_schema(tool.parameters)),
        on_invoke_tool=handler.invoke,
        strict_json_schema=False,  # strictness would make every parameter a required one
        is_enabled=is_enabled,
        # With a function here the SDK takes arguments that it cannot read for a reason to ask.
        needs_approval=handler.needs_approval if may_ask else False,
        tool_input_guardrails=[guardrail] if may_ask else None,
        defer_loading=hosted,
    )


@dataclass(frozen=True, slots=True)
class _ToolHandler:
    """What the SDK calls for one tool: the approval, the check of the arguments, the call."""

    session: Session
    name: str
    hosted: bool

    async def invoke(self, context: ToolContext[Any], arguments: str) -> str:
        call = self._call(context.tool_call_id, arguments)
        question = self.session.question(call.name, call.arguments)
        is_approved = context.is_tool_approved(context.qualified_tool_name, context.tool_call_id)
        approver = approver_for(question) if is_approved else None
        with injecting_context(context):
            outcome = await make_call(self.session, call, approver, paged=not self.hosted)
        return outcome_text(outcome)

    async def needs_approval(self, _context: Context, arguments: dict[str, Any], id: str) -> bool:
        call = self._call(id, cast("JsonObject", arguments))
        return self.session.question(call.name, call.arguments) is not None

    async def check(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        """Let the model read at once what is wrong with arguments that are not JSON."""
        text = data.context.tool_arguments
        if _is_json(text):
            return ToolGuardrailFunctionOutput.allow()
        call = self._call(data.context.tool_call_id, text)
        refused = await make_call(self.session, call, None)
        return ToolGuardrailFunctionOutput.reject_content(outcome_text(refused))

    def _call(self, id: str, arguments: JsonObject | str) -> ToolCall:
        if self.hosted:  # the provider has revealed it, or the model could not call it
            self.session.see([self.name])
        return unwrap_proxy_call(ToolCall(id, self.name, arguments))


def _may_ask(session: Session) -> bool:
    """Whether a call of a deferred tool may need approval."""
    return any(session.asks(tool.name) for tool in session.deferred_tools())


def _is_json(text: str) -> bool:
    try:
        parse_strictly(text or "{}")
    except (ValueError, RecursionError):
        return False
    return True


def _seeing(session: Session, mode: AgentsMode) -> IsEnabled:
    """The search tool is always enabled. Asked that, it reads the input of the run.

    It stands before the deferred tools, and the SDK asks in order. The proxy tool calls what a
    search has described: there nothing can be shown unasked, since the runner alone writes.
    """

    def is_enabled(context: Context, agent: AgentBase[Any]) -> bool:
        prefetch = choose_prefetch(session.prefetch_mode, _model_name(agent)).on
        session.see(revealed(context.turn_input), prefetch=prefetch and mode == "enabled")
        return True

    return is_enabled


def _model_name(agent: object) -> str:
    """The name of an agent's model, as far as the agent says it."""
    model = getattr(agent, "model", None)
    return text_of(model) or text_of(getattr(model, "model", None))


def _reading_on(session: Session) -> IsEnabled:
    """Where nothing is deferred, the search tool is enabled once a result is long."""

    def is_enabled(context: Context, _agent: AgentBase[Any]) -> bool:
        session.see(revealed(context.turn_input))
        return session.search_tool is not None

    return is_enabled


def _revealed(session: Session, name: str) -> IsEnabled:
    def is_enabled(_context: Context, _agent: AgentBase[Any]) -> bool:
        return any(tool.name == name for tool in session.revealed_tools())

    return is_enabled
