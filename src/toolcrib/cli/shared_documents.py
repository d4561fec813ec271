"""The documents of a shared store, as commands edit them: fetched first, sent at the end.

Commands read and write files of this machine. Where the settings name a database, the files are
brought up to date before the first command looks at them, and what a command has changed is sent
when it ends. If that fails, the files are put back: no change is on one machine alone.
"""

import os
from typing import TYPE_CHECKING, NamedTuple

from toolcrib.cli.screen import warn
from toolcrib.errors import StoreAway, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolcrib.settings import Settings
    from toolcrib.store import DocumentName, DocumentStore, StoredDocument

SHARED: tuple["DocumentName", ...] = ("servers.json", "rules.json")


class SharedDocuments:
    """What the shared store had when the command began. Does nothing without one."""

    def __init__(self) -> None:
        self._settings: Settings | None = None
        self._fetched: dict[DocumentName, StoredDocument | None] = {}

    def fetch(self, settings: "Settings") -> None:
        """Bring the files of this machine up to date, once. Raises `StoreError`.

        A database that is away is a warning: what was fetched before can be read.
        """
        if not settings.database or self._settings:
            return
        from toolcrib.wiring import replica_stores_of  # noqa: PLC0415 - for a shared store alone

        self._settings = settings
        try:
            with replica_stores_of(settings, os.environ) as stores:
                stores.catch_up()
                self._fetched = {name: stores.documents.document(name) for name in SHARED}
        except StoreAway as error:
            warn(f"{error}; this is what was known before")

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

    def _changed(self, local: "DocumentStore") -> "Iterator[_ChangedDocument]":
        for name, before in self._fetched.items():
            now = local.document(name)
            if now and now.content != _content(before):
                yield _ChangedDocument(name, before, now)


class _ChangedDocument(NamedTuple):
    """A document as the shared store has it, and as the command left it."""

    name: "DocumentName"
    before: "StoredDocument | None"
    now: "StoredDocument"


def _content(document: "StoredDocument | None") -> bytes:
    return document.content if document else b""
