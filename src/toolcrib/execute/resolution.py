"""Which tool a name means, and to whom.

A call goes down the chain: the tools of this request, then the pool with all its sources. A tool of
the request takes the place of one in the pool with the same name. Within the pool no two tools
share a name, so that builtin, app and MCP tools need no order among themselves; a bare name that
several of them have is no name at all.

`VisibleTools` is for whoever may not learn of other tools: names beyond a caller's own are unknown.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

from toolcrib.execute.caller import Caller
from toolcrib.execute.gates import CallRefused, join_names
from toolcrib.model import Entry
from toolcrib.pool import Pool
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


def _ambiguous(name: str, names: Sequence[str]) -> CallRefused:
    message = f"{name!r} fits several tools; use one of these names: {join_names(names)}"
    return CallRefused("ambiguous_name", "resolve", message)


def _unknown(name: str, names: Sequence[str]) -> CallRefused:
    near = join_names(nearest(name, names))
    message = f"no tool {name!r:.200} here; search for it first. Nearest: {near}"
    return CallRefused("unknown_tool", "resolve", message)


# What one caller may name: their part of the pool, and no other.


def unknown_tool_message(name: str, why: str) -> str:
    """That there is no such tool, for this reason."""
    return f"no tool {name!r:.200} here: {why}"


def _no_reason(_name: str) -> str:
    return ""


@dataclass(frozen=True)
class VisibleTools:
    """The entries that a caller may see and call, by name; `why` may say why one is not there.

    A name beyond them is unknown, whether or not it is in the pool: a refusal never tells which.
    """

    entries: Mapping[str, Entry]
    why: Callable[[str], str] = _no_reason

    def resolve(self, name: str) -> Entry:
        """The entry of a name, or of a bare name that only one has.

        Raises `Refused` with the nearest names, or with the candidates.
        """
        if entry := self.entries.get(name):
            return entry
        match self._by_bare.get(name, []):
            case [only]:
                return self.entries[only]
            case []:
                near = join_names(nearest(name[:200], list(self.entries)))
                message = f"no tool {name!r:.200} here; search for it first. Nearest: {near}"
                why = self.why(name)
                told = unknown_tool_message(name, why) if why else message
                raise CallRefused("unknown_tool", "resolve", told)
            case several:
                message = (
                    f"{name!r} fits several tools; use one of these names: {join_names(several)}"
                )
                raise CallRefused("ambiguous_name", "resolve", message)

    def among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the names that this caller may see."""
        return tuple(name for name in names if name in self.entries)

    @cached_property
    def _by_bare(self) -> Mapping[str, list[str]]:
        bare: dict[str, list[str]] = {}
        for entry in self.entries.values():
            bare.setdefault(entry.bare, []).append(entry.name)
        return {name: sorted(candidates) for name, candidates in bare.items()}
