"""Rules about capabilities that searchers and models take for one another."""

from collections.abc import Iterator

from toolcrib.lint.catalog import LintCatalog, LintRemark
from toolcrib.model import Entry
from toolcrib.text import likeness, stems, words

SAME_WORDS = 90.0
SAME_SORT = 82.0
"""From here on descriptions are alike if the names are, too."""
LONGEST = 1_000
"""How much of a description is compared."""
FIRST_FEW = 3


def near_identical(shelf: LintCatalog) -> Iterator[LintRemark]:
    """Another one of its kind reads almost the same, and not even the names' difference is told."""
    told: set[frozenset[str]] = set()
    for name, found in shelf.found.items():
        for other in found:
            pair = frozenset({name, other})
            if other != name and pair not in told and _confusing(shelf, name, other):
                told.add(pair)
                message = f"reads almost like {other}; say in both what tells them apart"
                yield LintRemark(name, message, other)


def outranked(shelf: LintCatalog) -> Iterator[LintRemark]:
    """Whoever searches by its own description finds others, and not it."""
    for name, found in shelf.found.items():
        alike = any(shelf.texts[name] == shelf.texts[other] for other in found)
        if found and name not in found[:FIRST_FEW] and not alike:
            message = f"is not among what its own words find: {found[0]} comes first"
            yield LintRemark(name, message, found[0])


def _confusing(shelf: LintCatalog, name: str, other: str) -> bool:
    one, two = shelf.entries[name], shelf.entries[other]
    texts = shelf.texts[name][:LONGEST], shelf.texts[other][:LONGEST]
    if one.capability.kind != two.capability.kind or texts[0] == texts[1]:
        return False  # another kind is no rival, and the same text another rule's to say
    alike = likeness(*texts, at_least=SAME_SORT)
    names_alike = likeness(one.bare, two.bare) >= SAME_SORT
    if alike < (SAME_SORT if names_alike else SAME_WORDS):
        return False
    return not (_tells(one, two) and _tells(two, one))


def _tells(one: Entry, two: Entry) -> bool:
    """Whether the first says in its description what its name has and the other's has not."""
    own = _roots(one.bare) - _roots(two.bare)
    said = _roots(one.capability.description) - _roots(two.capability.description)
    both_alike = _roots(one.bare) == _roots(two.bare)
    return not both_alike and (not own or not own.isdisjoint(said))


def _roots(text: str) -> set[str]:
    return set(stems(words(text[:LONGEST])))
