"""What a search takes and gives: `Query`, `NameFilter`, `Variant`, `Match`, `Hit`, `Answer`.

Frozen, no I/O.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias, cast, overload

from toolcrib.api_arguments import check, check_number
from toolcrib.model.capability import JsonObject, Kind, PermissionKind, SourceKind, State

Confidence = Literal["high", "medium", "low", "none"]
ASKS = "a person approves each call"
"""What is said of a tool whose calls need approval, wherever it is shown."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question as asked. `kinds` empty means every kind; `limit` None means the setting.

    Raises `ConfigError` for what no search takes.
    """

    text: str
    limit: int | None = None
    kinds: frozenset[Kind] = frozenset()

    def __post_init__(self) -> None:
        check(self.text, str, "the query", 'an empty one, "", browses')
        check_number(self.limit, 0, "limit=")


@dataclass(frozen=True, slots=True)
class Variant:
    """One wording of a query, as the indexes look it up.

    `words` are what the like arm compares with labels, `terms` what the bm25 arm looks up,
    `vector` what the vector arm does; a vector of None means that no embedder spoke.
    """

    text: str
    weight: float = 1.0
    words: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    vector: Sequence[float] | None = None
    origin: str = "as written"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class NameFilter:
    """The names that a search leaves out: `names`, or if `inverted` all but `names`.

    It is compared by identity, so that what was made for it, as a mask of rows, is found by it.
    It is false if it leaves nothing out.
    """

    names: frozenset[str]
    inverted: bool = False

    @classmethod
    def without(cls, names: Iterable[str]) -> Self:
        """Leaves these out."""
        return cls(frozenset(names))

    @classmethod
    def only(cls, names: Iterable[str]) -> Self:
        """Leaves everything else out."""
        return cls(frozenset(names), inverted=True)

    def letting(self, name: str) -> "NameFilter":
        """The same filter, but for this name: it stays in."""
        changed = self.names | {name} if self.inverted else self.names - {name}
        return NameFilter(changed, self.inverted)

    def __contains__(self, name: object) -> bool:
        """Whether the name is left out."""
        return (name in self.names) != self.inverted

    def __bool__(self) -> bool:
        return self.inverted or bool(self.names)


EXCLUDE_NOTHING: Final = NameFilter(frozenset())


class Match(NamedTuple):
    """One place in a ranking. Scores compare within one ranking only."""

    id: str
    score: float


Ranking: TypeAlias = Sequence[Match]

_to_match = cast("Callable[[tuple[str, float]], Match]", partial(cast("Any", tuple).__new__, Match))


def matches(places: Iterable[tuple[str, float]]) -> list[Match]:
    """A match for each id and score: quicker than one by one, and a search makes hundreds."""
    return list(map(_to_match, places))


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result. `schema` is there for the best few tools and None for the rest.

    `often_with` are a few others that are used with it, by declared links and by recorded use.
    `asks`: the rules want a person to approve each call.
    """

    name: str
    kind: Kind
    source: SourceKind
    source_id: str | None
    state: State
    remedy: str
    score: float
    description: str
    permission_kind: PermissionKind
    schema: JsonObject | None = None
    often_with: tuple[str, ...] = ()
    asks: bool = False


@dataclass(frozen=True, slots=True)
class UnavailableServer:
    """A configured MCP server whose tools, or some of them, cannot be used now.

    `code` is for programs. `reason` and `remedy` are for models and people, in our own words and
    never the server's. `remedy` is what the user can do; empty if they can only wait.
    """

    server: str
    code: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        todo = f"the user can {self.remedy}" if self.remedy else "search again in a moment"
        return f"{self.server} is configured but {self.reason}; {todo}."


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """What a search returns: its hits, best first, and what to try if there are none.

    For a task with several parts, the best hit of each part comes first. `confidence` says how
    sure it is that a hit fits, and `chance` says it as a number from 0 to 1. Without hits it is
    "none"; what is selected by name always fits. `missing` maps each name that `select:` or
    `+required` did not find to its nearest names. If nothing fits, and when browsing, there are
    also `namespaces` (source → number of capabilities) and, if there are few, their `names` (source
    → the names that they have there). `note` explains the answer in a sentence or two, if it needs
    that. `unavailable` are servers that the query may be about, and whose tools cannot be used now.
    `variants` is how many wordings of a free text were looked up, and `candidates` how many
    capabilities they found.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    namespaces: Mapping[str, int] = field(default_factory=dict[str, int])
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    note: str = ""
    confidence: Confidence = "high"
    chance: float = 1.0
    unavailable: tuple[UnavailableServer, ...] = ()
    variants: int = 0
    candidates: int = 0

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)
