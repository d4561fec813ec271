"""Down the chain: the tools of this request, then the pool with all its sources.

A tool of the request takes the place of one in the pool with the same name. Within the pool no two
tools share a name, so that builtin, app and MCP tools need no order among themselves; a bare name
that several of them have is no name at all.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from toolcrib.execute.caller import Caller
from toolcrib.execute.refusal import Refused, listed
from toolcrib.model import Entry
from toolcrib.pool.pool import Pool
from toolcrib.search.filters import barred
from toolcrib.sources.builtin import BuiltinSource
from toolcrib.text.nearest import nearest

_OF_THIS_REQUEST: ContextVar[Pool | None] = ContextVar("toolcrib_tools_of_this_request")


@contextmanager
def per_request_tools(*functions: Callable[..., object]) -> Generator[None]:
    """Have these functions as tools too, in this context alone and as long as it lasts.

    They pass the same gates as every other tool. Raises `NameTaken` and `DeclarationError`.
    """
    source = BuiltinSource(named_by="program")
    for fn in functions:
        source.add(fn)
    pool = Pool()
    pool.add(source)
    token = _OF_THIS_REQUEST.set(pool)
    try:
        yield
    finally:
        _OF_THIS_REQUEST.reset(token)


def resolve(name: str, pool: Pool, caller: Caller) -> tuple[Entry, Pool]:
    """The one entry that a name means, and the pool that it is in.

    Raises `Refused`, with names that this caller may call and no others.
    """
    for link in _links(pool):
        match link.candidates(name):
            case []:
                continue
            case [only]:
                return only, link
            case several:
                raise _ambiguous(name, _callable(several, caller))
    raise _unknown(name, _callable(list(pool.entries.values()), caller))


def _links(pool: Pool) -> Sequence[Pool]:
    here = _OF_THIS_REQUEST.get(None)
    return [here, pool] if here else [pool]


def _callable(entries: Sequence[Entry], caller: Caller) -> list[str]:
    return [entry.name for entry in entries if not barred(entry, caller.scope)]


def _ambiguous(name: str, names: Sequence[str]) -> Refused:
    message = f"{name!r} fits several tools; use one of these names: {listed(names)}"
    return Refused("ambiguous_name", "resolve", message)


def _unknown(name: str, names: Sequence[str]) -> Refused:
    near = listed(nearest(name, names))
    message = f"no tool {name!r:.200} here; search for it first. Nearest: {near}"
    return Refused("unknown_tool", "resolve", message)
