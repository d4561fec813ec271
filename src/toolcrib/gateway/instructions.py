"""What a client tells its model about this server, before anything is asked."""

from collections.abc import Iterable, Sequence

from toolcrib.gateway.modes import Mode
from toolcrib.gateway.surface import CALL, CALL_READ, DESCRIBE, SEARCH
from toolcrib.model import Entry, UnavailableServer
from toolcrib.session import summarize_deferred

BUDGET = 300
"""Tokens for the names of what there is; hosts cut instructions at about two thousand letters."""

_FLOW = (
    f"This server stands for many tools. 1. `{SEARCH}` with what you need: it gives names,"
    f" parameters and a `set`. 2. `{CALL_READ}` calls what is marked [read], `{CALL}` calls all"
    f" else; `{DESCRIBE}` tells more, and reads skills. Do not guess names or arguments. A tool"
    " that sleeps wakes when it is called; for any other state, tell the person the remedy."
)
_REVEALED = " What a search finds is also listed by its own name from then on."
_LISTED = "All tools of this server are listed by their own names; call them directly."


def instructions(
    mode: Mode, entries: Sequence[Entry], lacking: Iterable[UnavailableServer] = ()
) -> str:
    """The flow in a few lines, and the namespaces there are.

    Where all tools are listed, nobody searches: there it says which servers are `lacking`, and why.
    """
    if mode in {"direct", "passthrough"}:
        return "\n".join([_LISTED, *map(str, lacking)])
    flow = _FLOW + (_REVEALED if mode == "reveal" else "")
    return f"{flow}\n{summarize_deferred(entries, BUDGET)}".strip()
