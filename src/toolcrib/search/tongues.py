"""Which languages a catalog speaks."""

from collections.abc import Iterable
from typing import get_args

from toolcrib.model import Capability, Entry
from toolcrib.text.language import Language, language

_TONGUES: tuple[Language, ...] = get_args(Language)


def spoken_alone(entries: Iterable[Entry]) -> frozenset[Language]:
    """The languages that some entry is described in, and in no other."""
    spoken = {_spoken(entry.capability) for entry in entries}
    return frozenset(tongue for only in spoken if len(only) == 1 for tongue in only)


def _spoken(capability: Capability) -> frozenset[Language]:
    own = _language(capability.description or capability.title)
    tagged = (tongue for tongue in _TONGUES for tag in capability.desc if tag.startswith(tongue))
    return frozenset[Language]([own, *tagged])


def _language(text: str) -> Language:
    return "en" if text.isascii() else language(text)
