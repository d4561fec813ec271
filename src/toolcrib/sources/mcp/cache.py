"""MCPToolsCache: what is known of each server, one JSON file each, so that none has to be started.

A file belongs to a server as it is configured: two configurations that share a name share nothing.
A file that is damaged, too large or of another configuration counts as none. Damaged ones are set
aside for whoever wants to know why; that is one warning, and costs no other server.
"""

import hashlib
import json
import re
import time
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
KEPT_S = 90 * 24 * 60 * 60.0
"""How long what was known of a server that is configured otherwise now is kept."""
_FILE = re.compile(
    rb'\{"checksum":"(?P<checksum>[0-9a-f]{64})","entry":(?P<entry>.*)\}\n', re.DOTALL
)


class Found(NamedTuple):
    """What the cache has of a server, if anything, and what was wrong with what it had."""

    known: KnownServer | None
    problem: str = ""


class Failure(NamedTuple):
    """How a start failed: `code` for programs, `message` for people, `at` since the epoch.

    `reason` and `remedy` are those of a `Diagnosis`: in words of ours alone, empty if unknown.
    """

    code: str
    message: str
    at: float
    reason: str = ""
    remedy: str = ""


class MCPToolsCache:
    """One folder. Several processes may use it at once: each file is replaced in one step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        sweep(folder)

    def path(self, server: str, config_hash: str) -> Path:
        """The file of a server: a name that nothing in the server's own name can bend."""
        name, identity = (_hashed(text) for text in (server, config_hash))
        return self._folder / f"{name}-{identity}.json"

    def read(self, server: str, config_hash: str) -> Found:
        """What is known of the server as it is configured now, whatever a file may hold."""
        path = self.path(server, config_hash)
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
            path = self.path(known.server, known.config_hash)
            write_bytes(path, content)
        except OSError as error:
            message = (
                f"{self._folder}: cannot be written ({error.strerror}); check space and permissions"
            )
            raise SourceError(message) from error
        self._let_go(path)

    def forget(self, server: str, config_hash: str) -> None:
        """Let go of what is known of a server that is configured no more."""
        path = self.path(server, config_hash)
        for each in (path, _failure(path)):
            with suppress(OSError):
                each.unlink()

    def read_failure(self, server: str, config_hash: str) -> Failure | None:
        """How the last start of the server failed; None if it went well, or nobody tried."""
        path = _failure(self.path(server, config_hash))
        try:
            return Failure(**json.loads(read_bytes(path, MOST_OF_A_FAILURE)))
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def write_failure(self, server: str, config_hash: str, failure: Failure | None) -> None:
        """Remember how a start went. That it cannot be written is no failure of its own."""
        path = _failure(self.path(server, config_hash))
        with suppress(OSError):
            if failure is None:
                path.unlink(missing_ok=True)
            else:
                make_folder(self._folder)
                write_bytes(path, json.dumps(failure._asdict()).encode())

    def _let_go(self, path: Path) -> None:
        """Remove what was known of the same server as it was configured long ago."""
        server = path.name.partition("-")[0]
        for other in self._folder.glob(f"{server}*"):
            with suppress(OSError):
                if other != path and time.time() - other.stat().st_mtime > KEPT_S:
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


def _failure(path: Path) -> Path:
    return path.with_suffix(".failure")


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
