"""Why a session does not make a call, and what the model is to do instead."""

from collections.abc import Iterable

from toolcrib.execute.refusal import Refused, listed
from toolcrib.model import Entry
from toolcrib.session.search_tool import NAME
from toolcrib.text.nearest import nearest


def unrevealed(name: str, deferred: Iterable[str]) -> Refused:
    """A tool that waits for a search, with the query that reveals it."""
    others = [other for other in deferred if other != name]
    message = (
        f"{name!r} is not loaded: search first."
        f" Call {NAME} with the query 'select:{name}',"
        " then call it with the parameters that it has."
        f" Nearest: {listed(nearest(name, others))}"
    )
    return Refused("not_revealed", "state", message)


def no_tool(entry: Entry) -> Refused:
    """A skill or an agent, with the way to its text."""
    message = (
        f"{entry.name!r} is not a tool but a {entry.capability.kind}: call {NAME} with"
        f" `read: {entry.name}` for its text"
    )
    return Refused("not_a_tool", "state", message)
