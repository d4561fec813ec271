"""What is kept of a query: hashes of its telling words, by the profile of who asked."""

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from hashlib import blake2b
from typing import cast

from toolcrib.search.filters import Scope
from toolcrib.search.parse import Free, parse
from toolcrib.search.rewrite import plain
from toolcrib.text.stopwords import ENGLISH
from toolcrib.text.words import is_unspaced, roots, terms, words

MOST_WORDS = 16
HASH_BYTES = 8
NO_RIGHTS = frozenset({"bound"})
"""What a scope says that grants nothing and takes nothing: what its caller has already."""


def content_words(query: str) -> Sequence[str]:
    """The telling words of a free text: stems, or pairs of characters; each once, in order.

    Stop words are left out, and whatever has a digit in it: numbers, dates, ids. A query of any
    other form has none.
    """
    form = parse(query)
    some = words(plain(form.text)) if isinstance(form, Free) else []
    kept = [each for each in some if each not in ENGLISH and not any(map(str.isdigit, each))]
    spelt = [one for each in kept for one in (terms if is_unspaced(each) else roots)([each])]
    return list(dict.fromkeys(spelt))[:MOST_WORDS]


def hashed(query_words: Sequence[str], key: bytes) -> tuple[bytes, ...]:
    """The words as they are kept: with another key, other hashes."""
    return tuple(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES, key=key).digest()
        for word in query_words
    )


@lru_cache(maxsize=256)
def profile_of(scope: Scope) -> bytes:
    """The profile of callers with these rights, as a hash: equal only for equal rights.

    Every field of the scope counts, one that is added later too, but for those that are no rights.
    """
    rights = [
        (field.name, _said(getattr(scope, field.name)))
        for field in fields(scope)
        if field.name not in NO_RIGHTS
    ]
    return blake2b(repr(rights).encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _said(value: object) -> object:
    """A value of a scope, in one order."""
    return sorted(cast("frozenset[str]", value)) if isinstance(value, frozenset) else value
