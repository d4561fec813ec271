"""The last good listing of each server, here and on disk, so that no server has to be started.

A file belongs to one configuration of a server. A file that is damaged, too large or of another
configuration counts as none. A damaged file is set aside with one warning, and costs no other
server.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from toolcrib.errors import SourceError
from toolcrib.model import Call, JsonObject
from toolcrib.sources.mcp.listing import KnownServer, ServerFacts, ServerIntroduction, ServerListing
from toolcrib.sources.mcp.outcome import StartFailed, StartFailure
from toolcrib.sources.mcp.server_log import ServerLog
from toolcrib.sources.mcp.trust import ServerJudgement, ServerTrust
from toolcrib.system import (
    make_private_folder,
    read_private_file,
    sweep_temporary_files,
    write_private_file,
)

MOST_BYTES = 16 * 1024 * 1024
MOST_OF_A_FAILURE = 64 * 1024
OUTDATED_AFTER_S = 90 * 24 * 60 * 60.0
"""How long the listing of a configuration stays that a server does not have any more."""
_FILE = re.compile(
    rb'\{"checksum":"(?P<checksum>[0-9a-f]{64})","entry":(?P<entry>.*)\}\n', re.DOTALL
)


class CachedServer(NamedTuple):
    """What the cache has of a server, if anything, and what is wrong with its file."""

    known: KnownServer | None
    problem: str = ""


class MCPToolsCache:
    """One folder. Several processes may use it at once: each file is replaced in one step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        sweep_temporary_files(folder)

    def path(self, server: str, config_hash: str) -> Path:
        """The file of a server. Its name is a hash, so that no server name leads elsewhere."""
        name, identity = (_hashed(text) for text in (server, config_hash))
        return self._folder / f"{name}-{identity}.json"

    def read(self, server: str, config_hash: str) -> CachedServer:
        """What is known of the server as it is configured now. A bad file counts as none."""
        path = self.path(server, config_hash)
        try:
            known = _parsed(read_private_file(path, MOST_BYTES))
        except FileNotFoundError:
            return CachedServer(None)
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            return CachedServer(None, self._set_aside(path, server, error))
        current = known.server == server and known.config_hash == config_hash
        return CachedServer(known if current else None)

    def write(self, known: KnownServer) -> None:
        """Store what is known of a server. Raises `SourceError`; then what was stored stays."""
        content = _written(known)
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

    def forget(self, server: str, config_hash: str) -> None:
        """Remove what is known of a server that is not configured any more."""
        path = self.path(server, config_hash)
        for each in (path, _failure(path)):
            with suppress(OSError):
                each.unlink()

    def read_failure(self, server: str, config_hash: str) -> StartFailure | None:
        """How the last start of the server failed; None if it went well, or nobody tried."""
        path = _failure(self.path(server, config_hash))
        try:
            return StartFailure(**json.loads(read_private_file(path, MOST_OF_A_FAILURE)))
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
        """Remove the files of configurations that the same server had long ago."""
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
    return path.with_suffix(".failure")


def _written(known: KnownServer) -> bytes:
    entry = json.dumps({"format": 1} | asdict(known), allow_nan=False).encode()
    checksum = hashlib.sha256(entry).hexdigest().encode()
    return b'{"checksum":"%s","entry":%s}\n' % (checksum, entry)


def _parsed(content: bytes) -> KnownServer:
    """Raises what the parser raises, and `LookupError` or `TypeError` for foreign content."""
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
        **rest,
        facts=ServerFacts(**facts),
        listing=ServerListing(tools, listing["complete"], offers),
    )


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


