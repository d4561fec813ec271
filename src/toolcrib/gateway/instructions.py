"""What a client has of the gateway before it asks for anything: instructions, and the list.

The instructions are what a client tells its model about this server.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from toolcrib.crib import Crib
from toolcrib.gateway.caller_view import CallerView
from toolcrib.gateway.code_tool_definitions import RUN
from toolcrib.gateway.fixed_tool_definitions import CALL, CALL_READ, DESCRIBE, SEARCH
from toolcrib.gateway.modes import EffectiveMode
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.sdk import Result
from toolcrib.gateway.tool_list import ToolList
from toolcrib.model import Entry, EntryTraits, UnavailableServer
from toolcrib.session import summarize_deferred

BUDGET = 300
"""Tokens for the names of namespaces: hosts cut instructions at about two thousand letters."""

_FLOW = (
    f"This server stands for many tools. 1. `{SEARCH}` with what you need: it gives names,"
    f" parameters and a `set`. 2. `{CALL_READ}` calls what is marked [read], `{CALL}` calls all"
    f" else; `{DESCRIBE}` tells more, and reads skills. Do not guess names or arguments. A tool"
    " that sleeps wakes when it is called; for any other state, tell the person the remedy."
)
_REVEALED = " What a search finds is also listed by its own name from then on."
_CODE_FLOW = (
    f"This server stands for many tools. 1. `{SEARCH}` with what you need: it gives typed Python"
    f" functions. 2. `{RUN}` runs a short program that calls them: do several calls in one, and"
    " return only what you need. Do not guess names or arguments."
)
_LISTED = "All tools of this server are listed by their own names; call them directly."


def instructions(
    mode: EffectiveMode,
    groups: Mapping[EntryTraits, Collection[str]],
    entries: Mapping[str, Entry],
    unavailable: Iterable[UnavailableServer] = (),
) -> str:
    """The flow in a few lines, and the namespaces there are: `groups` of the visible `entries`.

    Where all tools are listed nobody searches; there they name the `unavailable` servers.
    """
    if mode in {"direct", "passthrough"}:
        return "\n".join([_LISTED, *map(str, unavailable)])
    if mode == "code":
        return f"{_CODE_FLOW}\n{summarize_deferred(groups, entries, BUDGET)}".strip()
    flow = _FLOW + (_REVEALED if mode == "reveal" else "")
    return f"{flow}\n{summarize_deferred(groups, entries, BUDGET)}".strip()


@dataclass(frozen=True, slots=True)
class InitialContext:
    """The instructions in one mode, and the `tools` of a `tools/list` as they are sent."""

    mode: EffectiveMode
    instructions: str
    tools: list[Result]

    @property
    def text(self) -> str:
        """All of it, as it stands on the wire."""
        listed = json.dumps(self.tools, ensure_ascii=False, separators=(",", ":"))
        return f"{self.instructions}\n{listed}"


def initial_context(
    crib: Crib, principal: Principal, mode: EffectiveMode | None = None, client: str = ""
) -> InitialContext:
    """What a client of this name is sent at first; in `mode`, if one is given.

    A client with a name is one of the handshake era, as all are today. Without a name it is unknown
    and of the modern era.
    """
    view = CallerView(crib, principal)
    tool_list = ToolList(view)
    mode = mode or tool_list.mode(client, modern=not client)
    text = instructions(mode, view.groups(), view.visible.entries, view.unavailable())
    return InitialContext(mode, text, tool_list.tools(mode))
