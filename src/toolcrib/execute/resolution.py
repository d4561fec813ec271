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

from toolcrib.access import Scope, why_barred
from toolcrib.errors import AmbiguousName, UnknownTool
from toolcrib.execute.caller import Caller
from toolcrib.execute.gates import CallRefused
from toolcrib.model import Entry, ToolInfo
from toolcrib.pool import Pool, entry_names
from toolcrib.sources import FunctionSource

_OF_THIS_REQUEST: ContextVar[Pool | None] = ContextVar("toolcrib_tools_of_this_request")


@contextmanager
def per_request_tools(*functions: Callable[..., object]) -> Generator[None]:
    """Have these functions as tools too, in this context alone and as long as it lasts.

    Searches find them, sessions list them behind the tools that are always shown, and they pass the
    same gates as every other tool. Raises `NameTaken` and `DeclarationError`.
    """
    source = FunctionSource(named_by="program")
    for fn in functions:
        source.add(fn)
    pool = Pool()
    pool.add(source)
    token = _OF_THIS_REQUEST.set(pool)
    try:
        yield
    finally:
        _OF_THIS_REQUEST.reset(token)


def tools_of_request(scope: Scope) -> Mapping[str, Entry]:
    """The tools of this request that a caller of this scope may have and has not got, by name."""
    here = _OF_THIS_REQUEST.get(None)
    entries = here.entries.values() if here else ()
    free = (each for each in entries if each.name not in scope.bound)
    return {each.name: each for each in free if not why_barred(each, scope)}


def resolve(
    name: str, pool: Pool, caller: Caller, why: Callable[[str], str] | None = None
) -> tuple[Entry, Pool]:
    """The one entry that a name means, and the pool that it is in.

    Raises `CallRefused`, with names that this caller may call and no others; `why` may say why
    there is no such tool.
    """

    def may_name(entry: Entry) -> bool:
        return not why_barred(entry, caller.scope)

    links = [(link, link.names) for link in _chain(pool)]
    link, names = next((each for each in links if each[1].candidates(name)), links[-1])
    with _refusing():
        return names.resolve(name, may_name=may_name, why=why), link


def _chain(pool: Pool) -> Sequence[Pool]:
    here = _OF_THIS_REQUEST.get(None)
    return [here, pool] if here else [pool]


@contextmanager
def _refusing() -> Generator[None]:
    """Make the errors of a name the refusal of a call."""
    try:
        yield
    except UnknownTool as error:
        raise CallRefused("unknown_tool", "resolve", str(error)) from None
    except AmbiguousName as error:
        raise CallRefused("ambiguous_name", "resolve", str(error)) from None


class VisibleTools:
    """The entries that a caller may see and call, by name; `why` may say why one is not there.

    A name beyond them is unknown, whether or not it is in the pool: a refusal never tells which.
    """

    def __init__(
        self, entries: Mapping[str, Entry], why: Callable[[str], str] | None = None
    ) -> None:
        self.entries = entries
        self._names = entry_names(entries)
        self._why = why

    def resolve(self, name: str) -> Entry:
        """The entry of a name, or of a bare name that only one has.

        Raises `CallRefused` with the nearest names, or with the candidates.
        """
        with _refusing():
            return self._names.resolve(name, why=self._why)

    def tool(self, name: str) -> ToolInfo | None:
        """The tool of this very name; None if the caller may not see it, or it is not a tool."""
        entry = self.entries.get(name)
        found = entry.capability if entry else None
        return found if isinstance(found, ToolInfo) else None

    def among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the names that this caller may see."""
        return tuple(name for name in names if name in self.entries)
