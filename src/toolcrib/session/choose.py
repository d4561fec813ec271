"""Which hits of a search are revealed: a bound on what one search can add to every request."""

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest

from toolcrib.model import Answer, Hit, ToolInfo
from toolcrib.search.parse import Select, parse
from toolcrib.session.accounting import definition
from toolcrib.text.tokens import estimate_tokens

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
    """The names to reveal, best first: at most so many, and so many tokens a query.

    The best hit of a query, and what it selects by name, is revealed whatever it costs. What is
    not deferred, is revealed already or cannot be called now needs no place.
    """
    sure = _sure(answers)
    left = tokens * len(answers)
    chosen: list[str] = []
    for hit in in_turn(answers):
        if hit.name not in deferred or hit.name in revealed or hit.state not in CALLABLE:
            continue
        price = estimate_tokens(definition(deferred[hit.name]))
        if len(chosen) < most and (hit.name in sure or price <= left):
            chosen.append(hit.name)
            left -= price
    return chosen


def _sure(answers: Sequence[Answer]) -> set[str]:
    """The best hit of each answer, and all that were asked for by name."""
    return {
        hit.name
        for answer in answers
        for place, hit in enumerate(answer)
        if not place or isinstance(parse(answer.query), Select)
    }
