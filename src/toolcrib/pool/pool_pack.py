"""The pool pack: what sources listed, in one file; nothing of it is parsed until it is needed.

    sources      what each source is, under which stamp it listed these rows, and its summary
    columns      of every row its name, own name, traits, state if it is held back, pin, content,
                 and facts that somebody made of it
    lazy:*       of every row its card and its definition, read one by one, each with a digest

What does not fit its digest is never handed out: it is had from its source again, by `mend`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from toolcrib.errors import ToolcribError
from toolcrib.model import Capability, JsonObject, SourceKind, State
from toolcrib.pool.definition_codec import (
    CLASSES,
    Traits,
    card_of,
    decode_card,
    decode_definition,
    fields_of,
    traits_of,
)
from toolcrib.pool.pack_columns import DIGEST_BYTES, HashColumn, ItemColumn, NameColumn, TextColumn
from toolcrib.store import Pack, PackDamaged, set_pack_aside

KIND = "pool"
VERSION = 3
POOL_FORMAT = f"{KIND} {VERSION}"
PIN_BYTES = 32
MOST_DEFINITIONS = 512
MOST_CARDS = 2_048
STATES: tuple[State, ...] = get_args(State)

Number = TypeVar("Number", bound=np.generic)
Mender: TypeAlias = Callable[[int], Capability]


class PackedSource(NamedTuple):
    """A source in a pack: `start` to `stop` are its rows, `print` is their part of a fingerprint.

    `is_entangled`: some of its names are not plain, or begin as those of another source do. Then
    its rows are looked at one by one.
    """

    kind: SourceKind
    id: str
    stamp: str
    summary: JsonObject
    start: int
    stop: int
    print: int
    is_entangled: bool


class PoolPack:
    """A pool pack, mapped. Safe to share between threads.

    `row_of` is the row that had a name when the pack was written, `source_at` the number of the
    source of a row: a search asks for them a hundred times.
    """

    def __init__(self, path: Path, pack: Pack) -> None:
        self.path = path
        self._pack = pack
        self._inode = path.stat().st_ino
        self.fingerprint = str(pack.header["fingerprint"])
        self.sources = [_source(each) for each in json.loads(bytes(pack.view("sources")))]
        self.mend: Mender = _no_mender
        self._names = NameColumn(pack, "names")
        self.row_of = self._names.row_of
        self._bares = TextColumn(pack, "bares")
        self._cards = ItemColumn(pack, "cards")
        self._definitions = ItemColumn(pack, "definitions")
        self._traits = pack.view("traits").cast("I")
        self._held = pack.view("held")
        self.source_at: Callable[[int], int] = pack.view("row_sources").cast("I").__getitem__
        self.card = lru_cache(MOST_CARDS)(self._card)
        self.fields = lru_cache(MOST_DEFINITIONS)(self._fields)
        self._definition = lru_cache(MOST_DEFINITIONS)(self._read_definition)

    @classmethod
    def open(cls, path: Path, key: bytes) -> "PoolPack | None":
        """The pack at a path; None if there is none. A damaged one is set aside."""
        try:
            pack = Pack.open(path, KIND, key)
        except PackDamaged:
            set_pack_aside(path)
            return None
        except OSError:
            return None
        return cls(path, pack) if pack.header.get("version") == VERSION else None

    def set_aside(self) -> None:
        """Rename the file, so that nobody opens it again, unless it is another one by now."""
        with suppress(OSError):
            if self._inode == self.path.stat().st_ino:
                set_pack_aside(self.path)

    def number_of(self, kind: str, id: str | None) -> int | None:
        """The number of a source."""
        return self._numbers.get((kind, id or ""))

    def rows_named(self, bare: str) -> Sequence[int]:
        """The rows with this own name."""
        return [row for row in self._by_bare.rows(bare) if self._bares[row] == bare]

    def names(self, start: int, stop: int) -> Iterator[str]:
        """The names of some rows."""
        return self._names.between(start, stop)

    def name(self, row: int) -> str:
        return self._names[row]

    def bare(self, row: int) -> str:
        return self._bares[row]

    def bares(self, start: int, stop: int) -> Iterator[str]:
        """The own names of some rows."""
        return self._bares.between(start, stop)

    def traits(self, row: int) -> Traits:
        return traits_of(self._traits[row])

    def state(self, row: int, at_source: State) -> State:
        """The state of a row whose source has this state: that one, unless it is held back."""
        held = self._held[row]
        return STATES[held - 1] if held else at_source

    def pin(self, row: int) -> str:
        return self._pins[row * PIN_BYTES : (row + 1) * PIN_BYTES].hex()

    def content(self, row: int) -> str:
        return self._contents[row * DIGEST_BYTES : (row + 1) * DIGEST_BYTES].hex()

    def definition(self, row: int, name: str) -> Capability:
        """The whole definition under a name. The same object while it is remembered."""
        return self._definition(row, name)

    def raw(self, row: int) -> "RawRow":
        """A row as it lies here, for the next pack. Raises `PackDamaged`."""
        pin, content = bytes.fromhex(self.pin(row)), bytes.fromhex(self.content(row))
        return RawRow(self._traits[row], pin, content, self._whole(self._definitions, row))

    def raw_card(self, row: int) -> bytes:
        """The card of a row as it lies here. Raises `PackDamaged`."""
        return self._whole(self._cards, row)

    def array(self, column: str, dtype: type[Number]) -> NDArray[Number]:
        """A column of numbers, for questions about all rows at once."""
        return self._pack.array(column, dtype)

    @property
    def facts_version(self) -> str:
        """By which rules the facts were made that were written with the rows; "" if none were."""
        return str(self._pack.header["facts_version"])

    @cached_property
    def fact_texts(self) -> Sequence[str]:
        """Every text of facts once."""
        return json.loads(bytes(self._pack.view("fact_texts")))

    def fact(self, row: int) -> str:
        """The text of the facts of a row."""
        return self.fact_texts[self._facts[row]]

    @cached_property
    def _facts(self) -> memoryview:
        return self._pack.view("facts").cast("I")

    @cached_property
    def _numbers(self) -> Mapping[tuple[str, str], int]:
        return {(each.kind, each.id): number for number, each in enumerate(self.sources)}

    @cached_property
    def _by_bare(self) -> HashColumn:
        return HashColumn(self._pack, "bares")

    @cached_property
    def _pins(self) -> memoryview:
        return self._pack.view("pins")

    @cached_property
    def _contents(self) -> memoryview:
        return self._pack.view("contents")

    def _whole(self, column: ItemColumn, row: int) -> bytes:
        """An item, to be written again. Raises `PackDamaged`, once that is known elsewhere."""
        try:
            return column[row]
        except PackDamaged:
            with suppress(ToolcribError):
                self.mend(row)
            raise

    def _card(self, row: int) -> Mapping[str, Any]:
        try:
            return decode_card(self._cards[row])
        except PackDamaged:
            return card_of(self.mend(row))

    def _fields(self, row: int) -> Mapping[str, Any]:
        """What a definition has beside its card and its columns, but for what is as usual."""
        try:
            return decode_definition(self.traits(row).kind, self._definitions[row])
        except PackDamaged:
            return fields_of(self.mend(row))

    def _read_definition(self, row: int, name: str) -> Capability:
        source, kind = self.sources[self.source_at(row)], self.traits(row).kind
        others = {"name": name, "pin": self.pin(row), "source": source.kind, "source_id": source.id}
        return CLASSES[kind](**others, **self.card(row), **self.fields(row))


class RawRow(NamedTuple):
    """A row of a pack, but for its names, its state and its card."""

    traits: int
    pin: bytes
    content: bytes
    definition: bytes


def _source(values: list[Any]) -> PackedSource:
    kind, id, stamp, summary, start, stop, number, entangled = values
    return PackedSource(kind, id, stamp, summary, start, stop, int(number, 16), entangled)


def _no_mender(row: int) -> Capability:
    raise PackDamaged(f"row {row} is damaged")
