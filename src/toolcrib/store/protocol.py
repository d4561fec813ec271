"""What every store promises: what must last longer than a process."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toolcrib.model import ConversationTokens
from toolcrib.store.uses import UseRecord


class VectorCache(Protocol):
    """Where vectors last: by the model that made them and the hash of what they say.

    Everything here raises `StoreError` when the place behind it cannot be read or written.
    """

    def cached_vectors(
        self, model: str, hashes: Sequence[bytes]
    ) -> dict[bytes, NDArray[np.float32]]:
        """The vectors kept under these hashes by this model; a hash without one is absent."""
        ...

    def present_vectors(self, model: str, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of the hashes under which this model has kept a vector. No vector is read."""
        ...

    def keep_vectors(self, model: str, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """All of them, in place of what was kept under the same hashes; none when it raises."""
        ...


class UseStore(Protocol):
    """Where use lasts: counts of pairs, and lessons; see `store.uses` for what they are.

    Everything here raises `StoreError` when the place behind it cannot be read or written.
    """

    def used(self) -> UseRecord:
        """All that is kept."""
        ...

    def keep_used(self, more: UseRecord, *, half_life_days: float) -> None:
        """Add pairs to the counts and lessons to their likes, all of them or none.

        Bounded: of too many the rarest and the lightest go.
        """
        ...

    def forget_used(self, tool: str = "") -> int:
        """Erase what is kept about a tool, or about all of them. How many things that were."""
        ...


class RevealStore(Protocol):
    """Where the reveals of conversations last: by caller and session, so that no two share any.

    Of 4,096 sessions; beyond that the one that was used longest ago is forgotten.
    Everything here raises `StoreError` when the place behind it cannot be read or written.
    """

    def reveals(self, caller: str, session: str) -> tuple[str, ...]:
        """The names that a session has revealed, in the order of their first reveal."""
        ...

    def add_reveals(self, caller: str, session: str, names: Sequence[str]) -> tuple[str, ...]:
        """Put names behind the others, each once; returns those that are new."""
        ...

    def keep_reveals(self, caller: str, session: str, names: Collection[str]) -> None:
        """Forget all names but these; those that stay keep their order."""
        ...

    def conversation_tokens(self, caller: str, session: str) -> ConversationTokens:
        """How long a session's conversation is; of one that is not known, nothing."""
        ...

    def set_conversation_tokens(
        self, caller: str, session: str, tokens: ConversationTokens
    ) -> None:
        """Keep how long a session's conversation is."""
        ...


class Store(VectorCache, UseStore, RevealStore, Protocol):
    """Where things last. Safe to share between threads; whatever is kept is kept whole."""

    def close(self) -> None:
        """Let go of the place. Closing twice is no error; whatever comes after it raises."""
        ...
