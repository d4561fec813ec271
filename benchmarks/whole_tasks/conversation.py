"""The requests of one conversation, and their tokens.

A request has the tools and all that was said so far. What the model writes counts once as it is
written, and again in each later request.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from toolcrib.text.tokens import Tokenizer

CACHED_PRICE = 0.1
"""What providers take for a token that they have in their cache, beside one that they have not."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a conversation cost.

    requests   how many there were
    tokens     all of theirs, and those that the model wrote
    cached     the same, where the beginning that a request shares with the one before costs a tenth
    """

    requests: int = 0
    tokens: int = 0
    cached: float = 0.0

    def plus(self, new: int, *, again: int = 0, requests: int = 0) -> "Spent":
        """With so many new tokens, and so many that were at the beginning of the last request."""
        return Spent(
            self.requests + requests,
            self.tokens + new + again,
            self.cached + new + CACHED_PRICE * again,
        )


@dataclass(slots=True)
class Conversation:
    """What was said, and what it cost by now. `shown` makes a text the one that is counted."""

    shown: Callable[[str], str]
    said: list[str] = field(default_factory=list[str])
    spent: Spent = Spent()
    _last: Sequence[str] = ()

    def hear(self, texts: Iterable[str]) -> None:
        """The user, or tools, say something."""
        self.said += texts

    def request(self, tools: Sequence[str]) -> None:
        """The model is asked, with these texts about tools before all that was said."""
        parts = [*tools, *self.said]
        same = _common(parts, self._last)
        self.spent = self.spent.plus(
            self._count(parts[same:]), again=self._count(parts[:same]), requests=1
        )
        self._last = parts

    def reply(self, texts: Sequence[str]) -> None:
        """The model writes something."""
        self.spent = self.spent.plus(self._count(texts))
        self.said += texts

    def _count(self, texts: Iterable[str]) -> int:
        count = Tokenizer().count
        return sum(count(self.shown(text)) for text in texts)


def _common(parts: Sequence[str], others: Sequence[str]) -> int:
    """How many both begin with."""
    pairs = zip(parts, others, strict=False)
    return next(
        (n for n, (one, other) in enumerate(pairs) if one != other), min(len(parts), len(others))
    )
