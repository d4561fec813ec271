"""What a conversation has revealed, and what a search may add to it.

    hits of a search  →  `to_reveal`: the best, within a bound  →  `Reveals`, in order, for good

There is a bound because every revealed definition is sent with each request from then on. A
deferred tool that is called before it is revealed is refused, with the query that reveals it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Protocol

from toolcrib.execute import CallRefused
from toolcrib.model import (
    CALLABLE_STATES,
    Answer,
    Confidence,
    ConversationTokens,
    Entry,
    Hit,
    ToolInfo,
)
from toolcrib.search import MOST_SUBQUERIES, FreeQuery, SelectQuery, parse_query, subqueries
from toolcrib.session.search_tool import SEARCH_TOOL_NAME
from toolcrib.text import estimate_tokens, list_nearest, tool_definition

WEAK: frozenset[Confidence] = frozenset({"low", "none"})
"""How sure a search is that finds names, and reveals nothing."""


class Reveals(Protocol):
    """What lasts of one conversation. Safe to share between threads."""

    def names(self) -> tuple[str, ...]:
        """All of them, in the order of their first reveal."""
        ...

    def add(self, names: Iterable[str]) -> tuple[str, ...]:
        """Put these behind the others, each once; returns those that are new."""
        ...

    def keep(self, names: Collection[str]) -> None:
        """Forget all but these; those that stay keep their order."""
        ...

    def tokens(self) -> ConversationTokens:
        """How long the conversation is."""
        ...

    def set_tokens(self, tokens: ConversationTokens) -> None:
        """Remember how long it is."""
        ...


class RequestReveals:
    """The reveals of a session without an id: nobody else's, and gone with it."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._tokens = ConversationTokens()

    def names(self) -> tuple[str, ...]:
        """As the protocol says."""
        return self._names

    def add(self, names: Iterable[str]) -> tuple[str, ...]:
        """As the protocol says."""
        new = tuple(name for name in dict.fromkeys(names) if name not in self._names)
        self._names += new
        return new

    def keep(self, names: Collection[str]) -> None:
        """As the protocol says."""
        self._names = tuple(name for name in self._names if name in names)

    def tokens(self) -> ConversationTokens:
        """As the protocol says."""
        return self._tokens

    def set_tokens(self, tokens: ConversationTokens) -> None:
        """As the protocol says."""
        self._tokens = tokens


def round_robin(answers: Sequence[Answer]) -> list[Hit]:
    """All hits, each once: the best of every query, then the second best of each, and on.

    Not those of a query that probably none fits: their definitions would stay for nothing.
    """
    rounds = zip_longest(*(answer for answer in answers if answer.confidence not in WEAK))
    return list({hit.name: hit for each in rounds for hit in each if hit}.values())


def to_reveal(
    answers: Sequence[Answer],
    deferred: Mapping[str, ToolInfo],
    revealed: Collection[str],
    *,
    most: int,
    tokens: int,
) -> list[str]:
    """The names to reveal, best first: at most so many, and so many tokens a need.

    The best hit of every need, and what is selected by name, comes first and is revealed whatever
    it costs. The tokens that are left go to the other hits by their rank. A hit takes no place if
    it is not deferred, is revealed already or cannot be called now.
    """
    leading = leading_names(answers)
    left = tokens * sum(map(_needs, answers))
    chosen: list[str] = []
    for hit in sorted(round_robin(answers), key=lambda hit: hit.name not in leading):
        if hit.name not in deferred or hit.name in revealed or hit.state not in CALLABLE_STATES:
            continue
        price = estimate_tokens(tool_definition(deferred[hit.name]))
        if len(chosen) < most and (hit.name in leading or price <= left):
            chosen.append(hit.name)
            left -= price
    return chosen


def leading_names(answers: Sequence[Answer]) -> set[str]:
    """The best hit of each need, and all that were selected by name."""
    return {hit.name for answer in answers for hit in answer[: _leading_count(answer)]}


def _leading_count(answer: Answer) -> int:
    """How many hits lead the answer.

    Of a task in several parts: the best of the whole, and the best of each part.
    """
    if isinstance(parse_query(answer.query), SelectQuery):
        return len(answer)
    needs = _needs(answer)
    return needs + 1 if needs > 1 else 1


def _needs(answer: Answer) -> int:
    """How many things the query asks for, of those that are searched by themselves."""
    query = parse_query(answer.query)
    parts = len(subqueries(query.text)[:MOST_SUBQUERIES]) if isinstance(query, FreeQuery) else 0
    return max(1, parts)


def not_revealed(name: str, deferred: Iterable[str]) -> CallRefused:
    """The refusal of a tool that waits for a search, with the query that reveals it."""
    near = list_nearest(name, [other for other in deferred if other != name])
    message = (
        f"{name!r} is not loaded: search first."
        f" Call {SEARCH_TOOL_NAME} with the query 'select:{name}',"
        " then call it with the parameters that it has."
        f" Nearest: {near}"
    )
    return CallRefused("not_revealed", "state", message)


def not_a_tool(entry: Entry) -> CallRefused:
    """The refusal of a skill or an agent, with the way to its text."""
    message = (
        f"{entry.name!r} is not a tool but a {entry.kind}: call {SEARCH_TOOL_NAME} with"
        f" `read: {entry.name}` for its text"
    )
    return CallRefused("not_a_tool", "state", message)
