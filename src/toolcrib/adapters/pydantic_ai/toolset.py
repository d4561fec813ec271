"""pydantic-ai: every tool of a crib as one toolset, of which a model is shown the few it needs.

    agent = Agent(model, toolsets=[ToolcribToolset(crib)])

The toolset brings the search tool itself, and lists what was found behind it: on any model, with a
catalog of any size. With `deferred=True` it lists all tools as deferred ones instead and leaves it
to the `ToolSearch` capability when to show them, on the provider's own wire where that has one:

    toolset = ToolcribToolset(crib, deferred=True)
    search = ToolSearch(strategy=toolcrib_search(crib))
    agent = Agent(model, toolsets=[toolset], capabilities=[search])
"""

import asyncio
import sys
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeAlias, cast

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import BinaryContent, InstructionPart
from pydantic_ai.tools import AgentDepsT, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from toolcrib.adapters.pydantic_ai.conversation import Sessions, session_for, session_in
from toolcrib.adapters.wire.calls import approver_for
from toolcrib.adapters.wire.outcome_text import Image, outcome_parts, outcome_text
from toolcrib.adapters.wire.proxy import search_note
from toolcrib.adapters.wire.tool_list import object_schema
from toolcrib.api_arguments import check
from toolcrib.crib import Crib
from toolcrib.execute import ApprovalRequest
from toolcrib.model import Outcome, ToolInfo
from toolcrib.session import Session
from toolcrib.sources import injecting_context

Strategy = Callable[[RunContext[Any], Sequence[str], Sequence[ToolDefinition]], Sequence[str]]
Tools = dict[str, ToolsetTool[Any]]
Result: TypeAlias = str | list[str | BinaryContent]

NO_LIMIT = sys.maxsize
"""How often a refused call may be repeated: the usage limits of the run hold all the same."""

# The door checks arguments against the tool's own schema, and repairs the usual slips first.
ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


class _AnsweredTools(Tools):
    """The tools of a step. A lookup of any other name gives a tool of the toolset of `like`.

    pydantic-ai looks up the name of a call among the tools of the step. It tells the model that
    another name is unknown, and ends the run when that is called again. A deferred tool has such a
    name, and only the door can say how to find it. The list itself has no more tools than before.
    """

    def __init__(self, tools: Tools, like: ToolsetTool[Any]) -> None:
        super().__init__(tools)
        self._like = like

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401, ARG002 - as of a dict
        """The tool of this name, or one that hands the call to the toolset."""
        return self[name]

    def __missing__(self, name: str) -> ToolsetTool[Any]:
        return replace(self._like, tool_def=replace(self._like.tool_def, name=name))


def _answer_unlisted(toolset: AbstractToolset[Any], ctx: RunContext[Any]) -> None:
    """Let this toolset answer calls of names that the current step does not list."""
    manager = ctx.tool_manager
    tools = manager.tools if manager else None
    if not manager or tools is None or isinstance(tools, _AnsweredTools):
        return
    own = (tool for tool in tools.values() if tool.toolset is toolset)
    if like := next(own, None):
        manager.tools = _AnsweredTools(tools, like)


