"""Prefetch: the user's own message is searched before the model is asked, and sure hits are shown.

    message ──▶ needs ──▶ a search each ──▶ sure hits, within a budget ──▶ reveals

Many models never search by themselves. Only what the user wrote is searched, never the result of a
tool; and a hit is only shown, never called. What was shown for a message is kept as a mark among
the reveals, and so is searched once: the list of tools grows at its end, and stays.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from typing import Final, Protocol, get_args

from toolcrib.model import CALLABLE_STATES, Answer, Confidence, Hit, Kind, Query, ToolInfo
from toolcrib.search import MOST_SUBQUERIES, plain_words, subqueries, verb_family
from toolcrib.session.deferral_plan import DeferralPlan
from toolcrib.session.host import RunSearch
from toolcrib.session.policy import SessionOptions
from toolcrib.session.reveals import Reveals
from toolcrib.session.search_tool import SEARCH_TOOL_NAME
from toolcrib.text import estimate_tokens, tool_definition

SURE: Final[Confidence] = "high"
"""From this confidence on, the hits of a need are shown before the model has asked for them."""
MOST_A_NEED = 3
MOST_IN_CONVERSATION = 24
"""So many tools are shown without being asked for, until the conversation is compacted."""
LONGEST_MESSAGE = 2_000
"""Characters. Of a longer one its first and its last paragraph are searched: there people ask."""

_LEVELS: Sequence[Confidence] = get_args(Confidence)
_PASTED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUERY_SYNTAX = re.compile(r"^\s*select\s*:|(?<!\S)\+(?=\S)|^\s*/|/\s*$", re.IGNORECASE)
_MARK = "?"
"""No name begins with it."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user wrote, among the names that a conversation shows; see `Session.see`."""

    text: str


@dataclass(frozen=True, slots=True)
class PrefetchedNeed:
    """One thing that a message asks for, and what is shown for it: nothing, unless search is sure.

    `first` is the best hit, "" if there is none.
    """

    query: str
    confidence: Confidence
    chance: float
    first: str
    tools: tuple[str, ...]

    def __str__(self) -> str:
        sure = f"{self.query!r}: {self.confidence} ({self.chance:.2f})"
        if self.tools:
            return f"{sure}, shows {', '.join(self.tools)}"
        if not is_sure(self.confidence):
            return f"{sure}, and prefetch shows what is {SURE}"
        return f"{sure}, but {self.first or 'nothing'} is shown already, or too large"


