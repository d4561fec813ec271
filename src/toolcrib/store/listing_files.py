"""The last good listing of each server, on disk, so that no server has to be started.

A file belongs to one configuration of a server. One that is damaged or too large is set aside, and
costs no other server. It begins with its head: a checksum of the rest, the version of the listing,
when the server was last listed, and how long its start took. So whether a listing is another one
is known without reading it.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from toolcrib.errors import StoreError
from toolcrib.store.source_protocol import ListingHead, ListingKey, StoredListing
from toolcrib.system import (
    make_private_folder,
    read_private_file,
    sweep_temporary_files,
    sync_files,
    write_private_copy,
    write_private_file,
)

MOST_BYTES = 80 * 1024 * 1024
MOST_OF_A_FAILURE = 64 * 1024
FAILURE = ".failure"
OUTDATED_AFTER_S = 90 * 24 * 60 * 60.0
"""How long the listing of a configuration stays that a server does not have any more."""
LONGEST_HEAD = 256
_HEAD = re.compile(
    rb'\{"checksum":"(?P<checksum>[0-9a-f]{64})",'
    rb'(?:"version":"(?P<version>[0-9a-f]{64})",'
    rb'"fetched":(?P<fetched>[0-9][0-9.e+-]{0,30}),"start_s":(?P<start_s>[0-9][0-9.e+-]{0,30}),)?'
    rb'"entry":'
)
_END = b"}\n"


class ListingFiles:
    """One folder. Several processes may use it at once: each file is replaced in one step.

    `are_copies`: what is written here can be had elsewhere. Then nobody waits for the disk, and a
    machine that loses its power may lose what was written since `sync`.
    """

    def __init__(self, folder: Path, *, are_copies: bool = False) -> None:
        self._folder = folder
        self._put = write_private_copy if are_copies else write_private_file
        self._swept: set[Path] = set()
        sweep_temporary_files(folder)

    def path(self, key: ListingKey) -> Path:
        """The file of a server. Its name is a hash, so that no server name leads elsewhere."""
        return Path(self._name(key))

    def listing(self, key: ListingKey) -> StoredListing | None:
        """As the protocol says."""
        path = self.path(key)
        try:
            return _parsed(read_private_file(path, MOST_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(self._set_aside(path, key.server, error)) from error

    def listing_head(self, key: ListingKey) -> ListingHead | None:
        """As the protocol says."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            file = os.open(self._name(key), flags)
        except OSError:
            return None
        try:
            return _head(os.read(file, LONGEST_HEAD))
        except OSError:
            return None
        finally:
            os.close(file)

    def put_listing(self, key: ListingKey, listing: StoredListing) -> None:
        """As the protocol says."""
        content, path = _written(listing), self.path(key)
        if len(content) > MOST_BYTES:
            raise StoreError(f"MCP server {key.server!r} lists more than {MOST_BYTES} bytes")
        self._write(path, content)
        self._remove_outdated(path)

    def forget_listing(self, key: ListingKey) -> None:
        """As the protocol says."""
        path = self.path(key)
        for each in (path, path.with_suffix(FAILURE)):
            with suppress(OSError):
                each.unlink()

    def sync(self, keys: Iterable[ListingKey]) -> None:
        """Have these on the disk, as they are now. Raises `StoreError`."""
        try:
            sync_files(self._folder, map(self.path, keys))
        except OSError as error:
            raise self._unwritable(error) from error

    def failure(self, key: ListingKey) -> bytes | None:
        """As the protocol says. One that cannot be read counts as none."""
        path = self._name(key).removesuffix(".json") + FAILURE
        if not os.path.lexists(path):  # so it is for nearly all
            return None
        with suppress(OSError):
            return read_private_file(Path(path), MOST_OF_A_FAILURE)
        return None

    def put_failure(self, key: ListingKey, failure: bytes | None) -> None:
        """As the protocol says."""
        path = self.path(key).with_suffix(FAILURE)
        if failure is not None:
            self._write(path, failure)
            return
        with suppress(OSError):
            path.unlink(missing_ok=True)

    def _name(self, key: ListingKey) -> str:
        return os.path.join(  # noqa: PTH118 - for thousands of servers a path costs too much
            self._folder, f"{_hashed(key.server)}-{_hashed(key.config_hash)}.json"
        )

    def _write(self, path: Path, content: bytes) -> None:
        try:
            make_private_folder(self._folder)
            self._put(path, content)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StoreError:
        reason = f"cannot be written ({error.strerror}); check space and permissions"
        return StoreError(f"{self._folder}: {reason}")

    def _remove_outdated(self, path: Path) -> None:
        """Remove the files of configurations that the same server had long ago; once is enough."""
        if path in self._swept:
            return
        self._swept.add(path)
        server = path.name.partition("-")[0]
        for other in self._folder.glob(f"{server}*"):
            with suppress(OSError):
                if other != path and time.time() - other.stat().st_mtime > OUTDATED_AFTER_S:
                    other.unlink()

    def _set_aside(self, path: Path, server: str, error: Exception) -> str:
        aside = path.with_suffix(".bad")
        with suppress(OSError):
            path.replace(aside)
        reason = error.strerror if isinstance(error, OSError) else "is damaged"
        return (
            f"what was known of MCP server {server!r} cannot be used ({reason}), and is now "
            f"{aside}; run `toolcrib refresh {server}`"
        )


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _written(listing: StoredListing) -> bytes:
    version, *times = listing.head
    form = b'"version":"%s","fetched":%s,"start_s":%s,"entry":%s' + _END
    numbers = (json.dumps(float(each)).encode() for each in times)
    rest = form % (version.encode(), *numbers, listing.body)
    return b'{"checksum":"%s",%s' % (hashlib.sha256(rest).hexdigest().encode(), rest)


def _head(content: bytes) -> ListingHead | None:
    if not (found := _HEAD.match(content)):
        return None
    times = (float(found[name] or 0) for name in ("fetched", "start_s"))
    return ListingHead((found["version"] or found["checksum"]).decode(), *times)


def _parsed(content: bytes) -> StoredListing:
    """Raises `ValueError` for a file that is not as we wrote it."""
    found, head = _HEAD.match(content), _head(content)
    if not found or not head or not content.endswith(_END):
        raise ValueError("it does not begin or end like a file of ours")
    raw = content[found.end() : -len(_END)]
    sealed = content[found.end("checksum") + len('",') :] if found["version"] else raw
    if hashlib.sha256(sealed).hexdigest().encode() != found["checksum"]:
        raise ValueError("the checksum does not fit")
    return StoredListing(head, raw)
