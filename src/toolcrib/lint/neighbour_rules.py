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


def near_identical(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Another one of its kind reads almost the same, and not even the names' difference is told."""
    reported: set[frozenset[str]] = set()
    for name, hits in catalog.own_hits.items():
        for other in hits:
            pair = frozenset({name, other})
            if other != name and pair not in reported and _confusing(catalog, name, other):
                reported.add(pair)
                message = f"reads almost like {other}; say in both what tells them apart"
                yield LintRemark(name, message, other)


def outranked(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Whoever searches by its own description finds others, and not it."""
    for name, hits in catalog.own_hits.items():
        alike = any(catalog.texts[name] == catalog.texts[other] for other in hits)
        if hits and name not in hits[:FIRST_FEW] and not alike:
            message = f"is not among what its own words find: {hits[0]} comes first"
            yield LintRemark(name, message, hits[0])


def _confusing(catalog: LintCatalog, name: str, other: str) -> bool:
    one, two = catalog.entries[name], catalog.entries[other]
    texts = catalog.texts[name][:LONGEST], catalog.texts[other][:LONGEST]
    if one.kind != two.kind or texts[0] == texts[1]:
        return False  # another kind is no rival, and "same-description" reports equal texts
    alike = likeness(*texts, at_least=SAME_SORT)
    names_alike = likeness(one.bare, two.bare) >= SAME_SORT
    if alike < (SAME_SORT if names_alike else SAME_WORDS):
        return False
    return not (_explains_name(one, two) and _explains_name(two, one))


def _explains_name(one: Entry, two: Entry) -> bool:
    """Whether the first says in its description what its name has and the other's has not."""
    in_name = _stems(one.bare) - _stems(two.bare)
    in_description = _stems(one.description) - _stems(two.description)
    same_names = _stems(one.bare) == _stems(two.bare)
    return not same_names and (not in_name or not in_name.isdisjoint(in_description))


def _stems(text: str) -> set[str]:
    return set(stems(words(text[:LONGEST])))
