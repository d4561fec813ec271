"""Which hits of a search are revealed: a bound on what one search can add to every request."""

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest

from toolcrib.model import Answer, Hit, ToolInfo
from toolcrib.search.parse import Free, Select, parse
from toolcrib.search.rewrite import MOST_INTENTS, intents
from toolcrib.text.tokens import definition, estimate_tokens

CALLABLE = frozenset({"ready", "asleep"})


def in_turn(answers: Sequence[Answer]) -> list[Hit]:
    """All hits, each once: the best of every query, then the second best of each, and on."""
    rounds = zip_longest(*answers)
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
    it costs; what the tokens leave goes to the others by their rank. What is not deferred, is
    revealed already or cannot be called now needs no place.
    """
    sure = _sure(answers)
    left = tokens * sum(map(_needs, answers))
    chosen: list[str] = []
    for hit in sorted(in_turn(answers), key=lambda hit: hit.name not in sure):
        if hit.name not in deferred or hit.name in revealed or hit.state not in CALLABLE:
            continue
        price = estimate_tokens(definition(deferred[hit.name]))
        if len(chosen) < most and (hit.name in sure or price <= left):
            chosen.append(hit.name)
            left -= price
    return chosen


def _sure(answers: Sequence[Answer]) -> set[str]:
    """The best hit of each need, and all that were asked for by name."""
    return {hit.name for answer in answers for hit in answer[: _firsts(answer)]}


def _firsts(answer: Answer) -> int:
    """How many hits lead the answer.

    Of a task in several parts the best of the whole and of each part do, which take turns.
    """
    if isinstance(parse(answer.query), Select):
        return len(answer)
    needs = _needs(answer)
    return needs + 1 if needs > 1 else 1


def _needs(answer: Answer) -> int:
    """How many things the query asks for, of those that are searched by themselves."""
    asked = parse(answer.query)
    several = len(intents(asked.text)[:MOST_INTENTS]) if isinstance(asked, Free) else 0
    return max(1, several)
