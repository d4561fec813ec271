"""What a store of keys promises."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from toolcrib.store.keys import KeyHash, StoredKey


class KeyStore(Protocol):
    """Where the keys of clients last: what each is good for, and hashes of its secrets.

    No secret is ever handed to it. Whoever holds a key is known by it alone, so `find` looks among
    the keys of every tenant; all else is about the keys of one. Safe to share between threads.
    Everything here raises `StoreError` when the place behind it cannot be read or written: that is
    never the same as no keys.
    """

    def version(self) -> int:
        """A number that rises whenever a key is added, removed or rotated, whoever does it."""
        ...

    def is_at_hand(self, id: str) -> bool:
        """Whether `find` answers at once for this id, and asks nobody over a network."""
        ...

    def find(self, id: str) -> StoredKey | None:
        """The key of this id, expired or not; None if there is none. By an index."""
        ...

    def all(self) -> Sequence[StoredKey]:
        """Every key, by name."""
        ...

    def without_id(self) -> Sequence[StoredKey]:
        """The keys that may be shown without their id: of before there were ids, so they are few.

        A key that was rotated since is among them as long as its former secret is kept.
        """
        ...

    def add(self, key: StoredKey) -> bool:
        """Keep it. False: there is one of its name or id already, and that one stays."""
        ...

    def remove(self, name: str) -> bool:
        """Forget it. False: there is none of this name."""
        ...

    def rotate(
        self, name: str, secret: KeyHash, former_until: float, expires_at: float | None
    ) -> StoredKey | None:
        """Give it another secret and this expiry; the one it had works until `former_until`.

        0: that one is forgotten at once, as one before it always is. Returns the key as it is now;
        None: there is none of this name.
        """
        ...

    def replace(self, keys: Iterable[StoredKey]) -> None:
        """Keep these in place of all that there are, in one step."""
        ...

    def note_used(self, at: Mapping[str, float]) -> None:
        """When keys were last used, by id. The latest counts; an unknown id is passed over."""
        ...

    def close(self) -> None:
        """Let go of the place. Closing twice is no error; whatever comes after it raises."""
        ...
