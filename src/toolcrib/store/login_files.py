"""The logins at servers: their OAuth tokens, and the client that those were given to.

One private file a server, named by a hash, for one address. Another login replaces it.
"""

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from toolcrib.errors import StoreError
from toolcrib.store.trust_protocol import Login
from toolcrib.system import FileLock, file_locked, read_private_file, write_private_file

MOST_BYTES = 256 * 1024
FORMAT = 1
RENEW_S = 30.0


class LoginFiles:
    """One folder, for all threads of a process and any number of processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, server: str) -> Path:
        """The file of a server: named by a hash, so that no server name leads elsewhere."""
        return self._folder / f"{hashlib.sha256(server.encode()).hexdigest()}.json"

    def read(self, server: str, url: str) -> Login | None:
        """As the protocol says. A file that cannot be read is nothing that can be used."""
        try:
            content: Any = json.loads(read_private_file(self.path(server), MOST_BYTES))
            if content.pop("format") != FORMAT or content.pop("server") != server:
                return None
            if not all(isinstance(content[key], dict) for key in ("tokens", "client")):
                return None
            login = Login(**content)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None
        return login if login.url == url else None

    def write(self, server: str, login: Login, *, renews: bool = False) -> None:
        """As the protocol says."""
        path = self.path(server)
        content = {"format": FORMAT, "server": server} | asdict(login)
        try:
            with file_locked(path):
                if not renews or path.exists():
                    write_private_file(path, json.dumps(content).encode())
        except OSError as error:
            message = (
                f"{self._folder}: cannot be written ({error.strerror}); change its permissions"
            )
            raise StoreError(message) from error

    def forget(self, server: str) -> bool:
        """As the protocol says."""
        if not self._folder.exists():
            return False
        path = self.path(server)
        try:
            with file_locked(path):
                path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(f"{path}: cannot be removed: {error.strerror}") from error
        return True

    def written(self, server: str) -> float:
        """As the protocol says."""
        try:
            return self.path(server).stat().st_mtime
        except OSError:
            return 0.0

    @contextmanager
    def renewing(self, server: str) -> Generator[None]:
        """As the protocol says. The lock is beside the file's own: in the block it is written."""
        path = self.path(server)
        try:
            lock = FileLock(path.with_suffix(".renewing"), RENEW_S)
        except OSError as error:
            raise StoreError(f"{path}: cannot be locked: {error.strerror}") from error
        try:
            yield
        finally:
            lock.release()
