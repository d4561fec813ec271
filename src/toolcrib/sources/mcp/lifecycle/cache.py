"""The last good listing of each server, on disk, so that no server has to be started.

A file belongs to one configuration of a server. A file that is damaged, too large or of another
configuration counts as none. A damaged file is set aside with one warning, and costs no other
server.

A file begins with its head: a checksum of the rest, the version of the listing, when the server was
last listed, and how long its start took. So whether a listing is another one is known without
reading it (`head`).
"""

import hashlib
import json
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeGuard

from toolcrib.errors import SourceError
from toolcrib.model import JsonObject
from toolcrib.sources.mcp.listing import KnownServer, ServerFacts, ServerListing
from toolcrib.sources.mcp.outcome import StartFailure
from toolcrib.system import (
    make_private_folder,
    read_private_file,
    sweep_temporary_files,
    write_private_file,
)

MOST_BYTES = 16 * 1024 * 1024
MOST_LOADED = 8
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


class ListingHead(NamedTuple):
    """What the file of a listing begins with. `version` is another one for another listing."""

    version: str
    fetched: float
    start_s: float


class CachedServer(NamedTuple):
    """What the cache has of a server, in which version; what is wrong with its file."""

    known: KnownServer | None
    problem: str = ""
    version: str = ""


class RecentListings:
    """Who has read a listing, most recent last. All but a few are told to let go of it."""

    def __init__(self, most: int = MOST_LOADED) -> None:
        self._most = most
        self._readers: OrderedDict[Callable[[], None], None] = OrderedDict()
        self._turn = Lock()

    def touch(self, let_go: Callable[[], None]) -> None:
        """Whoever lets go by this has read its listing just now."""
        with self._turn:
            self._readers[let_go] = None
            self._readers.move_to_end(let_go)
            too_many = len(self._readers) - self._most
            old = [self._readers.popitem(last=False)[0] for _ in range(too_many)]
        for each in old:
            each()


class ToolTexts:
    """The JSON of the tools of a few servers, as they were last written."""

    def __init__(self, most: int = MOST_LOADED) -> None:
        self._most = most
        self._texts: OrderedDict[str, Mapping[int, tuple[JsonObject, bytes]]] = OrderedDict()
        self._turn = Lock()

    def of(self, server: str, tools: Sequence[JsonObject]) -> Sequence[bytes]:
        """The JSON of these tools; of those that are the same objects it is not made again."""
        before = self._texts.get(server, {})
        now = {id(raw): before.get(id(raw)) or (raw, _tool_text(raw)) for raw in tools}
        with self._turn:
            self._texts[server] = now
            self._texts.move_to_end(server)
            while len(self._texts) > self._most:
                self._texts.popitem(last=False)
        return [now[id(raw)][1] for raw in tools]


def _tool_text(raw: JsonObject) -> bytes:
    return json.dumps(raw, allow_nan=False).encode()


class MCPToolsCache:
    """One folder. Several processes may use it at once: each file is replaced in one step.

    `recent` bounds how many listings are in memory that were only read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.recent = RecentListings()
        self._texts = ToolTexts()
        self._swept: set[Path] = set()
        sweep_temporary_files(folder)

    def path(self, server: str, config_hash: str) -> Path:
        """The file of a server. Its name is a hash, so that no server name leads elsewhere."""
        return Path(self._name(server, config_hash))

    def _name(self, server: str, config_hash: str) -> str:
        return os.path.join(  # noqa: PTH118 - for thousands of servers a path costs too much
            self._folder, f"{_hashed(server)}-{_hashed(config_hash)}.json"
        )

    def read(self, server: str, config_hash: str) -> CachedServer:
        """What is known of the server as it is configured now. A bad file counts as none."""
        path = self.path(server, config_hash)
        try:
            found = _parsed(read_private_file(path, MOST_BYTES))
        except FileNotFoundError:
            return CachedServer(None)
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            return CachedServer(None, self._set_aside(path, server, error))
        known = found.known
        current = known and known.server == server and known.config_hash == config_hash
        return found if current else CachedServer(None)

    def head(self, server: str, config_hash: str) -> ListingHead | None:
        """The head of the file of a server; None if there is no file of ours. Reads no more."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            file = os.open(self._name(server, config_hash), flags)
        except OSError:
            return None
        try:
            return _head(os.read(file, LONGEST_HEAD))
        except OSError:
            return None
        finally:
            os.close(file)

    def write(self, known: KnownServer) -> str:
        """Store what is known of a server, and return its version.

        Raises `SourceError`; then what was stored stays.
        """
        version, content = _written(known, self._texts)
        if len(content) > MOST_BYTES:
            raise SourceError(f"MCP server {known.server!r} lists more than {MOST_BYTES} bytes")
        try:
            make_private_folder(self._folder)
            path = self.path(known.server, known.config_hash)
            write_private_file(path, content)
        except OSError as error:
            message = (
                f"{self._folder}: cannot be written ({error.strerror}); check space and permissions"
            )
            raise SourceError(message) from error
        self._remove_outdated(path)
        return version

    def forget(self, server: str, config_hash: str) -> None:
        """Remove what is known of a server that is not configured any more."""
        path = self.path(server, config_hash)
        for each in (path, _failure(path)):
            with suppress(OSError):
                each.unlink()

    def read_failure(self, server: str, config_hash: str) -> StartFailure | None:
        """How the last start of the server failed; None if it went well, or nobody tried."""
        path = self._name(server, config_hash).removesuffix(".json") + FAILURE
        if not os.path.lexists(path):  # so it is for nearly all
            return None
        try:
            return StartFailure(**json.loads(read_private_file(Path(path), MOST_OF_A_FAILURE)))
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def write_failure(self, server: str, config_hash: str, failure: StartFailure | None) -> None:
        """Store how a start went. A failure to write it is ignored."""
        path = _failure(self.path(server, config_hash))
        with suppress(OSError):
            if failure is None:
                path.unlink(missing_ok=True)
            else:
                make_private_folder(self._folder)
                write_private_file(path, json.dumps(failure._asdict()).encode())

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