class ServerMemory:
    """What is known of one server. Its supervisor writes it; any thread may read it.

    Each attribute is replaced whole. `problem` says what is wrong with `known`, and is empty if
    nothing is. `on_offers_changed` are called, in the thread that writes, with the kinds of offers
    that have changed. What happens to the server goes into its `log`.
    """

    def __init__(
        self,
        server: str,
        config_hash: str,
        cache: MCPToolsCache,
        trust: ServerTrust,
        log: ServerLog | None = None,
    ) -> None:
        self._server = server
        self._hash = config_hash
        self._cache = cache
        self.trust = trust
        self.log = log or ServerLog(server)
        self._logged_failure = ""
        self._judged: tuple[KnownServer | None, object, ServerJudgement]
        self._judged = None, None, ServerJudgement()
        self.known, self.problem = cache.read(server, config_hash)
        self.failure = cache.read_failure(server, config_hash)
        self.on_offers_changed: list[Callable[[frozenset[str]], None]] = []

    @property
    def facts(self) -> ServerFacts | None:
        """What the server said of itself; None if it was never reached as it is configured."""
        return self.known.facts if self.known else None

    def judge(self) -> ServerJudgement:
        """What is known, and what was decided about it by now: the same object while both stay.

        This reads the file of decisions: whoever needs it twice keeps it.
        """
        known, version = self.known, self.trust.version()
        last, last_version, judgement = self._judged
        if known is not None and (known is not last or version != last_version):
            judgement = self.trust.judge(known)
            self._judged = known, version, judgement
        return judgement

    def serves_offers(self) -> bool:
        """Whether its resources and prompts may be shown and read, as decided by now."""
        return self.known is not None and self.trust.admits(self.judge())

    def check(self, call: Call) -> None:
        """Check a call by what the server lists and what is decided now. Raises `StartFailed`."""
        judged = self.judge().tools.get(call.name)
        if judged is None or judged.status == "rejected":
            message = f"{call.name!r} is no longer among its tools; search again"
            raise StartFailed("unknown_tool", message, retryable=False)
        if judged.status != "approved":
            message = f"{call.name!r} is not as it was approved; `toolcrib review {self._server}`"
            raise StartFailed("definition_changed", message, retryable=False)
        if call.pin not in ("", judged.pin):
            message = f"{call.name!r} has another definition than when it was shown; search again"
            raise StartFailed("definition_changed", message, retryable=False)

    def check_offers(self) -> None:
        """Check that its resources and prompts may be read. Raises `StartFailed`."""
        if not self.serves_offers():
            message = f"none of its tools is approved yet; `toolcrib review {self._server}`"
            raise StartFailed("unreviewed", message, retryable=False)

    def keep(self, introduction: ServerIntroduction, start_s: float) -> None:
        """Remember what a server said as it started. A cut list does not replace a whole one."""
        facts, listing = introduction.facts, self._better(introduction.listing)
        summary = f"speaks {facts.version}, lists {len(listing.tools)} tools"
        self.log.note(f"up after {start_s:.1f} s: {summary}")
        known = KnownServer(
            server=self._server,
            config_hash=self._hash,
            facts=facts,
            listing=listing,
            fetched=time.time(),
            start_s=start_s,
            declared=introduction.declared,
        )
        self._write(known)

    def keep_listing(self, listing: ServerListing) -> bool:
        """Remember the list of a server that is up; whether it differs from the one before."""
        before, better = self.known, self._better(listing)
        if before is None or before.listing == better:
            return False
        self.log.note(f"lists {len(better.tools)} tools now, {len(before.listing.tools)} before")
        self._write(replace(before, listing=better, fetched=time.time()))
        return True

    def note(self, failure: StartFailure | None) -> None:
        """Remember how a start went; None: it went well."""
        before, self.failure = self.failure, failure
        if failure:
            message = f"{failure.message} ({failure.code})"
            self.log.note(message, aloud=message != self._logged_failure)
            self._logged_failure = message
        if failure or before:
            self._cache.write_failure(self._server, self._hash, failure)

    def _better(self, listing: ServerListing) -> ServerListing:
        """The listing, completed by what was known before of what could not be listed now."""
        self.problem = ""
        before = self.known.listing if self.known else ServerListing()
        offers = {**before.offers, **listing.offers}
        if listing.complete or self.known is None or not before.complete:
            return replace(listing, offers=offers)
        self.problem = (
            f"MCP server {self._server!r} lists tools without end; its last whole list stays"
        )
        return replace(before, offers=offers)

    def _write(self, known: KnownServer) -> None:
        before, self.known = self.known, known
        self.judge()  # here, in a thread that may take its time
        try:
            self._cache.write(known)
        except SourceError as error:
            self.problem = str(error)
        kinds = _changed(before.listing if before else ServerListing(), known.listing)
        for on_change in tuple(self.on_offers_changed) if kinds else ():
            on_change(kinds)


def _changed(before: ServerListing, now: ServerListing) -> frozenset[str]:
    """The kinds of offers that have changed."""
    every = {*before.offers, *now.offers}
    return frozenset(kind for kind in every if before.offers.get(kind) != now.offers.get(kind))
