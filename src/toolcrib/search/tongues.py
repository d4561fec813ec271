"""Which languages a catalog speaks, and how much a translation into one of them counts."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import get_args

from toolcrib.model import Capability, Entry
from toolcrib.text.language import Language, language

LEAST_SHARE = 0.05

_TONGUES: tuple[Language, ...] = get_args(Language)


def spoken_alone(entries: Iterable[Entry]) -> Mapping[Language, float]:
    """The share of the entries that are described in a language and in no other, by language."""
    counts = Counter(_spoken(entry.capability) for entry in entries)
    total = counts.total()
    return {tongue: counts[only] / total for only in counts if len(only) == 1 for tongue in only}


def say(share: float) -> float:
    """The share of its weight that a translation has, where this share needs it.

    As much as needs it; less than a twentieth does: none, and nothing is translated.
    """
    return share if share >= LEAST_SHARE else 0.0


def _spoken(capability: Capability) -> frozenset[Language]:
    spoken: set[Language] = {_language(capability.description or capability.title)}
    for tag in capability.desc:
        spoken.update(tongue for tongue in _TONGUES if tag.startswith(tongue))
    return frozenset(spoken)


def _language(text: str) -> Language:
    return "en" if text.isascii() else language(text)
