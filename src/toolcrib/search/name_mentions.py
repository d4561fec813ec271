"""Names that a query gives outright: as the whole of it, or within a sentence."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from toolcrib.index import View
from toolcrib.model import Entry
from toolcrib.search.query_syntax import unwrapped
from toolcrib.search.variants import plain_words
from toolcrib.text import fold

# The bonus of a name, as a share of the largest; `fusion` says what that is worth.
VERBATIM = 1.0
RESPELT = 0.5
QUOTED = 0.25

_IN_QUOTES = re.compile(r"[`\"“'‘「《]([^`\"”'’」》\n]{2,64})[`\"”'’」》]")
_INNER = frozenset("_-.:/")
_KIND_WORDS = frozenset({"tool", "tools", "function", "skill", "agent", "工具", "技能"})


def mentioned_names(text: str, view: View, entries: Mapping[str, Entry]) -> Mapping[str, float]:
    """The capabilities that a text names, each with its bonus: 1 for its name, verbatim.

    Half for another spelling of it (write file for write_file) or for its name in a polite
    request (please write file); a quarter for a name within a sentence.
    """
    whole = unwrapped(text)
    spellings = dict.fromkeys((fold(whole), fold(plain_words(text))))
    strengths = {id: QUOTED for word in _quoted(text) for id in view.named(fold(word))}
    strengths |= {id: RESPELT for spelling in spellings for id in view.named(spelling)}
    verbatim = {id: VERBATIM for id in strengths if whole in (id, _bare(id, entries))}
    return {**strengths, **verbatim}


def is_identifier(word: str) -> bool:
    """Whether a word looks like a name and like nothing else: write_file, getForecast, s3."""
    rest = word[1:]
    if rest.isalpha() and rest.islower():
        return False  # nearly all of them
    inside = word[1:-1]
    joined = not _INNER.isdisjoint(inside)
    shouted = word.isupper()
    return joined or (not shouted and any(c.isupper() or c.isdigit() for c in rest))


def _bare(id: str, entries: Mapping[str, Entry]) -> str:
    return entries[id].bare if id in entries else id


def _quoted(text: str) -> Iterator[str]:
    """What may be a name in a sentence: quoted, spelt like one, or said to be a tool."""
    yield from _IN_QUOTES.findall(text)
    tokens = [unwrapped(token) for token in text.split()]
    yield from filter(is_identifier, tokens)
    yield from (before for before, after in pairwise(tokens) if after.lower() in _KIND_WORDS)
