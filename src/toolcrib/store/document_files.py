"""The documents of an operator, each in its file, where they may edit them by hand too."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from toolcrib.errors import StoreError
from toolcrib.store.source_protocol import DocumentChanged, DocumentName, StoredDocument
from toolcrib.system import file_locked, read_plain_file, write_private_file

MOST_BYTES = 16 * 1024 * 1024


class DocumentFiles:
    """Files by the names of their documents. A link is followed to where a file really is."""

    def __init__(self, files: Mapping[DocumentName, Path]) -> None:
        self._files = files

    def document(self, name: DocumentName) -> StoredDocument | None:
        """As the protocol says."""
        path = self._files[name]
        try:
            content = read_plain_file(path, MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = f"cannot be read: {error.strerror}; change its permissions"
            raise StoreError(f"{path}: {reason}") from error
        return _document(content)

    def put_document(self, name: DocumentName, content: bytes, over: str | None) -> StoredDocument:
        """As the protocol says."""
        path = self._files[name]
        place = path.resolve()
        try:
            with file_locked(place):
                there = self.document(name)
                if (there and there.version) != over:
                    raise DocumentChanged(f"{path}: somebody else has just changed it; look again")
                write_private_file(place, content)
        except OSError as error:
            reason = f"cannot be written: {error.strerror}; change its permissions"
            raise StoreError(f"{path}: {reason}") from error
        return _document(content)


def _document(content: bytes) -> StoredDocument:
    return StoredDocument(content, hashlib.sha256(content).hexdigest())