@dataclass(frozen=True, slots=True)
class Prefetch:
    """What a message of the user shows before any search, and why.

    `needs` is empty for a message that asks for nothing. `tokens` is an estimate.
    """

    needs: tuple[PrefetchedNeed, ...] = ()
    tokens: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The tools that are shown: the best of each need, then the second best."""
        ranks = zip_longest(*(need.tools for need in self.needs))
        return tuple(dict.fromkeys(name for rank in ranks for name in rank if name))

    def __str__(self) -> str:
        return "; ".join(map(str, self.needs)) or "the message asks for nothing"


class PrefetchMemory(Protocol):
    """What was searched for the messages of one caller. Safe to share between threads.

    `searched` is what a message showed when it was searched with this very catalog; None if it was
    not. `shown` is what it showed with any, for conversations that keep no state of their own.
    """

    def searched(self, key: str, catalog: object) -> tuple[str, ...] | None: ...

    def shown(self, key: str) -> tuple[str, ...]: ...

    def remember(self, key: str, catalog: object, names: tuple[str, ...]) -> None: ...


class Prefetcher:
    """Shows what messages ask for, each searched once; see `Session.prefetch`."""

    def __init__(
        self, search: RunSearch, reveals: Reveals, memory: PrefetchMemory, options: SessionOptions
    ) -> None:
        self._search = search
        self._reveals = reveals
        self._memory = memory
        self._tokens = options.prefetch_tokens
        self._is_off = options.prefetch == "off"

    def plan(self, message: str, plan: DeferralPlan) -> Prefetch:
        """What a message shows of what waits by this plan, and why; it shows nothing yet."""
        waiting = plan.deferred_by_name
        return plan_prefetch(
            message, self._tools_for, waiting, most=self._room, tokens=self._tokens
        )

    def _tools_for(self, need: str) -> Answer:
        return self._search(Query(need, MOST_A_NEED, frozenset[Kind]({"tool"})))

    def show(self, message: str, plan: DeferralPlan) -> tuple[str, ...]:
        """Reveal what a message asks for; the names that it shows, revealed before or not."""
        if self._is_off:
            return ()
        key = key_of(message)
        if marked := self._marks.get(key):
            return marked
        names = self._memory.searched(key, plan)
        if names is None:
            names = self.plan(message, plan).names
            self._memory.remember(key, plan, names)
        self._reveals.add(_with_mark(key, names))
        return names

    def shown_by(self, messages: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """What each of these messages has shown in this conversation; without those with none."""
        marks = self._marks
        keys = {message: key_of(message) for message in messages} if marks else {}
        return {message: marks[key] for message, key in keys.items() if key in marks}

    def see(
        self, seen: Sequence[str | UserMessage], plan: DeferralPlan, *, prefetch: bool | None
    ) -> UserMessage | None:
        """Reveal what a conversation shows, as `Session.see` says.

        Returns its newest message, if messages count.
        """
        if prefetch is False or self._is_off:
            self._reveal([each for each in seen if isinstance(each, str)], plan)
            return None
        messages = [each for each in seen if isinstance(each, UserMessage)]
        if not prefetch or not messages:
            self._reveal(seen, plan)
            return messages[-1] if messages else None
        place = len(seen) - 1 - list(reversed(seen)).index(messages[-1])
        self._reveal(seen[:place], plan)
        self.show(messages[-1].text, plan)
        self._reveal(seen[place + 1 :], plan)
        return messages[-1]

    def kept(self, names: Iterable[str | UserMessage]) -> frozenset[str]:
        """These names, and for each message what it has shown, with its mark."""
        marks, kept = self._marks, set[str]()
        for each in names:
            key = key_of(each.text) if isinstance(each, UserMessage) else ""
            kept.update(_with_mark(key, marks.get(key, ())) if key else [str(each)])
        return frozenset(kept)

    def names(self) -> frozenset[str]:
        """All that messages have shown in this conversation."""
        return frozenset(name for names in self._marks.values() for name in names)

    def _reveal(self, seen: Iterable[str | UserMessage], plan: DeferralPlan) -> None:
        """Reveal the names, and in the place of each message what it has shown before."""
        marks, found = self._marks, list[str]()
        for each in seen:
            if isinstance(each, UserMessage):
                key = key_of(each.text)
                found += _with_mark(key, marks.get(key) or self._memory.shown(key))
            elif each in plan.deferred_by_name or each == SEARCH_TOOL_NAME:
                found.append(each)
        self._reveals.add(found)

    @property
    def _marks(self) -> Mapping[str, tuple[str, ...]]:
        return read_marks(self._reveals.names())

    @property
    def _room(self) -> int:
        return max(0, MOST_IN_CONVERSATION - len(self.names()))


def is_sure(confidence: Confidence, bar: Confidence = SURE) -> bool:
    """Whether hits of this confidence are shown unasked."""
    return _LEVELS.index(confidence) <= _LEVELS.index(bar)


def plan_prefetch(  # noqa: PLR0913 - each by its name
    message: str,
    search: Callable[[str], Answer],
    waiting: Mapping[str, ToolInfo],
    *,
    most: int,
    tokens: int,
    bar: Confidence = SURE,
) -> Prefetch:
    """What a message shows: at most so many tools, in so many tokens, of those that wait.

    Of each need the best few hits, if its search is as sure as the bar. The first that does not fit
    into the budget ends them: no worse hit is shown in place of a better one.
    """
    needs = needs_in(message)
    answers = [search(need) for need in needs]
    prices: dict[str, int] = {}
    shown: list[list[str]] = [[] for _ in answers]
    full: set[int] = set()
    sure = [answer if is_sure(answer.confidence, bar) else () for answer in answers]
    for place, hit in _by_rank(sure, waiting):
        price = prices.get(hit.name) or estimate_tokens(tool_definition(waiting[hit.name]))
        after = prices | {hit.name: price}
        if len(after) > most or sum(after.values()) > tokens:
            full.add(place)
        if place not in full:
            shown[place].append(hit.name)
            prices = after
    rows = zip(needs, answers, shown, strict=True)
    return Prefetch(tuple(_need(*row) for row in rows), sum(prices.values()))


def needs_in(message: str) -> tuple[str, ...]:
    """What a message asks for, each as a query in plain words of its own; none if nothing.

    A verb alone ("stop", "continue") says nothing of what it is about.
    """
    text = _QUERY_SYNTAX.sub(" ", _readable(message)).strip()
    words = plain_words(text).strip()
    if not words or (words.isascii() and words.isalpha() and verb_family(words)):
        return ()
    return tuple(subqueries(text)[:MOST_SUBQUERIES]) or (text,)


def key_of(message: str) -> str:
    """By which a message is known again, without its text being kept."""
    return sha256(message.strip().encode(errors="replace")).hexdigest()[:16]


def is_mark(name: str) -> bool:
    """Whether this is no name but a mark: what was shown for a message."""
    return name.startswith(_MARK)


def read_marks(names: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The marks among the reveals: the keys of messages, and what was shown for each."""
    marks = (name.removeprefix(_MARK).partition(":") for name in names if is_mark(name))
    return {key: tuple(listed.split(",")) for key, _, listed in marks}


def _with_mark(key: str, names: Sequence[str]) -> list[str]:
    """The names that a message shows behind their mark; nothing if there are none."""
    return [f"{_MARK}{key}:{','.join(names)}", *names] if names else []


def _by_rank(
    answers: Sequence[Sequence[Hit]], waiting: Mapping[str, ToolInfo]
) -> Iterator[tuple[int, Hit]]:
    """The hits that can be shown and called, the best of each answer first."""
    for rank in range(MOST_A_NEED):
        for place, answer in enumerate(answers):
            for hit in answer[rank : rank + 1]:
                if hit.name in waiting and hit.state in CALLABLE_STATES:
                    yield place, hit


def _need(query: str, answer: Answer, tools: Iterable[str]) -> PrefetchedNeed:
    first = answer[0].name if answer else ""
    return PrefetchedNeed(query, answer.confidence, answer.chance, first, tuple(tools))


def _readable(message: str) -> str:
    """The message without what was pasted into it, and not without end."""
    text = _PASTED.sub("\n\n", message).strip() or message.strip()
    if len(text) <= LONGEST_MESSAGE:
        return text
    paragraphs = [each.strip() for each in text.split("\n\n") if each.strip()]
    half = LONGEST_MESSAGE // 2
    return f"{paragraphs[0][:half]}\n{paragraphs[-1][-half:]}"
