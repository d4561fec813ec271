"""The answer to `tools/list`: which tools a principal is shown, and how each goes on the wire.

A tool that is malformed costs itself, and no other.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from toolcrib.gateway import sdk
from toolcrib.gateway.caller_view import CallerView
from toolcrib.gateway.code_tool_definitions import CODE_TOOLS
from toolcrib.gateway.fixed_tool_definitions import (
    ALWAYS_LOAD,
    DESCRIBE,
    FIXED_TOOLS,
    RESULT,
    SEARCH,
)
from toolcrib.gateway.modes import EffectiveMode, effective_mode
from toolcrib.gateway.sdk import Result
from toolcrib.model import ASKS, Capability, Json, JsonObject, ToolInfo
from toolcrib.session import DeferralPlan
from toolcrib.sources import permission_from

_TYPES: Mapping[str, type] = {
    "title": str,
    "readOnlyHint": bool,
    "destructiveHint": bool,
    "idempotentHint": bool,
    "openWorldHint": bool,
}
_VERSIONS = (sdk.LATEST_HANDSHAKE_VERSION, sdk.LATEST_MODERN_VERSION)
_FOR_HOSTS = frozenset({"anthropic/alwaysLoad", "anthropic/searchHint"})
_FOR_SKILLS_AND_AGENTS = (SEARCH, DESCRIBE)


def _listed(tools: Mapping[str, ToolInfo]) -> Mapping[str, sdk.Result]:
    """Fixed tools by name, in order: the same bytes for every principal."""
    return {
        tool.name: {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.parameters,
            "annotations": tool.annotations,
            "_meta": ALWAYS_LOAD,
        }
        for tool in tools.values()
    }


FIXED_TOOLS_LISTED: Final = _listed(FIXED_TOOLS)
CODE_TOOLS_LISTED: Final = _listed(CODE_TOOLS)


class ToolList:
    """The lists of one principal. Mode, reveals and catalog determine a list."""

    def __init__(self, view: CallerView) -> None:
        self._view = view
        self._loaded = ToolEncoder(view.asks)
        self._deferrable = ToolEncoder(view.asks)

    def mode(self, client: str, *, modern: bool) -> EffectiveMode:
        """How tools are listed to a client of this name, in this era."""
        return effective_mode(
            self._view.mode,
            tools=len(self._view.plan("nothing").core_names),
            waits=self._view.mode == "auto" and self._view.plan("as set").deferring,
            client=client,
            modern=modern,
        )

    def tools(self, mode: EffectiveMode, revealed: Sequence[str] = ()) -> list[Result]:
        """The list. Fixed tools come first and never change; revealed tools come last.

        Between them stands what never waits, by source and name. Of what waits there are stubs with
        that style of sessions.
        """
        match mode:
            case "search" | "reveal":
                plan = self._plan()
                more = plan.shown_behind_core(revealed if mode == "reveal" else ())
                return self._behind(FIXED_TOOLS_LISTED, (*plan.core_tools, *more))
            case "code":
                return self._behind(CODE_TOOLS_LISTED, self._plan().core_tools)
            case "direct":
                every = _without(FIXED_TOOLS, self._view.plan("nothing").core_tools)
                return [*self._loaded.of(every), *self._companions()]
            case "passthrough":
                every = _without(FIXED_TOOLS, self._view.plan("nothing").core_tools)
                never = frozenset(self._view.plan("all").core_names)
                return [*self._deferrable.of(every, never), *self._companions()]

    def _plan(self) -> DeferralPlan:
        """What waits in a list that has a search: in a mode that was chosen, all that may."""
        asked = self._view.plan("as set") if self._view.mode == "auto" else None
        return asked if asked and asked.deferring else self._view.plan("all")

    def _behind(self, fixed: Mapping[str, Result], tools: Sequence[ToolInfo]) -> list[Result]:
        return [*fixed.values(), *self._loaded.of(_without(fixed, tools))]

    def _companions(self) -> list[Result]:
        """The fixed tools that a full list needs: for skills and agents, for large results."""
        others = any(traits.kind != "tool" for traits in self._view.groups())
        names = (*(_FOR_SKILLS_AND_AGENTS if others else ()), RESULT)
        return [FIXED_TOOLS_LISTED[name] for name in names]


def _without(fixed: Container[str], tools: Sequence[ToolInfo]) -> list[ToolInfo]:
    """Those whose name no fixed tool has; the others are called by `tool_call`."""
    return [tool for tool in tools if tool.name not in fixed]


class ToolEncoder:
    """Encodes tools for the wire, each once. Safe to share between threads."""

    def __init__(self, asks: Callable[[ToolInfo], bool] = lambda _tool: False) -> None:
        """`asks`: whether a person approves each call of a tool; then its description says so."""
        self._asks = asks
        self._encoded: Mapping[str, EncodedTool] = {}

    def of(
        self, tools: Iterable[ToolInfo], loaded: Container[str] | None = None
    ) -> list[sdk.Result]:
        """These tools, in this order.

        Hosts that defer tools by themselves are told not to defer those that are `loaded`; None:
        not to defer any.
        """
        last, now = self._encoded, dict[str, EncodedTool]()
        for tool in tools:
            how = loaded is None or tool.name in loaded, self._asks(tool)
            known = last.get(tool.name)
            same = known and known.tool is tool and known.how == how
            now[tool.name] = known if known and same else EncodedTool.of(tool, how)
        self._encoded = now
        return [each.wire for each in now.values()]


class EncodedTool(NamedTuple):
    """A tool on the wire. `how`: whether it is always loaded, whether a person approves calls."""

    tool: ToolInfo
    how: tuple[bool, bool]
    wire: sdk.Result

    @classmethod
    def of(cls, tool: ToolInfo, how: tuple[bool, bool]) -> "EncodedTool":
        """The tool, encoded so."""
        always_load, asks = how
        wire = _encoded(tool, always_load=always_load)
        if asks:
            wire["description"] = f"{tool.description}\n({ASKS})".strip()
        return cls(tool, how, _valid(wire))


def _encoded(tool: ToolInfo, *, always_load: bool) -> sdk.Result:
    """All that is known of a tool, by the names of the protocol."""
    wire: sdk.Result = {"name": tool.name, "inputSchema": _schema(tool.parameters)}
    if tool.title:
        wire["title"] = tool.title
    if tool.description:
        wire["description"] = tool.description
    if has_output_schema(tool):
        wire["outputSchema"] = tool.output_schema
    if hints := _annotations(tool):
        wire["annotations"] = hints
    if meta := _meta(tool, always_load=always_load):
        wire["_meta"] = meta
    return wire


def has_output_schema(capability: Capability) -> bool:
    """Whether it is listed with an output schema: only servers give structured content."""
    is_listed = isinstance(capability, ToolInfo) and bool(capability.output_schema)
    return is_listed and capability.source == "mcp"


def _schema(parameters: JsonObject) -> JsonObject:
    return parameters if parameters.get("type") == "object" else {**parameters, "type": "object"}


def _annotations(tool: ToolInfo) -> JsonObject:
    """As its server gives them, if they fit the permission kind that we have for the tool.

    They do not where the operator has said something else or does not believe that server, or where
    the tool comes from elsewhere. Then our kind decides.
    """
    kind = tool.permission_kind
    given = {key: each for key, each in tool.annotations.items() if _fits_hint(key, each)}
    if tool.source == "mcp" and permission_from(given, believed=True) == kind:
        return given
    ours: dict[str, Json] = {"readOnlyHint": kind == "read"}
    if kind in ("read", "dangerous"):
        ours["destructiveHint"] = kind == "dangerous"
    return {**given, **ours}


def _fits_hint(key: str, value: Json) -> bool:
    """Whether the protocol takes it: one bad hint would cost the whole tool."""
    return isinstance(value, _TYPES[key]) if key in _TYPES else True


def _meta(tool: ToolInfo, *, always_load: bool) -> dict[str, Json]:
    """The `_meta` of the server, and what helps a host that defers."""
    meta = {key: value for key, value in tool.meta.items() if key not in _FOR_HOSTS}
    if always_load:
        meta |= ALWAYS_LOAD
    elif tool.search_hint:
        meta["anthropic/searchHint"] = tool.search_hint
    return meta


def _valid(wire: sdk.Result) -> sdk.Result:
    """The tool, if the SDK would send it in both eras; else as little of it as it surely sends."""
    if all(sdk.fits("tools/list", version, _page(wire)) for version in _VERSIONS):
        return wire
    few = ("name", "description", "annotations")
    return {**{key: wire[key] for key in few if key in wire}, "inputSchema": {"type": "object"}}


def _page(wire: sdk.Result) -> sdk.Result:
    return {"tools": [wire], "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
