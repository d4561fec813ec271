"""What a server has beside tools, as it listed them: one that is malformed hides no other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolcrib.model import JsonObject
from toolcrib.sources.mcp.known import Offer
from toolcrib.sources.scanned import cleaned_object
from toolcrib.text.hidden import without_hidden

LONGEST_KEY = 2_048
_KEYS: Mapping[Offer, str] = {"resources": "uri", "templates": "uriTemplate", "prompts": "name"}


@dataclass(frozen=True, slots=True)
class Offered:
    """A resource, a template of resources, or a prompt.

    `key` is what it goes by: its URI, its URI template, its name. `raw` is all that the server says
    of it, with nothing hidden in it.
    """

    key: str
    raw: JsonObject


def offered(kind: Offer, listed: Sequence[JsonObject]) -> tuple[Offered, ...]:
    """Those that have a usable key, in the server's order. Of two with one key the first counts."""
    found: dict[str, Offered] = {}
    for raw in listed:
        key = raw.get(_KEYS[kind])
        if isinstance(key, str) and _is_usable(key):
            found.setdefault(key, Offered(key, cleaned_object(raw)))
    return tuple(found.values())


def _is_usable(key: str) -> bool:
    return 0 < len(key) <= LONGEST_KEY and key.isprintable() and without_hidden(key) == key
