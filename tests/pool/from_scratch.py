"""What a pool has to come to by the rules alone, worked out anew, and sources that change."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from typing import Any

from toolcrib.errors import UnknownTool
from toolcrib.model import (
    Call,
    CallContext,
    Capability,
    JsonObject,
    Outcome,
    SourceKind,
    State,
    ToolInfo,
)
from toolcrib.names import RESERVED_NAMES, Origin
from toolcrib.pool.entries import pin, remedy, state
from toolcrib.pool.listing import content_of
from toolcrib.sources import Source
from toolcrib.strict_json import json_digest

IDS = ("git", "git_hub", "git.hub", "git-hub", "git_hub_x", "drive", "odd id")
OWN_NAMES = ("hub_open", "hub_x_open", "open", "x_open", "x.open", "x" * 70, "读", "close")


def names_from_scratch(origins: Iterable[Origin]) -> Mapping[Origin, str]:
    """Every origin has its plain name; round by round those that share one are hashed."""
    names = {origin: origin.plain_name() for origin in origins}
    while True:
        holders = Counter(names.values())
        shared = [origin for origin, name in names.items() if holders[name] > 1]
        rivals = [origin for origin in shared if names[origin] != origin.hashed_name()]
        if not rivals:
            return names
        names |= {origin: origin.hashed_name() for origin in rivals}


def overlaps_from_scratch(origin: Origin, sources: Iterable[Origin]) -> tuple[str, ...]:
    """Every source is compared with the name."""
    every = {(each.prefix, each.source_id): each for each in sources if each.source_id}
    mine = every.get((origin.prefix, origin.source_id))
    others = [each for each in every.values() if mine is None or _is_nearer(each, mine)]
    stems = {each.stem for each in others if origin.text.startswith(each.stem)}
    return tuple(sorted(stems))


def _is_nearer(other: Origin, mine: Origin) -> bool:
    if other == mine:
        return False
    if other.stem == mine.stem:
        return mine.spellings().stems[0] != mine.stem
    return other.stem.startswith(mine.stem)


def pool_from_scratch(
    sources: Sequence[Source], reserved: Iterable[Origin] = ()
) -> dict[str, tuple[Any, ...]]:
    """All that an entry is, by its name."""
    listed = [
        (source, {Origin.of(each): each for each in source.capabilities()}) for source in sources
    ]
    first = sorted(listed, key=lambda each: next((c.packaged for c in each[1].values()), False))
    by_origin: dict[Origin, tuple[Source, Capability]] = {}
    for source, capabilities in reversed(first):
        by_origin |= {origin: (source, each) for origin, each in capabilities.items()}
    by_origin = {o: each for o, each in by_origin.items() if o.plain_name() not in RESERVED_NAMES}
    stems = [
        *reserved,
        *(Origin(s.kind, s.id or "", "") for s in sources if s.kind in ("mcp", "sdk")),
    ]
    found: dict[str, tuple[Any, ...]] = {}
    for origin, name in names_from_scratch(by_origin).items():
        source, given = by_origin[origin]
        now = state(given, source.state(given.name))
        whole = replace(given, name=name, pin=given.pin or pin(given))
        near = overlaps_from_scratch(origin, stems)
        found[name] = given.name, whole, now, remedy(now, given.source_id), near, id(source)
    return found


def fingerprint_from_scratch(sources: Sequence[Source]) -> int:
    """The sum over all names and contents."""
    return sum(
        int.from_bytes(sha256(f"{name} {content_of(replace(whole, name=bare))}".encode()).digest())
        for name, (bare, whole, *_) in pool_from_scratch(sources).items()
    )


class StampedTools:
    """A source with a stamp: a digest of all that it lists."""

    def __init__(self, id: str, kind: SourceKind = "mcp") -> None:
        self.id: str | None = id
        self.kind: SourceKind = kind
        self.tools: dict[str, ToolInfo] = {}
        self.held: dict[str, State] = {}
        self.at_source: State = "asleep"
        self.problems: tuple[str, ...] = ()
        self.listed = 0
        self.adopted: JsonObject | None = None

    def put(self, name: str, description: str, **others: Any) -> None:
        """List a tool like this from now on."""
        tool = ToolInfo(
            name=name,
            description=description,
            source=self.kind,
            source_id=self.id,
            parameters={"type": "object", "properties": {name: {"type": "string"}}},
        )
        tool = replace(tool, **others)
        self.tools[name] = replace(tool, pin=pin(tool))

    def stamp(self) -> str:
        pins = {name: tool.pin for name, tool in self.tools.items()}
        return json_digest([self.id, pins, self.held])

    def summary(self) -> JsonObject:
        return {"tools": len(self.tools)}

    def adopt(self, summary: JsonObject) -> None:
        self.adopted = summary

    def state_of_all(self) -> State:
        return self.at_source

    def capabilities(self) -> Sequence[ToolInfo]:
        self.listed += 1
        return tuple(self.tools.values())

    def state(self, name: str) -> State:
        if name not in self.tools:
            raise UnknownTool(name)
        return self.held.get(name, self.at_source)

    async def call(self, call: Call, context: CallContext) -> Outcome:  # noqa: ARG002 - it is done at once
        return Outcome(call.name)

    def copied(self) -> "StampedTools":
        """The same as another process would find it."""
        copy = StampedTools(self.id or "", self.kind)
        copy.tools, copy.held = dict(self.tools), dict(self.held)
        return copy


class TellingTools(StampedTools):
    """One that remembers what it listed under each stamp, and tells what is otherwise since."""

    def __init__(self, id: str, kind: SourceKind = "mcp") -> None:
        super().__init__(id, kind)
        self.at: dict[str, tuple[dict[str, ToolInfo], dict[str, State]]] = {}

    def revision(self) -> str:
        stamp = self.stamp()
        self.at[stamp] = dict(self.tools), dict(self.held)
        return stamp

    def changed_since(self, revision: str) -> Sequence[str] | None:
        if revision not in self.at:
            return None
        tools, held = self.at[revision]
        every = {*tools, *self.tools}
        was, now = (
            [(tools.get(n), held.get(n)) for n in every],
            [(self.tools.get(n), self.held.get(n)) for n in every],
        )
        return [n for n, old, new in zip(every, was, now, strict=True) if old != new]

    def capability(self, name: str) -> ToolInfo | None:
        return self.tools.get(name)

    def copied(self) -> "TellingTools":
        copy = TellingTools(self.id or "", self.kind)
        copy.tools, copy.held, copy.at = dict(self.tools), dict(self.held), dict(self.at)
        return copy


def some_source(chance: Random, kinds: Sequence[SourceKind]) -> StampedTools:
    """A source of some id, which may tell what changed."""
    kind = StampedTools if chance.random() < 0.4 else TellingTools
    return kind(chance.choice(IDS), chance.choice(kinds))


def change_tools(source: StampedTools, chance: Random) -> None:
    """Another tool, or one less, or one that is otherwise or held back."""
    name = chance.choice(OWN_NAMES)
    match chance.randrange(5):
        case 0 if name in source.tools:
            del source.tools[name]
            source.held.pop(name, None)
        case 1 if name in source.tools:
            source.held[name] = chance.choice(["changed", "unreviewed"])
        case 2:
            source.put(name, f"disabled {chance.random()}", enabled=False)
        case 3:
            source.at_source = chance.choice(["ready", "asleep", "needs_login"])
        case _:
            source.put(name, f"does {name} {chance.randrange(5)}", tags=("a",), title="T")
