"""Fixed points instead of arms: what a word of the query gives a tool, by where it stands.

    score(d) = 3 · words in the name + 1 · words in the description alone + 100 · whole name

A word is what stands between white space, without the punctuation around it, in any case. It is in
a text wherever its letters are, within a longer word too.
"""

from collections.abc import Mapping
from functools import lru_cache

from toolcrib.model import Entry, Variant
from toolcrib.search.query_syntax import unwrapped
from toolcrib.search.variants import MOST_TERMS
from toolcrib.text import without_stopwords

IN_NAME, IN_DESCRIPTION, WHOLE_NAME = 3.0, 1.0, 100.0


@lru_cache(maxsize=64)
def keyword_variant(text: str) -> Variant:
    """The one wording of a text: its words, each as often as it is there, and its terms once.

    A word has a letter or a digit. Stop words are words and no terms.
    """
    found = [unwrapped(word) for word in text.lower().split() if any(map(str.isalnum, word))]
    words = tuple(found[:MOST_TERMS])
    return Variant(text, words=words, terms=tuple({*without_stopwords(words)}))


def keyword_points(text: str, entry: Entry) -> Mapping[str, float]:
    """What its name, its description and its whole name give an entry: the sum is its score.

    The name is the one that models see, or the source's own.
    """
    words, names = keyword_variant(text).words, f"{entry.name}\n{entry.bare}".lower()
    elsewhere = [word for word in words if word not in names]
    described = "\n".join((entry.description, *entry.desc.values())).lower()
    return {
        "name": IN_NAME * (len(words) - len(elsewhere)),
        "description": IN_DESCRIPTION * sum(word in described for word in elsewhere),
        "whole name": WHOLE_NAME * (unwrapped(text).lower() in names.split("\n")),
    }