def cached_tools(folder: Path) -> Iterator[tuple[str, str]]:
    """Server and own name of each tool in a cache folder. Quick, and unchecked: for completion."""
    for file in folder.glob("*.json"):
        with suppress(OSError, ValueError, LookupError, TypeError):  # a file costs no other
            entry: Any = json.loads(file.read_bytes())["entry"]
            yield from [(entry["server"], tool["name"]) for tool in entry["listing"]["tools"]]


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _failure(path: Path) -> Path:
    return path.with_suffix(FAILURE)


def _shallow(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the nouns of a listing
    """A dataclass by its fields. `asdict` would copy every schema of the server."""
    return {each.name: getattr(part, each.name) for each in fields(part)}


def _written(known: KnownServer, texts: ToolTexts) -> tuple[str, bytes]:
    """The version and the content of a file. When it was listed is no part of the version."""
    entry = {"format": 1} | _shallow(known)
    times = [json.dumps(float(entry.pop(key))).encode() for key in ("fetched", "start_s")]
    listing = _shallow(entry.pop("listing"))
    tools = b", ".join(texts.of(known.server, listing.pop("tools")))
    parts = (json.dumps(part, allow_nan=False, default=_shallow) for part in (entry, listing))
    rest, offers = (part.encode()[1:-1] for part in parts)
    content = b'{%s, "listing": {"tools": [%s], %s}}' % (rest, tools, offers)
    version = hashlib.sha256(content).hexdigest()
    form = b'"version":"%s","fetched":%s,"start_s":%s,"entry":%s' + _END
    rest = form % (version.encode(), *times, content)
    return version, b'{"checksum":"%s",%s' % (hashlib.sha256(rest).hexdigest().encode(), rest)


def _head(content: bytes) -> ListingHead | None:
    if not (found := _HEAD.match(content)):
        return None
    times = (float(found[name] or 0) for name in ("fetched", "start_s"))
    return ListingHead((found["version"] or found["checksum"]).decode(), *times)


def _parsed(content: bytes) -> CachedServer:
    """Raises what the parser raises, and `LookupError` or `TypeError` for foreign content."""
    found, head = _HEAD.match(content), _head(content)
    if not found or not head or not content.endswith(_END):
        raise ValueError("it does not begin or end like a file of ours")
    raw = content[found.end() : -len(_END)]
    sealed = content[found.end("checksum") + len('",') :] if found["version"] else raw
    if hashlib.sha256(sealed).hexdigest().encode() != found["checksum"]:
        raise ValueError("the checksum does not fit")
    entry: Any = json.loads(raw)
    times: dict[str, Any] = {"fetched": head.fetched, "start_s": head.start_s}
    facts, listing = entry["facts"], entry["listing"]
    rest = {key: entry[key] for key in ("server", "config_hash", "declared")}
    times |= {key: entry[key] for key in times if key in entry}  # as in files of before
    tools = tuple(filter(_is_object, listing["tools"]))
    offers = {
        kind: tuple(filter(_is_object, every))
        for kind, every in listing.get("offers", {}).items()  # files of before have none
    }
    known = KnownServer(
        **rest,
        **times,
        facts=ServerFacts(**facts),
        listing=ServerListing(tools, listing["complete"], offers),
    )
    return CachedServer(known, version=head.version)


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)
