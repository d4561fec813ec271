"""What sources are made of, and what several replicas share of them.

Documents are written by the operator, listings come from servers. Packs are made of both, and a
feed tells a replica what it has to fetch again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from toolcrib.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

DocumentName: TypeAlias = Literal["servers.json", "rules.json", "settings.toml"]


class DocumentChanged(StoreError):
    """Somebody else has written a document since it was read: read it again, and decide anew."""


class StoredDocument(NamedTuple):
    """A text of the operator. `version` is another one, by `==`, for another content."""

    content: bytes
    version: str


class DocumentStore(Protocol):
    """The texts that an operator writes. What they mean is for their readers to say.

    Everything here raises `StoreError` when the place behind it cannot be read or written.
    """

    def document(self, name: DocumentName) -> StoredDocument | None:
        """The document as it is now; None where there is none."""
        ...

    def put_document(self, name: DocumentName, content: bytes, over: str | None) -> StoredDocument:
        """Write it in place of the version `over`; None: where there was none. In one step.

        Raises `DocumentChanged` if what is there is another version. Of any number who write over
        the same version, in whatever process, one succeeds.
        """
        ...


class ListingKey(NamedTuple):
    """A server as it is configured: by its id and the hash of its configuration."""

    server: str
    config_hash: str


class ListingHead(NamedTuple):
    """What is known of a listing without reading it. `version` is another one for another list.

    `fetched` is when it was last listed, since the epoch; `start_s` how long its start took.
    """

    version: str
    fetched: float
    start_s: float


class StoredListing(NamedTuple):
    """What a server listed: its head, and JSON that says it all."""

    head: ListingHead
    body: bytes


class ListingStore(Protocol):
    """The last good listing of each server, and how its last start failed.

    Everything here raises `StoreError` when the place behind it cannot be read or written.
    """

    def listing(self, key: ListingKey) -> StoredListing | None:
        """The listing of a server as it is configured; None if it was never listed.

        One that is damaged raises `StoreError` once, and counts as never listed from then on.
        """
        ...

    def listing_head(self, key: ListingKey) -> ListingHead | None:
        """The same without its body; it is asked for thousands of servers. Never raises.

        None also where it cannot be read.
        """
        ...

    def put_listing(self, key: ListingKey, listing: StoredListing) -> None:
        """Keep it in place of the last, in one step. When it raises, the last one stays."""
        ...

    def forget_listing(self, key: ListingKey) -> None:
        """Remove the listing and the failure of a server; nothing if there are none."""
        ...

    def failure(self, key: ListingKey) -> bytes | None:
        """How the last start failed, as it was written; None if it went well or nobody tried."""
        ...

    def put_failure(self, key: ListingKey, failure: bytes | None) -> None:
        """Note how a start went; None: it went well."""
        ...


class PackHead(NamedTuple):
    """What is known of a pack without reading it.

    It has all that was committed until its `generation`. `age_s` is how long ago it was stored, by
    the clock of the store. The `seal` covers all but that, and is another one for another pack.
    """

    generation: int
    bytes: int
    age_s: float
    parts: int
    digest: bytes
    seal: bytes


class PackStore(Protocol):
    """Packs that one replica makes and all load. Only a shared store has them.

    On one machine a pack is a file that is mapped, and needs no copy. A few names are kept, those
    that were stored last. Everything here raises `StoreError` when the place behind it cannot be
    read or written.
    """

    @property
    def key(self) -> bytes:
        """What replicas seal the files with that they hand to each other; the same for all."""
        ...

    def pack_head(self, name: str) -> PackHead | None:
        """The head of the pack of this name; None if nobody has made it, or not with our key."""
        ...

    def fetch_pack(self, name: str, head: PackHead, write: Callable[[bytes], object]) -> None:
        """Hand the bytes of this very pack to `write`, part by part, and check them at the end.

        Nothing of them may be used before this returns. Raises `PackDamaged` for bytes that are not
        those that were stored, and removes that pack; `StoreError` also if it was replaced.
        """
        ...

    def put_pack(self, name: str, generation: int, parts: Iterable[bytes]) -> bool:
        """Keep it in place of one of an earlier generation, in one step; whether that was done.

        It is not if there is one of this or a later generation, or another replica is storing one.
        """
        ...


class Changes(NamedTuple):
    """What may be another since a generation, and the generation as of which that is true.

    `disabled`: the tenant is switched off now.
    """

    generation: int
    documents: tuple[DocumentName, ...] = ()
    listings: tuple[ListingKey, ...] = ()
    keys: bool = False
    decisions: bool = False
    disabled: bool = False


class ChangeFeed(Protocol):
    """What has changed of one tenant. Only a shared store has one.

    A process alone sees its files change. Everything here raises `StoreError` when the place
    behind it cannot be read.
    """

    def changes(self, since: int) -> Changes:
        """All that has changed after that generation; since 0, all there is.

        What was removed is among them, and is then not found. Nothing is left out: generations are
        in the order of the commits, so what is committed later has a later one.
        """
        ...

    def listings(self, keys: Sequence[ListingKey]) -> Iterator[tuple[ListingKey, StoredListing]]:
        """The listings of these servers as they are now, in any order, one in memory at a time.

        One that was removed is not among them.
        """
        ...


class TenantsFeed(Protocol):
    """How a process hears that something of its tenants changed, however many it follows."""

    def wait(self, timeout_s: float) -> bool:
        """Whether something was heard since the last `wait`, before the time is over.

        It may be True for no reason, and False after a change: whoever follows asks for
        `generations` in either case. May be called by one thread at a time.
        """
        ...

    def generations(self, tenants: Collection[str]) -> Mapping[str, int]:
        """The generation of each of these; one that is not there is absent. Raises `StoreError`."""
        ...

    def wake(self) -> None:
        """Let a `wait` in another thread return."""
        ...
