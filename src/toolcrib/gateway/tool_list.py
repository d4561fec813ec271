"""The answer to `tools/list`: which tools a principal is shown, and how each goes on the wire.

A tool that is malformed costs itself, and no other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

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
        self._encoder = ToolEncoder(always_load=True, asks=view.asks)
        self._deferrable = ToolEncoder(always_load=False, asks=view.asks)

    def mode(self, client: str, *, modern: bool) -> EffectiveMode:
        """How tools are listed to a client of this name, in this era."""
        return effective_mode(
            self._view.principal.profile.mode,
            tools=len(self._view.tool_names()),
            threshold=self._view.settings.session.threshold,
            client=client,
            modern=modern,
        )

    def tools(self, mode: EffectiveMode, revealed: Sequence[str] = ()) -> list[Result]:
        """The list. Fixed tools come first and never change; revealed tools come last."""
        match mode:
            case "search" | "reveal":
                always = self._view.pinned()
                more = self._revealed(revealed if mode == "reveal" else (), always)
                return [
                    *FIXED_TOOLS_LISTED.values(),
                    *self._encoder.of(_without_fixed((*always, *more))),
                ]
            case "code":
                pinned = [tool for tool in self._view.pinned() if tool.name not in CODE_TOOLS]
                return [*CODE_TOOLS_LISTED.values(), *self._encoder.of(pinned)]
            case "direct":
                return [*self._encoder.of(_without_fixed(self._view.tools())), *self._companions()]
            case "passthrough":
                return [
                    *self._deferrable.of(_without_fixed(self._view.tools())),
                    *self._companions(),
                ]

    def _revealed(self, names: Sequence[str], always: Sequence[ToolInfo]) -> Iterator[ToolInfo]:
        listed = {tool.name for tool in always}
        offered = frozenset(self._view.tool_names()) if names else frozenset[str]()
        new = (name for name in names if name in offered and name not in listed)
        return filter(None, map(self._view.visible.tool, new))

    def _companions(self) -> list[Result]:
        """The fixed tools that a full list needs: for skills and agents, for large results."""
        others = any(traits.kind != "tool" for traits in self._view.groups())
        names = (*(_FOR_SKILLS_AND_AGENTS if others else ()), RESULT)
        return [FIXED_TOOLS_LISTED[name] for name in names]


def _without_fixed(tools: Sequence[ToolInfo]) -> list[ToolInfo]:
    """Those whose name no fixed tool has; the others are called by `tool_call`."""
    return [tool for tool in tools if tool.name not in FIXED_TOOLS]


class ToolEncoder:
    """Encodes tools for the wire, each once. Safe to share between threads.

    `always_load` tells hosts that defer tools by themselves not to defer these. `asks` is whether a
    person approves each call of a tool: then its description says so.
    """

    def __init__(
        self, *, always_load: bool, asks: Callable[[ToolInfo], bool] = lambda _tool: False
    ) -> None:
        self._always_load, self._asks = always_load, asks
        self._encoded: Mapping[str, tuple[ToolInfo, bool, sdk.Result]] = {}

    def of(self, tools: Iterable[ToolInfo]) -> list[sdk.Result]:
        """These tools, in this order."""
        before = self._encoded
        now = {tool.name: self._encode(tool, before.get(tool.name)) for tool in tools}
        self._encoded = now
        return [wire for *_, wire in now.values()]

    def _encode(
        self, tool: ToolInfo, before: tuple[ToolInfo, bool, sdk.Result] | None
    ) -> tuple[ToolInfo, bool, sdk.Result]:
        asks = self._asks(tool)
        if before and before[0] is tool and before[1] == asks:
            return before
        wire = _encoded(tool, always_load=self._always_load)
        if asks:
            wire["description"] = f"{tool.description}\n({ASKS})".strip()
        return tool, asks, _valid(wire)


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
    if always_load or tool.defer == "never":
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