class ToolcribToolset(AbstractToolset[AgentDepsT], Generic[AgentDepsT]):
    """The tools of a crib, called through its door.

    `sessions` is a crib, or a function that makes a session without an id for the `deps` of a run:
    for agents whose callers have different rights. `note` adds to the instructions how to find
    tools, and what there is; with `deferred` the capability says so itself.
    """

    def __init__(
        self,
        sessions: Sessions,
        *,
        deferred: bool = False,
        note: bool = True,
        id: str | None = "toolcrib",
    ) -> None:
        check(sessions, Crib | Callable, "ToolcribToolset()", "pass the crib")
        self._sessions = sessions
        self._deferred = deferred
        self._note = note and not deferred
        self._id = id

    @property
    def id(self) -> str | None:
        """By which durable execution knows this toolset."""
        return self._id

    async def get_instructions(self, ctx: RunContext[AgentDepsT]) -> InstructionPart | None:
        """How to find tools: the same bytes as long as the catalog is the same.

        pydantic-ai asks once the tools of the step are fixed: the time to answer other names.
        """
        if not self._deferred:
            _answer_unlisted(self, ctx)
        session = self._session(ctx)
        text = search_note(session)
        return InstructionPart(text) if self._note and text else None

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """What the conversation shows; with `deferred` all there is, in an order that stays.

        The newest message of the user is prefetched; see the setting `session.prefetch`.
        """
        session = await asyncio.to_thread(self._session, ctx, ctx.model.model_name)
        if not self._deferred or session.style == "code":
            return {tool.name: self._tool(tool) for tool in session.active_tools()}
        core = {tool.name: self._tool(tool) for tool in session.core_tools()}
        waiting = session.deferred_tools()
        return core | {tool.name: self._tool(tool, deferred=True) for tool in waiting}

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],  # noqa: ARG002 - the door resolves the name again
    ) -> Result:
        """What the model reads; images apart, for models that see them.

        Raises `ToolFailed` with the error of a call that failed, and `ApprovalRequired` where a
        person has to approve; its metadata is what they are shown.
        """
        session = self._session(ctx)
        if self._deferred:  # the capability has admitted it
            session.see([name])
        question = session.question(name, tool_args)
        if question:
            _check_approval(question, ctx)
        approver, paged = approver_for(question), not self._deferred
        with injecting_context(ctx):
            return _result(await session.call(name, tool_args, approver=approver, paged=paged))

    def _session(self, ctx: RunContext[AgentDepsT], model: str | None = None) -> Session:
        if self._deferred:
            return session_for(self._sessions, ctx.deps)
        return session_in(self._sessions, ctx.deps, ctx.messages, model)

    def _tool(self, tool: ToolInfo, *, deferred: bool = False) -> ToolsetTool[AgentDepsT]:
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=cast("dict[str, Any]", object_schema(tool.parameters)),
            strict=False,
            defer_loading=deferred,
        )
        return ToolsetTool(
            toolset=self,
            tool_def=definition,
            max_retries=NO_LIMIT,
            args_validator=ANY_OBJECT,
        )


def _check_approval(request: ApprovalRequest, ctx: RunContext[Any]) -> None:
    """Return if this call was approved. Raises `ApprovalRequired`, and `ToolFailed`.

    Where the program hands back the metadata of the question, the approval is for the definition
    that the person saw: a tool that has changed since is not called.
    """
    if not ctx.tool_call_approved:
        raise ApprovalRequired(_question(request))
    seen = ctx.tool_call_metadata
    if isinstance(seen, Mapping) and cast("Mapping[str, Any]", seen).get("pin") != request.pin:
        raise ToolFailed(f"{request.name!r} has changed since it was approved")


def _question(request: ApprovalRequest) -> dict[str, Any]:
    """What the person is shown besides the call itself."""
    return {
        "tool": request.name,
        "description": request.description,
        "permission_kind": request.permission_kind,
        "pin": request.pin,
        "caller": request.caller,
    }


def _result(outcome: Outcome) -> Result:
    if outcome.error:
        raise ToolFailed(outcome_text(outcome))
    parts = outcome_parts(outcome)
    if isinstance(parts, str):
        return parts
    return [part if isinstance(part, str) else _image(part) for part in parts]


def _image(image: Image) -> BinaryContent:
    return BinaryContent(b64decode(image.data), media_type=image.media_type)


def toolcrib_search(sessions: Sessions) -> Strategy:
    """A search strategy: `ToolSearch(strategy=toolcrib_search(crib))`.

    It finds the tools of a `ToolcribToolset` with `deferred=True`, and no other deferred tools: an
    agent that has such tools besides has no use for it.
    """

    def search(
        context: RunContext[Any], queries: Sequence[str], tools: Sequence[ToolDefinition]
    ) -> list[str]:
        """The names of what fits best, best first."""
        offered = {tool.name for tool in tools}
        found = session_for(sessions, context.deps).search(queries=queries)
        return [tool.name for tool in found.tools if tool.name in offered]

    return search
