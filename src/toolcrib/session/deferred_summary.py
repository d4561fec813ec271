"""What a model reads about the tools that it is not shown.

`note` says how to get at them, `summarize_deferred` what there is, `index_deferred` the same with a
line for each, and `stub` is a tool that is listed without its parameters.

All of it depends on the catalog alone. A reveal changes none of it, so that a provider's cache
holds.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from toolcrib.model import Entry, EntryTraits, JsonObject, ToolInfo
from toolcrib.session.search_tool import RUN_TOOL_NAME, SEARCH_TOOL_NAME
from toolcrib.text import most_tokens

DeferStyle = Literal["hidden", "index", "stub", "code"]

STUB_SCHEMA: JsonObject = {"type": "object", "description": f"Call {SEARCH_TOOL_NAME} first."}
HEADER = f"Tools that wait to be found with `{SEARCH_TOOL_NAME}`, by where they come from:"
INDEX_HEADER = (
    f"Tools that wait to be loaded with `{SEARCH_TOOL_NAME}`, by `select:NAME` or in words:"
)
ONE_LINE = 100

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
    "code": (
        f"You have more tools than are listed: find them with `{SEARCH_TOOL_NAME}`, call them in a"
        f" program with `{RUN_TOOL_NAME}`. Do not guess names or arguments."
    ),
}
_NAMES_A_GROUP = (1_000_000, 32, 16, 8, 4, 2, 0)


def note(style: DeferStyle) -> str:
    """How to get at deferred tools, for the system prompt."""
    return _NOTES.get(style, _NOTES["hidden"])


def summarize_deferred(
    groups: Mapping[EntryTraits, Collection[str]], entries: Mapping[str, Entry], budget: int
) -> str:
    """The deferred tools by source, within a budget of tokens; "" where there are none.

    Every name if they fit, else as many of each source as do, else the sizes of the sources, the
    largest first to stay. Names stand in order. `groups` are the names of the tools by traits.
    """
    owners: dict[str, list[EntryTraits]] = {}
    for traits in (each for each, names in groups.items() if names):
        owners.setdefault(traits.owner, []).append(traits)

    def own_names(owner: str) -> Sequence[str]:
        some = ((each.source_id or "", name) for each in owners[owner] for name in groups[each])
        return [entries[name].bare for _, name in sorted(some)]

    sizes = {owner: sum(len(groups[each]) for each in owners[owner]) for owner in sorted(owners)}
    return listing(sizes, own_names, budget, HEADER) if sizes else ""


def listing(
    sizes: Mapping[str, int], names_of: Callable[[str], Sequence[str]], budget: int, header: str
) -> str:
    """The names of each group below a header, within a budget of tokens, as `summary` says.

    Names are asked for only where there may be room for them.
    """
    bare = _written(header, {group: _line(group, size) for group, size in sizes.items()})
    names: dict[str, Sequence[str]] = {}
    for most in _NAMES_A_GROUP if most_tokens(bare) <= budget else ():
        separators = 2 * sum(min(size, most) for size in sizes.values())
        if most_tokens(bare + " " * separators) > budget:
            continue
        names = names or {group: [*map(_plain, names_of(group))] for group in sizes}
        lines = {each: _line(each, size, names[each], most) for each, size in sizes.items()}
        if most_tokens(text := _written(header, lines)) <= budget:
            return text
    return _largest(sizes, budget, header)


def _line(group: str, size: int, names: Sequence[str] = (), most: int = 0) -> str:
    first = [*names[:most], *(["…"] if 0 < most < size else [])]
    return f"{group} ({size})" + (f": {', '.join(first)}" if first else "")


def _written(header: str, lines: Mapping[str, str], rest: str = "") -> str:
    return "\n".join([header, *(f"- {line}" for line in lines.values()), *([rest] if rest else [])])


def _largest(sizes: Mapping[str, int], budget: int, header: str) -> str:
    """The sizes of as many of the largest sources as fit; of the rest the sum, if nothing else."""
    by_size = sorted(sizes, key=lambda group: (-sizes[group], group))
    size, text = len(by_size), ""
    while size and (not text or most_tokens(text) > budget):
        size = size * 4 // 5
        lines = {group: _line(group, sizes[group]) for group in sorted(by_size[:size])}
        tools = sum(sizes[group] for group in by_size[size:])
        text = _written(header, lines, f"- {len(by_size) - size} others ({tools})")
    return text


def index_deferred(entries: Iterable[Entry], budget: int) -> str:
    """Each deferred tool by its name, with what it does; "" if that takes more than the budget."""
    lines = [f"- {each.name}: {_plain(each.description, ONE_LINE)}" for each in entries]
    text = "\n".join([INDEX_HEADER, *lines])
    return text if lines and most_tokens(text) <= budget else ""


def _plain(text: str, most: int = 64) -> str:
    """A stranger's words on one line, and not without end."""
    return " ".join(text[: most * 8].split())[:most]


def stub(tool: ToolInfo) -> ToolInfo:
    """The tool without its parameters, which say how to get them instead."""
    return replace(tool, parameters=STUB_SCHEMA, pin="")


def is_smaller_than_stub(tool: ToolInfo) -> bool:
    """Whether its own parameters take no more room than a stub's: then a stub saves nothing."""
    return len(json.dumps(tool.parameters)) <= len(json.dumps(STUB_SCHEMA))
