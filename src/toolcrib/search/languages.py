"""Which languages an entry is described in, and how much a translated query counts."""

from typing import get_args

from toolcrib.model import Capability
from toolcrib.text import Language, detect_language

LEAST_SHARE = 0.05

_LANGUAGES: tuple[Language, ...] = get_args(Language)


def translation_weight(share: float) -> float:
    """The share of tools that need the translation, as its weight.

    Below one in twenty it is 0: nothing is translated.
    """
    return share if share >= LEAST_SHARE else 0.0


def languages_of(capability: Capability) -> frozenset[Language]:
    """Those that it is described in."""
    found: set[Language] = {_language(capability.description or capability.title)}
    for tag in capability.desc:
        found.update(language for language in _LANGUAGES if tag.startswith(language))
    return frozenset(found)


def _language(text: str) -> Language:
    return "en" if text.isascii() else detect_language(text)
