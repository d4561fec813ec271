"""One question in several wordings, each with a weight.

能不能帮我读文件                    as written · 读文件
Can you show me the open issues?   as written · show open issues
search the web and save a file     as written · search web save file · search web · save file
读文件, among tools in English       as written · read file
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain

from toolcrib.model import Variant
from toolcrib.search.verbs import starts_with_verb
from toolcrib.text import (
    LANGUAGE_NAMES,
    Lexicon,
    stems,
    terms,
    without_stopwords,
    without_wrapping,
    words,
)

MOST_TERMS = 256
MOST_SUBQUERIES = 4
"""So many of the things that a task asks for are searched on their own."""

# How much each wording counts in the fusion. All quality numbers in docs/benchmarks.md were
# measured with these: whoever changes one runs `python -m benchmarks.quality` again.
AS_WRITTEN = 0.7
PLAIN = 1.0
"""The measure of the others."""
SUBQUERY = 0.05
"""In reciprocal rank fusion alone: there a part of a task may only break ties."""
TRANSLATED = 2.0
"""Where all tools are in that language; it falls with their share (decision 0010)."""

_CLAUSE_END = re.compile(r"[\n;；。！？!?，,]|\.\s|\bthen\b|然后|接着|并且|之后", re.IGNORECASE)
_AND = re.compile(r"\band\b|和|并", re.IGNORECASE)


def query_variants(
    text: str, foreign: Iterable[tuple[Lexicon, float]] = (), *, split: bool = False
) -> tuple[Variant, ...]:
    """The wordings of a free text: at least one, no two looked up alike, the one as written first.

    As written, terms are spelt as in the text; the other wordings go by their stems. Each
    lexicon in `foreign` adds the text in its language, as far as it knows the words, with that
    share of the weight. With `split`, each subquery is a wording too.
    """
    wordings = [_wording(text, AS_WRITTEN, "as written", terms)]
    wordings.append(_wording(plain_words(text), PLAIN, "plain words", stems))
    parts = subqueries(text)[:MOST_SUBQUERIES] if split else ()
    wordings += [_wording(part, SUBQUERY, "one intent", stems) for part in parts]
    wordings += [each for each in map(partial(_translated, text), foreign) if each]
    distinct = {(wording.words, wording.terms): wording for wording in reversed(wordings)}
    return tuple(reversed(distinct.values()))


@lru_cache(maxsize=256)
def plain_words(text: str) -> str:
    """A request without question words, politeness, particles and stop words."""
    return " ".join(without_stopwords(words(without_wrapping(text))))


def subqueries(text: str) -> Sequence[str]:
    """The parts of a task that asks for several things, in plain words, in order; else none."""
    parts = [part for clause in _CLAUSE_END.split(text) for part in _requests(clause)]
    requests = dict.fromkeys(
        part for part in map(plain_words, parts) if starts_with_verb(part.split())
    )
    return list(requests) if len(requests) > 1 else []


def _requests(clause: str) -> Sequence[str]:
    """The sides of an "and" that joins requests; an "and" between two things stays whole."""
    sides = _AND.split(clause)
    joined = all(starts_with_verb(plain_words(side).split()) for side in sides)
    return sides if joined else [clause]


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
    glosses = lexicon.glosses(without_wrapping(text))
    if not glosses:
        return None
    usual = " ".join(meanings[0] for meanings in glosses)
    every = without_stopwords(words(" ".join(chain.from_iterable(glosses))))
    wording = _wording(usual, TRANSLATED * share, f"in {LANGUAGE_NAMES[lexicon.target]}", stems)
    return replace(wording, terms=tuple(stems(every)[:MOST_TERMS]))
