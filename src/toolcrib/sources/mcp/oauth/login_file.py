"""The stored login of one server: its OAuth tokens, and the client they were given to.

One private file a server, named by a hash, for one address. Another login replaces it.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from toolcrib.errors import SourceError
from toolcrib.model import Json, JsonObject
from toolcrib.system import file_locked, read_private_file, write_private_file

MOST_BYTES = 256 * 1024
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Login:
    """What the authorization server gave, as it gave it. `expires_at` is since the epoch.

    `authority` is what the authorization server says of itself, `resource` what the server says of
    who guards it: a refresh goes where the login went.
    """

    url: str
    tokens: JsonObject = field(repr=False)
    client: JsonObject = field(repr=False)
    expires_at: float | None = None
    authority: JsonObject = field(default_factory=dict[str, Json], repr=False)
    resource: JsonObject = field(default_factory=dict[str, Json], repr=False)


class LoginFile:
    """The file of one server."""

    def __init__(self, folder: Path, server: str) -> None:
        self._folder = folder
        self._server = server

    @cached_property
    def path(self) -> Path:
        """Named by a hash, so that no server name leads elsewhere."""
        return self._folder / f"{hashlib.sha256(self._server.encode()).hexdigest()}.json"

    def read(self, url: str) -> Login | None:
        """The login for this very address; None where there is none, or nothing that can be used.

        An address that has changed gets no token that was given for the old one.
        """
        try:
            content: Any = json.loads(read_private_file(self.path, MOST_BYTES))
            if content.pop("format") != FORMAT or content.pop("server") != self._server:
                return None
            if not all(isinstance(content[key], dict) for key in ("tokens", "client")):
                return None
            login = Login(**content)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None
        return login if login.url == url else None

    def write(self, login: Login, *, renews: bool = False) -> None:
        """Keep a login. Raises `SourceError`, and then the old one stays.

        One that only `renews` another is not stored if that was removed meanwhile.
        """
        content = {"format": FORMAT, "server": self._server} | asdict(login)
        try:
            with file_locked(self.path):
                if not renews or self.path.exists():
                    write_private_file(self.path, json.dumps(content).encode())
        except OSError as error:
            message = (
                f"{self.path.parent}: cannot be written ({error.strerror}); change its permissions"
            )
            raise SourceError(message) from error

    def forget(self) -> bool:
        """Remove the login; whether there was one. Raises `SourceError`."""
        if not self.path.parent.exists():
            return False
        try:
            with file_locked(self.path):
                self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise SourceError(f"{self.path}: cannot be removed: {error.strerror}") from error
        return True

    @property
    def written(self) -> float:
        """When it was last written, since the epoch; 0 if it is not there."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return 0.0
