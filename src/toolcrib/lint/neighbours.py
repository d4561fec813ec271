"""Rules about capabilities that searchers and models take for one another."""

from collections.abc import Iterator

from toolcrib.lint.shelf import Shelf, Told
from toolcrib.model import Entry
from toolcrib.text.nearest import likeness

SAME_WORDS = 90.0
SAME_SORT = 82.0
LONGEST = 1_000
"""How much of a description is compared."""


def near_identical(shelf: Shelf) -> Iterator[Told]:
    """Another one of its kind reads almost the same."""
    told: set[frozenset[str]] = set()
    for name, found in shelf.found.items():
        for other in found:
            pair = frozenset({name, other})
            if other != name and pair not in told and _confusing(shelf, name, other):
                told.add(pair)
                message = f"reads almost like {other}; begin both with what tells them apart"
                yield Told(name, message, other)


def outranked(shelf: Shelf) -> Iterator[Told]:
    """Whoever searches by its own description finds another one first."""
    for name, found in shelf.found.items():
        if found and found[0] != name and not _same(shelf, name, found[0]):
            message = f"is not what its own description finds: {found[0]} comes first"
            yield Told(name, message, found[0])


def _confusing(shelf: Shelf, name: str, other: str) -> bool:
    one, two = shelf.entries[name], shelf.entries[other]
    if one.capability.kind != two.capability.kind or _same(shelf, name, other):
        return False
    alike = likeness(_text(one), _text(two), at_least=SAME_SORT)
    if alike >= SAME_WORDS:
        return True
    return alike >= SAME_SORT and likeness(one.bare, two.bare, at_least=SAME_SORT) >= SAME_SORT


def _same(shelf: Shelf, name: str, other: str) -> bool:
    """That is another rule's to say."""
    return _text(shelf.entries[name]) == _text(shelf.entries[other])


def _text(entry: Entry) -> str:
    return " ".join(entry.capability.description.lower().split()).rstrip(".")[:LONGEST]
