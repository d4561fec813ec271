"""The keys of a shared store that were shown to this replica lately."""

from __future__ import annotations

from collections import OrderedDict
from threading import RLock
from typing import TYPE_CHECKING

from toolcrib.settings import DEFAULT_TENANT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from toolcrib.store.key_protocol import KeyStore
    from toolcrib.store.keys import KeyHash, StoredKey

MOST_RECENT_KEYS = 10_000


class RecentKeys:
    """The keys that were shown lately, as the shared store had them when `refresh` last asked.

    Keeps `KeyStore`. Requests are checked by what is here, and `refresh` is called every second or
    so: a key that was removed works no longer then. It also brings the tenant's other keys here, so
    that whoever comes over from a replica that is gone is known. While the database is away the
    keys that are here go on working, each until it expires; no other does.
    """

    def __init__(
        self, remote: KeyStore, most: int = MOST_RECENT_KEYS, *, tenant: str = DEFAULT_TENANT
    ) -> None:
        self._remote = remote
        self._tenant = tenant
        self._most = most
        self._turn = RLock()
        self._found: OrderedDict[str, StoredKey] = OrderedDict()
        self._seen = -1
        self._count = 0

    def refresh(self) -> None:
        """Ask again for all keys, if any has changed. Raises `StoreError`."""
        number = self._remote.version()
        if number == self._seen:
            return
        listed = {key.id: key for key in self._remote.all()}
        with self._turn:
            self._found = OrderedDict((id, listed[id]) for id in self._found if id in listed)
            for id in [id for id in listed if id not in self._found][
                : self._most - len(self._found)
            ]:
                self._found[id] = listed[id]
            self._seen = number
            self._count += 1

    def is_at_hand(self, id: str) -> bool:
        """As the protocol says."""
        return id in self._found

    def version(self) -> int:
        """As the protocol says, as of the last `refresh`."""
        return self._count

    def find(self, id: str) -> StoredKey | None:
        """As the protocol says."""
        with self._turn:
            if known := self._found.get(id):
                self._found.move_to_end(id)
                return known
        found = self._remote.find(id)
        if found and found.tenant == self._tenant:  # `refresh` hears of no other
            with self._turn:
                self._found[id] = found
                while len(self._found) > self._most:
                    self._found.popitem(last=False)
        return found

    def all(self) -> Sequence[StoredKey]:
        """As the protocol says."""
        return self._remote.all()

    def without_id(self) -> Sequence[StoredKey]:
        """As the protocol says."""
        return self._remote.without_id()

    def add(self, key: StoredKey) -> bool:
        """As the protocol says."""
        return self._remote.add(key)

    def remove(self, name: str) -> bool:
        """As the protocol says."""
        return self._remote.remove(name)

    def rotate(
        self, name: str, secret: KeyHash, former_until: float, expires_at: float | None
    ) -> StoredKey | None:
        """As the protocol says."""
        return self._remote.rotate(name, secret, former_until, expires_at)

    def replace(self, keys: Iterable[StoredKey]) -> None:
        """As the protocol says."""
        self._remote.replace(keys)

    def note_used(self, at: Mapping[str, float]) -> None:
        """As the protocol says."""
        self._remote.note_used(at)

    def close(self) -> None:
        """As the protocol says."""
        self._remote.close()
