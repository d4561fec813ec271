"""A capability as it lies in a pool pack, in three parts.

    traits      what filters and plans ask of every entry: a number of bits, by `Traits`
    card        what lists and rankings show of it: title, description, category, tags, links
    definition  all the rest, schemas above all

Card and definition are JSON and are read one by one. What a source alone has (its kind and id) and
what has columns of its own (names, pin) is in none of them.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any, NamedTuple, get_args

from toolcrib.model import (
    AgentInfo,
    Capability,
    Defer,
    Entry,
    Kind,
    NamedBy,
    PermissionKind,
    SkillInfo,
    ToolInfo,
)

CARD = ("title", "description", "category", "tags", "often_with")
_COLUMNS = frozenset({"name", "pin", "source", "source_id", *CARD})
CLASSES: Mapping[str, type[Capability]] = {
    each.kind: each for each in (ToolInfo, SkillInfo, AgentInfo)
}
_KINDS, _PERMISSIONS = get_args(Kind), get_args(PermissionKind)
_DEFERS, _NAMERS = get_args(Defer), get_args(NamedBy)
_encode = json.JSONEncoder(separators=(",", ":")).encode


GROUPING_TRAITS = 0b0_1111_1001_1111
"""The bits that tell groups of entries apart: all but `named_by` and the last two."""


class Traits(NamedTuple):
    """The light facts of an entry that are one of few: see the properties of `Entry`."""

    kind: Kind
    permission_kind: PermissionKind
    named_by: NamedBy
    defer: Defer
    searchable: bool
    packaged: bool
    required: bool
    asks_to_load: bool
    is_translated: bool
    """Whether its definition has descriptions in other languages: hardly any has."""


def traits_number(entry: Entry) -> int:
    """The traits of an entry as bits."""
    number = _KINDS.index(entry.kind) | _PERMISSIONS.index(entry.permission_kind) << 2
    number |= _NAMERS.index(entry.named_by) << 5 | _DEFERS.index(entry.defer) << 7
    number |= entry.searchable << 9 | entry.packaged << 10
    number |= entry.required << 11 | entry.asks_to_load << 12
    return number | bool(entry.desc) << 13


@lru_cache(maxsize=1 << 13)
def traits_of(number: int) -> Traits:
    """The traits that were made a number."""
    return Traits(
        _KINDS[number & 3],
        _PERMISSIONS[number >> 2 & 7],
        _NAMERS[number >> 5 & 3],
        _DEFERS[number >> 7 & 3],
        searchable=bool(number >> 9 & 1),
        packaged=bool(number >> 10 & 1),
        required=bool(number >> 11 & 1),
        asks_to_load=bool(number >> 12 & 1),
        is_translated=bool(number >> 13 & 1),
    )


def card_of(given: Capability) -> dict[str, Any]:
    """What lists and rankings show of it, by the names of the fields."""
    return {name: getattr(given, name) for name in CARD}


def encode_card(given: Capability) -> bytes:
    """The same as it lies in the pack."""
    return _encode([*card_of(given).values()]).encode()


def decode_card(text: bytes) -> dict[str, Any]:
    """The fields of a card."""
    title, description, category, tags, often_with = json.loads(text)
    return dict(
        zip(CARD, (title, description, category, tuple(tags), tuple(often_with)), strict=True)
    )


def fields_of(given: Capability) -> dict[str, Any]:
    """All that is not on the card, but for what is as usual, by the names of the fields."""
    usual = _usual_values(type(given))
    values = {name: getattr(given, name) for name in usual}
    return {name: each for name, each in values.items() if each != usual[name]}


def encode_definition(given: Capability) -> bytes:
    """The same as it lies in the pack. Raises `TypeError`: no JSON."""
    return _encode(fields_of(given)).encode()


def decode_definition(kind: Kind, definition: bytes) -> dict[str, Any]:
    """The fields of a definition."""
    usual = _usual_values(CLASSES[kind])
    return {
        name: tuple(each) if isinstance(usual[name], tuple) else each
        for name, each in json.loads(definition).items()
    }


@lru_cache
def _usual_values(cls: type[Capability]) -> Mapping[str, object]:
    """The default of every field that is in a definition."""
    return {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(cls)
        if field.name not in _COLUMNS
    }
