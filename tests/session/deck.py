"""Cribs to hold sessions in: enough tools to be deferred, and a few that are not."""

from collections.abc import Iterable

from tests.workshop import HIDDEN, SEEN, ListedSource, many
from toolcrib import Caller, Crib, Scope, Settings
from toolcrib.model import Capability, ToolInfo
from toolcrib.settings import SessionSettings

PINNED = ToolInfo(
    name="ask_person",
    description="Ask the person who is here",
    permission_kind="read",
    defer="never",
    parameters={"type": "object", "properties": {"question": {"type": "string"}}},
)
ALL: tuple[Capability, ...] = (*SEEN, *HIDDEN, PINNED)


def crib_of(
    capabilities: Iterable[Capability] = ALL, *, store: str = ":memory:", **said: object
) -> Crib:
    """A crib with these; `said` are settings of sessions."""
    session = SessionSettings.model_validate(said)
    crib = Crib(Settings(store=store, session=session))
    crib.add_source(ListedSource(*capabilities))
    return crib


def plenty(count: int = 30) -> tuple[ToolInfo, ...]:
    return tuple(many(count))


def only(*patterns: str, id: str = "ann") -> Caller:
    """A caller who may call what fits these, and nothing else."""
    return Caller(id, Scope(allowed=frozenset(patterns)))


def names(tools: Iterable[ToolInfo]) -> list[str]:
    return [tool.name for tool in tools]
