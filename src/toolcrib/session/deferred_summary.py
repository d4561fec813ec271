"""What a model reads about the tools that it is not shown.

`note` says how to get at them, `summarize_deferred` what there is, and `stub` is a tool that is
listed without its parameters.

All of it depends on the catalog alone. A reveal changes none of it, so that a provider's cache
holds.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from toolcrib.model import Entry, JsonObject, ToolInfo
from toolcrib.session.search_tool import SEARCH_TOOL_NAME
from toolcrib.text import most_tokens

DeferStyle = Literal["hidden", "stub"]

STUB_SCHEMA: JsonObject = {"type": "object", "description": f"Call {SEARCH_TOOL_NAME} first."}
HEADER = f"Tools that wait to be found with `{SEARCH_TOOL_NAME}`, by where they come from:"

_NOTES: Mapping[DeferStyle, str] = {
    "hidden": (
        "You have more tools than are listed. Before you say that something cannot be done, call"
        f" `{SEARCH_TOOL_NAME}` with what you need."
        " What it finds is listed from then on; call it by the name that is given."
        " Do not guess the name or the arguments of a tool that is not listed."
    ),
    "stub": (
        f"Tools without parameters in this list wait to be loaded. Call `{SEARCH_TOOL_NAME}` with"
        " `select:NAME`, or with what you need, before you call one: it then has its parameters."
    ),
}
_NAMES_A_GROUP = (1_000_000, 32, 16, 8, 4, 2, 0)


def note(style: DeferStyle) -> str:
    """How to get at deferred tools, for the system prompt."""
    return _NOTES[style]


def summarize_deferred(entries: Sequence[Entry], budget: int) -> str:
    """The deferred tools by source, within a budget of tokens; "" where there are none.

    Every name if they fit, else as many of each source as do, else the sizes of the sources, the
    largest first to stay.
    """
    return listing(_grouped(entries), budget, HEADER) if entries else ""


def listing(groups: Mapping[str, Sequence[str]], budget: int, header: str) -> str:
    """The names of each group below a header, within a budget of tokens, as `summary` says."""
    for most in _NAMES_A_GROUP:
        lines = {group: _line(group, names, most) for group, names in groups.items()}
        text = _written(header, lines)
        if most_tokens(text) <= budget:
            return text
    return _largest(groups, budget, header)


def _grouped(entries: Sequence[Entry]) -> Mapping[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for entry in entries:
        group = entry.capability.owner
        groups.setdefault(group, []).append(_plain(entry.bare))
    return dict(sorted(groups.items()))


def _line(group: str, names: Sequence[str], most: int) -> str:
    first = [*names[:most], *(["…"] if 0 < most < len(names) else [])]
    return f"{group} ({len(names)})" + (f": {', '.join(first)}" if first else "")


def _written(header: str, lines: Mapping[str, str], rest: str = "") -> str:
    return "\n".join([header, *(f"- {line}" for line in lines.values()), *([rest] if rest else [])])


def _largest(groups: Mapping[str, Sequence[str]], budget: int, header: str) -> str:
    """The sizes of as many of the largest sources as fit; of the rest the sum, if nothing else."""
    by_size = sorted(groups, key=lambda group: (-len(groups[group]), group))
    size, text = len(by_size), ""
    while size and (not text or most_tokens(text) > budget):
        size = size * 4 // 5
        lines = {group: _line(group, groups[group], 0) for group in sorted(by_size[:size])}
        tools = sum(len(groups[group]) for group in by_size[size:])
        text = _written(header, lines, f"- {len(by_size) - size} others ({tools})")
    return text


def _plain(name: str) -> str:
    """A stranger's name on one line, and not without end."""
    return " ".join(name.split())[:64]


def stub(tool: ToolInfo) -> ToolInfo:
    """The tool without its parameters, which say how to get them instead."""
    return replace(tool, parameters=STUB_SCHEMA, pin="")


def is_smaller_than_stub(tool: ToolInfo) -> bool:
    """Whether its own parameters take no more room than a stub's: then a stub saves nothing."""
    return len(json.dumps(tool.parameters)) <= len(json.dumps(STUB_SCHEMA))
