"""What a conversation has revealed, in the order in which it was, and how long it is."""

from collections.abc import Collection, Iterable
from typing import Protocol

from toolcrib.model import ConversationTokens


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
