"""What one source lists: each capability with a hash of its content and its state.

A capability that is listed again as it was is not hashed again, and its entry stays the same
object. The definition of an entry gets its name and its pin when somebody reads it.
"""

import marshal
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from functools import lru_cache, partial
from hashlib import blake2b
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from toolcrib.model import Capability, Entry, State
from toolcrib.names import NameStems, Origin
from toolcrib.pool.entries import pin, remedy_of, state
from toolcrib.sources import IncrementalSource, Source, StampedSource
from toolcrib.strict_json import json_digest

CONTENT_BYTES = 16
MOST_LISTINGS = 3
AT_SOURCE: frozenset[State] = frozenset({"ready", "asleep", "needs_login"})
"""The states that a tool has from its source alone; in any other it is held back."""
_OURS = frozenset({"pin", "module"})


class Listed(Protocol):
    """A capability of a source, wherever its definition lies."""

    @property
    def content(self) -> str:
        """A hash of all fields; a pin of the source says nothing of those that are ours."""
        ...

    @property
    def state(self) -> State: ...

    @property
    def packaged(self) -> bool:
        """Whether it comes with Toolcrib."""
        ...

    @property
    def is_stored(self) -> bool:
        """Whether its definition lies in a pack."""
        ...

    def entry(self, name: str, overlaps: NameStems) -> Entry:
        """Its entry under a name."""
        ...

    def listed_again(self, given: Capability, at_source: State) -> "Listed":
        """What its source lists now under the same own name; itself, if nothing is new."""
        ...

    def in_state(self, at_source: State) -> "Listed":
        """The same with the state of its source; itself, if nothing is new or it is held back."""
        ...


Listing: TypeAlias = Mapping[Origin, Listed]


class GivenCapability:
    """A capability as its source gave it, in memory."""

    __slots__ = ("content", "given", "state")

    def __init__(self, given: Capability, content: str, state: State) -> None:
        self.given = given
        self.content = content
        self.state: State = state

    @property
    def packaged(self) -> bool:
        return self.given.packaged

    @property
    def is_stored(self) -> bool:
        return False

    @classmethod
    def of(cls, given: Capability, at_source: State) -> "GivenCapability":
        """What the source lists for the first time."""
        return cls(given, content_of(given), state(given, at_source))

    def entry(self, name: str, overlaps: NameStems) -> Entry:
        return GivenEntry(name, self, overlaps)

    def listed_again(self, given: Capability, at_source: State) -> "GivenCapability":
        now = state(given, at_source)
        if given is self.given or given == self.given:
            return self if now == self.state else GivenCapability(self.given, self.content, now)
        return GivenCapability(given, content_of(given), now)

    def in_state(self, at_source: State) -> "GivenCapability":
        if self.state not in AT_SOURCE or self.state == at_source:
            return self
        return GivenCapability(self.given, self.content, at_source)


class GivenEntry(Entry):
    """The entry of a capability in memory."""

    __slots__ = ("_listed", "_named")
    _listed: GivenCapability
    _named: Capability | None

    def __init__(self, name: str, listed: GivenCapability, overlaps: NameStems) -> None:
        put = partial(object.__setattr__, self)
        put("name", name)
        put("bare", listed.given.name)
        put("state", listed.state)
        put("remedy", remedy_of(listed.given, listed.state))
        put("overlaps", overlaps)
        put("_listed", listed)
        put("_named", None)

    @property
    def capability(self) -> Capability:  # type: ignore[override] - a field of others
        """The definition under the name that models see, with its pin; made once."""
        named = self._named
        if named is None:
            given = self._listed.given
            named = replace(given, name=self.name, pin=given.pin or pin(given))
            object.__setattr__(self, "_named", named)
        return named

    @property
    def content(self) -> str:
        return self._listed.content

    @property
    def pin(self) -> str:
        return self._listed.given.pin or self.capability.pin

    def in_state(self, state: State) -> Entry:
        return Entry(self.name, self.bare, self.capability, state, "", self.overlaps)

    @property
    def given(self) -> Capability:
        return self._listed.given


def list_source(source: Source, earlier: Listing) -> Listing:
    """What a source lists now; what is as it was earlier stays the same object.

    Raises what the listing raises.
    """
    given = {Origin.of(each): each for each in source.capabilities()}
    return {
        origin: _listed(each, earlier.get(origin), source.state(each.name))
        for origin, each in given.items()
    }


def list_stamped(source: Source, earlier: Listing) -> tuple[str, Listing]:
    """The same with the stamp that it was listed under; empty if that cannot be told.

    A first look at a list may change the stamp: then it is listed again.
    """
    stamp, rows = stamp_of(source), list_source(source, earlier)
    for _ in range(MOST_LISTINGS):
        before, stamp = stamp, stamp_of(source)
        if stamp == before:
            return stamp, rows
        rows = list_source(source, rows)
    return "", rows


class ListingChange(NamedTuple):
    """What a source lists otherwise, the own names of what it lists no longer; at a revision."""

    rows: Listing
    gone: Collection[str]
    revision: str


def list_changes(source: Source, since: str) -> ListingChange | None:
    """What a source lists otherwise than at an earlier revision; None if it cannot tell.

    Raises what the source raises.
    """
    incremental, revision = as_incremental(source), revision_of(source)
    names = incremental.changed_since(since) if incremental and since and revision else None
    if incremental is None or names is None:
        return None
    listed = {name: incremental.capability(name) for name in names}
    rows = {
        Origin.of(given): GivenCapability.of(given, source.state(name))
        for name, given in listed.items()
        if given
    }
    gone = [name for name, given in listed.items() if not given]
    return ListingChange(rows, gone, revision) if revision == revision_of(source) else None


def as_incremental(source: Source) -> IncrementalSource | None:
    """A source that can tell what changed, as such; None if it cannot."""
    return cast("IncrementalSource", source) if _tells_changes(type(source)) else None


def revision_of(source: Source) -> str:
    """The revision of a source; empty if it has none."""
    incremental = as_incremental(source)
    return incremental.revision() if incremental else ""


def as_stamped(source: Source) -> StampedSource | None:
    """A source that has stamps, as such; None if it has none."""
    return cast("StampedSource", source) if _has_stamps(type(source)) else None


def stamp_of(source: Source) -> str:
    """The stamp of a source; empty if it has none."""
    stamped = as_stamped(source)
    return stamped.stamp() if stamped else ""


def content_of(given: Capability) -> str:
    """A hash of the kind and of every field but the pin and the module."""
    values: Any = (given.kind, *_values_of(type(given))(given))
    try:
        content = marshal.dumps(values, 2)  # the last version in which equal values are equal bytes
    except ValueError:  # a mapping or a text of a class of its own
        content = json_digest(values).encode()
    return blake2b(content, digest_size=CONTENT_BYTES).hexdigest()


def as_before(row: Listed, earlier: Listed | None) -> Listed:
    """The earlier one of two rows of one definition, unless the state is another."""
    return earlier if earlier and earlier.state == row.state else row


def _listed(given: Capability, earlier: Listed | None, at_source: State) -> Listed:
    if earlier is None:
        return GivenCapability.of(given, at_source)
    return earlier.listed_again(given, at_source)


@lru_cache
def _has_stamps(kind: type[Source]) -> bool:
    return issubclass(kind, StampedSource)


@lru_cache
def _tells_changes(kind: type[Source]) -> bool:
    return issubclass(kind, IncrementalSource)


@lru_cache
def _values_of(kind: type[Capability]) -> Callable[[Capability], tuple[object, ...]]:
    return attrgetter(*(field.name for field in fields(kind) if field.name not in _OURS))
