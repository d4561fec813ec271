"""A task that asks for several things, in its parts.

    check the weather and email it to dad          check the weather · email it to dad
    pull the sales, make a chart and let ops know   three parts
    把说明翻成中文，再发给客户                         说明翻成中文 · 发给客户
    search and replace · terms and conditions       one thing each, as are most requests

A part begins where a sentence, a comma or an "and" is followed by a request: by a verb in the form
of a command, or, in a new sentence, by a question. What is no request stays with the part before
it. A verb without an object makes no part: "read and write the file" is one thing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from toolcrib.text import (
    ENGLISH_STOPWORDS,
    begins_object,
    is_unspaced,
    our_verbs,
    simplified,
    terms,
    without_wrapping,
    words,
)

MOST_SUBQUERIES = 4
"""So many of the things that a task asks for are searched on their own."""

_SENTENCE = r"[\n;；。！？!?]|\.(?=\s|$)"
_THEN = (
    r"\b(?:and\s+)?(?:then|afterwards|after\s+that|finally|also|lastly)\b,?"
    r"|然后|接着|并且|随后|之后(?!的)|同时|顺便|顺手|完了|最后(?=[^的一])|等会儿|另外|回头"
)
_WEAK = (
    r"[，,、]|\s&\s|\b(?:and|plus)\b"
    r"|(?<![不一])再(?![见次生说])|(?<![总饱温])和(?![平谐])|(?<!合)并(?![发行])|以及|还要?(?=[把给发写建做在])"
)
_BOUNDARY = re.compile(
    f"(?P<sentence>{_SENTENCE})|(?P<then>{_THEN})|(?P<weak>{_WEAK})", re.IGNORECASE
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`|「[^」\n]*」|《[^》\n]*》")
_QUESTION_WORDS = frozenset("what who which when where how why is are does did any".split())
_LEADING = re.compile(
    r"^(?:(?:要是|如果|若|假如|万一|有).{1,8}?就|再|就|也|都|去|来|先|还|要(?!求)|记得|且)+"
)
_SAYS_HOW = frozenset("return include exclude use ensure limit keep".split())
"""Verbs that say how the request before them is meant: find the flights and include the prices."""
_PLACES = tuple("上里中")
_MARKERS = tuple("把将给从在用跟向到按帮对为往让叫")
_STATES = re.compile(r".{2,10}?(?:是(?!否|不是)|为(?!什么))")
"""What a clause begins with that says how something is: 开始时间是九点."""
_ASKED = re.compile(r"多少|哪|什么|啥|咋|怎么|几[个点]|吗|谁|有没有")
_SAYS_LITTLE = re.compile(r"[的了一下个着过吧啊吗呢我你它他她这那些份张几出来去里上给把\W]")
FEWEST_CHARACTERS = 2
"""A Chinese part says at least so much besides its verbs."""

HEAVIER = 30
MOST_WEIGHT = 2.5
"""A task of more terms than `HEAVIER` weighs more beside its parts, up to so many times one.

The parts of a short task stand for themselves. Long prose tells its subject once, and its parts
are little without it.
"""


class Clause(NamedTuple):
    """A piece of the text, and the boundary before it: what kind, and how it is written."""

    kind: str
    boundary: str
    text: str


def subqueries(text: str) -> Sequence[str]:
    """The parts of a task that asks for several things, as written, in order; else none."""
    if not _BOUNDARY.search(text):
        return []  # most requests
    parts: list[str] = []
    goes_on = False
    for clause in _clauses(simplified(text)):
        if _begins_part(clause, parts[-1] if goes_on else ""):
            parts.append(clause.text)
            goes_on = True
        elif goes_on := goes_on and clause.kind != "sentence":
            parts[-1] += clause.boundary + clause.text
    distinct = list(dict.fromkeys(map(_inner, parts)))
    return distinct if len(distinct) > 1 else []


def whole_weight(text: str) -> float:
    """How much the whole of a task counts beside each of its parts."""
    return min(MOST_WEIGHT, max(1.0, len(terms(words(text))) / HEAVIER))


def _clauses(text: str) -> Iterator[Clause]:
    """The text cut at every boundary that is not within quotation marks."""
    masked = _QUOTED.sub(lambda quoted: "\0" * len(quoted[0]), text)
    kind, boundary, start = "sentence", "", 0
    for found in _BOUNDARY.finditer(masked):
        yield Clause(kind, boundary, text[start : found.start()])
        kind, boundary, start = found.lastgroup or "", found[0], found.end()
    yield Clause(kind, boundary, text[start:])


def _begins_part(clause: Clause, before: str) -> bool:
    """Whether a clause is a request of its own, and not the rest of the one before it."""
    if clause.kind == "weak" and before and not _has_object(before):
        return False
    if clause.kind != "then" and not _has_object(clause.text):
        return False
    return (_asks_in_chinese if _is_chinese(clause.text) else _asks_in_english)(clause)


def _asks_in_english(clause: Clause) -> bool:
    said = words(_inner(clause.text))
    if clause.boundary and said[:1] != [] and said[0] in _SAYS_HOW:
        return False
    verb = our_verbs().verb_at(said, 0) if said else None
    if not verb or verb.hint or not verb.base:
        return clause.kind == "sentence" and said[:1] != [] and said[0] in _QUESTION_WORDS
    return not verb.noun_like or clause.boundary == "" or begins_object(said[verb.size :])


def _asks_in_chinese(clause: Clause) -> bool:
    inner = _LEADING.sub("", clause.text.strip(), count=1)
    said = words(_inner(inner))
    verbs = our_verbs()
    if said and verbs.verb_at(said, 0):
        return not _STATES.match(said[0])
    placed = inner.startswith(_MARKERS) or (said[1:2] != [] and said[1].startswith(_PLACES))
    marked = placed and any(any(verbs.verbs_in(word)) for word in said)
    return marked or (clause.kind == "sentence" and bool(_ASKED.search(inner)))


def _has_object(text: str) -> bool:
    """Whether a clause says more than its verb."""
    said = words(_inner(text))
    if any(map(is_unspaced, said)):
        return any(map(str.isascii, said)) or _chinese_left(said) >= FEWEST_CHARACTERS
    verb = our_verbs().verb_at(said, 0) if said else None
    rest = said[verb.size if verb else 0 :]
    return begins_object(rest) or any(word not in ENGLISH_STOPWORDS for word in rest)


def _chinese_left(said: Iterable[str]) -> int:
    """How many characters there are that are neither of a verb nor particles."""
    verbs = our_verbs()
    taken = sum(verb.size for word in said for verb in verbs.verbs_in(word))
    return sum(len(_SAYS_LITTLE.sub("", word)) for word in said) - taken


def _inner(text: str) -> str:
    """A part without politeness and without the words that join it to others."""
    inner = without_wrapping(_LEADING.sub("", text.strip(" ,，、.\t"), count=1))
    return inner.strip(" ,，、.\t")


def _is_chinese(text: str) -> bool:
    return any(map(is_unspaced, words(text)))
