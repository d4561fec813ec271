"""What a guest is shown: the list of tools, by mode."""

from collections.abc import Iterator, Sequence

from toolcrib.gateway.modes import Mode, mode_of
from toolcrib.gateway.sdk import Result
from toolcrib.gateway.side import Side
from toolcrib.gateway.surface import DESCRIBE, FIXED, RESULT, SEARCH
from toolcrib.gateway.wire_tools import FIXED_LISTED, WireTools
from toolcrib.model import ToolInfo

_FOR_WHAT_IS_NO_TOOL = (SEARCH, DESCRIBE)


class Shown:
    """The lists of one guest: with the same mode and reveals a matter of the catalog alone."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._kept = WireTools(always_load=True)
        self._deferrable = WireTools(always_load=False)

    def mode(self, client: str, *, modern: bool) -> Mode:
        """How a client of this name, in this era, is shown the tools."""
        return mode_of(
            self._side.guest.profile.mode,
            tools=len(self._side.tools()),
            threshold=self._side.settings.session.threshold,
            client=client,
            modern=modern,
        )

    def tools(self, mode: Mode, revealed: Sequence[str] = ()) -> list[Result]:
        """What is listed. The fixed tools come first and never change; what is revealed is last."""
        match mode:
            case "search" | "reveal":
                always = self._side.pinned()
                more = self._revealed(revealed if mode == "reveal" else (), always)
                return [*FIXED_LISTED.values(), *self._kept.of(_free((*always, *more)))]
            case "direct":
                return [*self._kept.of(_free(self._side.tools())), *self._companions()]
            case "passthrough":
                return [*self._deferrable.of(_free(self._side.tools())), *self._companions()]

    def _revealed(self, names: Sequence[str], always: Sequence[ToolInfo]) -> Iterator[ToolInfo]:
        tools = {tool.name: tool for tool in self._side.tools() if tool not in always}
        return (tools[name] for name in names if name in tools)

    def _companions(self) -> list[Result]:
        """The fixed tools that a full list needs: for skills and agents, for large results."""
        others = any(each.capability.kind != "tool" for each in self._side.visible.entries.values())
        names = (*(_FOR_WHAT_IS_NO_TOOL if others else ()), RESULT)
        return [FIXED_LISTED[name] for name in names]


def _free(tools: Sequence[ToolInfo]) -> list[ToolInfo]:
    """Those whose name no fixed tool has; the others are called by `tool_call`."""
    return [tool for tool in tools if tool.name not in FIXED]
