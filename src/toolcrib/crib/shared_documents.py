"""The documents of a shared store, as they are edited: fetched first, sent at the end.

Commands and the dashboard read and write files of this machine. Where the settings name a database,
the files are brought up to date before anybody looks at them, and what has changed is sent at the
end. If that fails, the files are put back: no change is on one machine alone.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from toolcrib.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from toolcrib.settings import Settings
    from toolcrib.store import DocumentName, DocumentStore, StoredDocument

SHARED: tuple[DocumentName, ...] = ("servers.json", "rules.json")


@contextmanager
def edited_documents(settings: Settings) -> Generator[None]:
    """Whoever edits the documents does it in this block. Raises `StoreError`."""
    shared = SharedDocuments()
    shared.fetch(settings)
    yield
    shared.send()


class SharedDocuments:
    """What the shared store had when the edit began. Does nothing without one."""

    def __init__(self) -> None:
        self._settings: Settings | None = None
        self._fetched: dict[DocumentName, StoredDocument | None] = {}

    def fetch(self, settings: Settings) -> None:
        """Bring the files of this machine up to date, once. Raises `StoreError`.

        Where the database is away, what was fetched before can be read.
        """
        if not settings.database or self._settings:
            return
        from toolcrib.wiring import (  # noqa: PLC0415 - for a shared store alone
            file_stores_of,
            replica_stores_of,
        )

        self._settings = settings
        local = file_stores_of(settings).documents
        self._fetched = {name: local.document(name) for name in SHARED}
        with replica_stores_of(settings, os.environ) as stores:
            stores.catch_up()
            self._fetched = {name: stores.documents.document(name) for name in SHARED}

    def leave(self) -> None:
        """Send nothing: this process lasts, and follows the shared store by itself."""
        self._fetched = {}

    def send(self) -> None:
        """Send what has changed since it was fetched. Raises `StoreError`."""
        if not self._settings or not self._fetched:
            return
        from toolcrib.wiring import file_stores_of, replica_stores_of  # noqa: PLC0415

        local = file_stores_of(self._settings).documents
        changed = [*self._changed(local)]
        if not changed:
            return
        try:
            with replica_stores_of(self._settings, os.environ) as stores:
                for each in changed:
                    over = each.before.version if each.before else None
                    stores.documents.put_document(each.name, each.now.content, over)
        except StoreError as error:
            for each in changed:
                local.put_document(each.name, _content(each.before), each.now.version)
            raise StoreError(f"nothing was changed: {error}") from error

    def _changed(self, local: DocumentStore) -> Iterator[_ChangedDocument]:
        for name, before in self._fetched.items():
            now = local.document(name)
            if now and now.content != _content(before):
                yield _ChangedDocument(name, before, now)


class _ChangedDocument(NamedTuple):
    """A document as the shared store has it, and as it was edited."""

    name: DocumentName
    before: StoredDocument | None
    now: StoredDocument


def _content(document: StoredDocument | None) -> bytes:
    return document.content if document else b""
