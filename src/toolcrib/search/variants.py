"""One question in several wordings, each with a weight.

能不能帮我读文件                    as written · 读文件
Can you show me the open issues?   as written · show open issues
search the web and save a file     as written · search web save file · its two parts
读文件, among tools in English       as written · read file
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain

from toolcrib.model import Variant
from toolcrib.search.task_parts import MOST_SUBQUERIES, subqueries
from toolcrib.text import (
    LANGUAGE_NAMES,
    Lexicon,
    plain_verbs,
    stems,
    terms,
    without_politeness,
    without_stopwords,
    without_wrapping,
    words,
)

MOST_TERMS = 256

# How much each wording counts in the fusion. All quality numbers in docs/benchmarks.md were
# measured with these: whoever changes one runs `python -m benchmarks.quality` again.
AS_WRITTEN = 0.7
PLAIN = 1.0
"""The measure of the others."""
SUBQUERY = 0.05
"""In reciprocal rank fusion alone: there a part of a task may only break ties."""
TRANSLATED = 2.0
"""Where all tools are in that language; it falls with their share (decision 0010)."""


def query_variants(
    text: str, foreign: Iterable[tuple[Lexicon, float]] = (), *, split: bool = False
) -> tuple[Variant, ...]:
    """The wordings of a free text: at least one, no two looked up alike, the one as written first.

    As written, terms are spelt as in the text, and only politeness is left out: so a vector is
    made of it. The other wordings go by their stems. Each
    lexicon in `foreign` adds the text in its language, as far as it knows the words, with that
    share of the weight. With `split`, each subquery is a wording too.
    """
    written = plain_verbs(without_politeness(text))
    wordings = [_wording(written, AS_WRITTEN, "as written", terms)]
    wordings.append(_wording(plain_words(text), PLAIN, "plain words", stems))
    parts = subqueries(text)[:MOST_SUBQUERIES] if split else ()
    wordings += [_wording(part, SUBQUERY, "one intent", stems) for part in parts]
    wordings += [each for each in map(partial(_translated, text), foreign) if each]
    distinct = {(wording.words, wording.terms): wording for wording in reversed(wordings)}
    return tuple(reversed(distinct.values()))


@lru_cache(maxsize=256)
def plain_words(text: str) -> str:
    """A request without question words, politeness, particles and stop words."""
    return " ".join(without_stopwords(words(plain_verbs(without_wrapping(text)))))


def _wording(
    text: str, weight: float, origin: str, to_terms: Callable[[Sequence[str]], list[str]]
) -> Variant:
    some = without_stopwords(words(text))[:MOST_TERMS]
    return Variant(
        text=text,
        weight=weight,
        words=tuple(terms(some)[:MOST_TERMS]),
        terms=tuple(to_terms(some)[:MOST_TERMS]),
        origin=origin,
    )


def _translated(text: str, foreign: tuple[Lexicon, float]) -> Variant | None:
    """The text in the lexicon's language; None if the lexicon knows none of its words.

    All meanings are looked up; its text and its words are the most usual meaning of each term.
    """
    lexicon, share = foreign
    glosses = lexicon.glosses(plain_verbs(without_wrapping(text)))
    if not glosses:
        return None
    usual = " ".join(meanings[0] for meanings in glosses)
    every = without_stopwords(words(" ".join(chain.from_iterable(glosses))))
    wording = _wording(usual, TRANSLATED * share, f"in {LANGUAGE_NAMES[lexicon.target]}", stems)
    return replace(wording, terms=tuple(stems(every)[:MOST_TERMS]))
