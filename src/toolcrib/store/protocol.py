"""What every store promises: what must last longer than a process.

    Stores              all of one tenant, in files or in a database
      catalog           vectors, use, reveals; here
      decisions, tickets, logins            `trust_protocol`
      sets, results, suspensions            `handle_protocol`
      events                                `event_protocol`
      keys                                  `key_protocol`
      documents, listings (packs, feed)     `source_protocol`

A store is opened for a tenant, and no method takes one: whatever it is asked, it knows nothing of
others. Every store is synchronous, may be shared between threads, and raises `StoreError`. The
contracts are tested in `tests/contracts`, on everything that keeps them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from toolcrib.model import ConversationTokens
    from toolcrib.store.event_protocol import EventStore
    from toolcrib.store.handle_protocol import ResultStore, RevealSetStore, SuspensionStore
    from toolcrib.store.key_protocol import KeyStore
    from toolcrib.store.source_protocol import (
        ChangeFeed,
        DocumentStore,
        ListingStore,
        PackStore,
        TenantsFeed,
    )
    from toolcrib.store.trust_protocol import DecisionStore, LoginStore, TicketStore
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


class Stores(Protocol):
    """All that lasts of one tenant. Each store is opened when it is first asked for.

    Asking raises `StoreError` where it cannot be opened, and `SourceError` where a key cannot be
    read.
    """

    @property
    def folder(self) -> Path:
        """Where this process keeps what belongs to this machine alone: logs, copies."""
        ...

    @property
    def install_key(self) -> bytes:
        """The secret that makes hashes of configurations and seals; never in a database."""
        ...

    @property
    def catalog(self) -> Store:
        """Vectors, use and reveals."""
        ...

    @property
    def decisions(self) -> DecisionStore:
        """What was decided about definitions."""
        ...

    @property
    def tickets(self) -> TicketStore:
        """Calls that wait for approval, or have it."""
        ...

    @property
    def sets(self) -> RevealSetStore:
        """What searches have shown."""
        ...

    @property
    def results(self) -> ResultStore:
        """Long results."""
        ...

    @property
    def suspensions(self) -> SuspensionStore:
        """Programs that wait for a person."""
        ...

    @property
    def events(self) -> EventStore:
        """The log of events. Raises `StoreError` where the settings keep none."""
        ...

    @property
    def has_events(self) -> bool:
        """Whether there may be a log: asking it opens nothing, and makes nothing."""
        ...

    @property
    def logins(self) -> LoginStore:
        """Logins at servers."""
        ...

    @property
    def keys(self) -> KeyStore:
        """The keys of clients."""
        ...

    @property
    def documents(self) -> DocumentStore:
        """What the operator has written."""
        ...

    @property
    def listings(self) -> ListingStore:
        """What servers have listed."""
        ...

    def close(self) -> None:
        """Let go of all that were opened. Closing twice is no error."""
        ...


class SharedStores(Stores, Protocol):
    """The same where several replicas share them."""

    @property
    def packs(self) -> PackStore:
        """What one replica has made for all."""
        ...

    @property
    def feed(self) -> ChangeFeed:
        """What has changed."""
        ...

    @property
    def tenant(self) -> str:
        """Whose they are."""
        ...

    @property
    def tenants_feed(self) -> TenantsFeed:
        """How this process hears of changes, of whatever tenant."""
        ...
