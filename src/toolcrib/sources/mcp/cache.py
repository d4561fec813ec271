"""MCPToolsCache: what is known of each server, one JSON file each, so that none has to be started.

A file that is damaged, too large or of another configuration counts as none. Damaged ones are set
aside for whoever wants to know why; that is one warning, and costs no other server.
"""

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from toolcrib.errors import SourceError
from toolcrib.model import JsonObject
from toolcrib.sources.mcp.known import KnownServer, Listing, ServerFacts
from toolcrib.sources.private_file import make_folder, read_bytes, sweep, write_bytes

MOST_BYTES = 16 * 1024 * 1024
MOST_OF_A_FAILURE = 64 * 1024
_FILE = re.compile(
    rb'\{"checksum":"(?P<checksum>[0-9a-f]{64})","entry":(?P<entry>.*)\}\n', re.DOTALL
)


class Found(NamedTuple):
    """What the cache has of a server, if anything, and what was wrong with what it had."""

    known: KnownServer | None
    problem: str = ""


class Failure(NamedTuple):
    """How a start failed: `code` for programs, `message` for people, `at` since the epoch."""

    code: str
    message: str
    at: float


class MCPToolsCache:
    """One folder. Several processes may use it at once: each file is replaced in one step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        sweep(folder)

    def path(self, server: str) -> Path:
        """The file of a server: a name that nothing in the server's own name can bend."""
        return self._folder / f"{hashlib.sha256(server.encode()).hexdigest()}.json"

    def read(self, server: str, config_hash: str) -> Found:
        """What is known of the server as it is configured now, whatever a file may hold."""
        path = self.path(server)
        try:
            known = _parsed(read_bytes(path, MOST_BYTES))
        except FileNotFoundError:
            return Found(None)
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            return Found(None, self._set_aside(path, server, error))
        current = known.server == server and known.config_hash == config_hash
        return Found(known if current else None)

    def write(self, known: KnownServer) -> None:
        """Remember a server. Raises `SourceError`, and then what was remembered before stays."""
        content = _written(known)
        if len(content) > MOST_BYTES:
            raise SourceError(f"MCP server {known.server!r} lists more than {MOST_BYTES} bytes")
        try:
            make_folder(self._folder)
            write_bytes(self.path(known.server), content)
        except OSError as error:
            message = f"{self._folder}: cannot be written ({error.strerror}); free space, or rights"
            raise SourceError(message) from error

    def forget(self, server: str) -> None:
        """Let go of what is known of a server that is configured no more."""
        for path in (self.path(server), self._failure(server)):
            with suppress(OSError):
                path.unlink()

    def read_failure(self, server: str) -> Failure | None:
        """How the last start of the server failed; None if it went well, or nobody tried."""
        try:
            return Failure(**json.loads(read_bytes(self._failure(server), MOST_OF_A_FAILURE)))
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def write_failure(self, server: str, failure: Failure | None) -> None:
        """Remember how a start went. That it cannot be written is no failure of its own."""
        with suppress(OSError):
            if failure is None:
                self._failure(server).unlink(missing_ok=True)
            else:
                make_folder(self._folder)
                write_bytes(self._failure(server), json.dumps(failure._asdict()).encode())

    def _failure(self, server: str) -> Path:
        return self.path(server).with_suffix(".failure")

    def _set_aside(self, path: Path, server: str, error: Exception) -> str:
        aside = path.with_suffix(".bad")
        with suppress(OSError):
            path.replace(aside)
        reason = error.strerror if isinstance(error, OSError) else "is damaged"
        return (
            f"what was known of MCP server {server!r} cannot be used ({reason}), and is now "
            f"{aside}; run `toolcrib refresh {server}`"
        )


def _written(known: KnownServer) -> bytes:
    entry = json.dumps({"format": 1} | asdict(known), allow_nan=False).encode()
    checksum = hashlib.sha256(entry).hexdigest().encode()
    return b'{"checksum":"%s","entry":%s}\n' % (checksum, entry)


def _parsed(content: bytes) -> KnownServer:
    """Raises what the parser raises, `LookupError` or `TypeError` for what is none of ours."""
    file = _FILE.fullmatch(content)
    if not file or hashlib.sha256(file["entry"]).hexdigest().encode() != file["checksum"]:
        raise ValueError("the checksum does not fit")
    entry: Any = json.loads(file["entry"])
    facts, listing = entry["facts"], entry["listing"]
    rest = {key: entry[key] for key in ("server", "config_hash", "fetched", "start_s", "declared")}
    tools = tuple(filter(_is_object, listing["tools"]))
    offers = {
        kind: tuple(filter(_is_object, every))
        for kind, every in listing.get("offers", {}).items()  # files of before have none
    }
    return KnownServer(
        **rest, facts=ServerFacts(**facts), listing=Listing(tools, listing["complete"], offers)
    )


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)
