"""Which languages a catalog is in, and how much a translated query counts."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import get_args

from toolcrib.model import Capability, Entry
from toolcrib.text import Language, detect_language

LEAST_SHARE = 0.05

_LANGUAGES: tuple[Language, ...] = get_args(Language)


def monolingual_share(entries: Iterable[Entry]) -> Mapping[Language, float]:
    """The share of the entries that are described in a language and in no other, by language."""
    counts = Counter(_languages_of(entry.capability) for entry in entries)
    total = counts.total()
    return {one: counts[only] / total for only in counts if len(only) == 1 for one in only}


def translation_weight(share: float) -> float:
    """The share of tools that need the translation, as its weight.

    Below one in twenty it is 0: nothing is translated.
    """
    return share if share >= LEAST_SHARE else 0.0


def _languages_of(capability: Capability) -> frozenset[Language]:
    found: set[Language] = {_language(capability.description or capability.title)}
    for tag in capability.desc:
        found.update(language for language in _LANGUAGES if tag.startswith(language))
    return frozenset(found)


def _language(text: str) -> Language:
    return "en" if text.isascii() else detect_language(text)
