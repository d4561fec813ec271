"""The last good listing of each server, kept so that no server has to be started.

How a listing is written down is here; where it is kept is for a `ListingStore` to say. What is
damaged or of another configuration counts as none, with one warning, and costs no other server.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeGuard

from toolcrib.errors import StoreError
from toolcrib.model import JsonObject
from toolcrib.sources.mcp.listing import KnownServer, ServerFacts, ServerListing
from toolcrib.sources.mcp.outcome import StartFailure
from toolcrib.store import ListingHead, ListingKey, ListingStore, StoredListing

MOST_LOADED = 8


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
    """What servers have listed, as a `ListingStore` keeps it.

    `recent` bounds how many listings are in memory that were only read.
    """

    def __init__(self, listings: ListingStore) -> None:
        self._listings = listings
        self.recent = RecentListings()
        self._texts = ToolTexts()

    def read(self, server: str, config_hash: str) -> CachedServer:
        """What is known of the server as it is configured now. What cannot be used is nothing."""
        try:
            stored = self._listings.listing(ListingKey(server, config_hash))
            known = _known(stored) if stored else None
        except StoreError as error:
            return CachedServer(None, str(error))
        except (ValueError, LookupError, TypeError, RecursionError):
            reason = f"what was known of MCP server {server!r} cannot be used (is damaged)"
            return CachedServer(None, f"{reason}; run `toolcrib refresh {server}`")
        if known and stored and (known.server, known.config_hash) == (server, config_hash):
            return CachedServer(known, version=stored.head.version)
        return CachedServer(None)

    def head(self, server: str, config_hash: str) -> ListingHead | None:
        """The head of the listing of a server; None if there is none. Reads no more."""
        return self._listings.listing_head(ListingKey(server, config_hash))

    def write(self, known: KnownServer) -> str:
        """Store what is known of a server, and return its version.

        Raises `StoreError`; then what was stored stays.
        """
        listing = _stored(known, self._texts)
        self._listings.put_listing(ListingKey(known.server, known.config_hash), listing)
        return listing.head.version

    def forget(self, server: str, config_hash: str) -> None:
        """Remove what is known of a server that is not configured any more."""
        self._listings.forget_listing(ListingKey(server, config_hash))

    def read_failure(self, server: str, config_hash: str) -> StartFailure | None:
        """How the last start of the server failed; None if it went well, or nobody tried."""
        try:
            content = self._listings.failure(ListingKey(server, config_hash))
            return StartFailure(**json.loads(content)) if content else None
        except (StoreError, ValueError, TypeError, RecursionError):
            return None

    def write_failure(self, server: str, config_hash: str, failure: StartFailure | None) -> None:
        """Store how a start went. A failure to write it is ignored."""
        content = json.dumps(failure._asdict()).encode() if failure else None
        with suppress(StoreError):
            self._listings.put_failure(ListingKey(server, config_hash), content)


def cached_tools(folder: Path) -> Iterator[tuple[str, str]]:
    """Server and own name of each tool in a cache folder. Quick, and unchecked: for completion."""
    for file in folder.glob("*.json"):
        with suppress(OSError, ValueError, LookupError, TypeError):  # a file costs no other
            entry: Any = json.loads(file.read_bytes())["entry"]
            yield from [(entry["server"], tool["name"]) for tool in entry["listing"]["tools"]]


def _shallow(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the nouns of a listing
    """A dataclass by its fields. `asdict` would copy every schema of the server."""
    return {each.name: getattr(part, each.name) for each in fields(part)}


def _stored(known: KnownServer, texts: ToolTexts) -> StoredListing:
    """The listing with its version; when it was listed is no part of that."""
    entry = {"format": 1} | _shallow(known)
    fetched, start_s = (float(entry.pop(key)) for key in ("fetched", "start_s"))
    listing = _shallow(entry.pop("listing"))
    tools = b", ".join(texts.of(known.server, listing.pop("tools")))
    parts = (json.dumps(part, allow_nan=False, default=_shallow) for part in (entry, listing))
    rest, offers = (part.encode()[1:-1] for part in parts)
    content = b'{%s, "listing": {"tools": [%s], %s}}' % (rest, tools, offers)
    version = hashlib.sha256(content).hexdigest()
    return StoredListing(ListingHead(version, fetched, start_s), content)


def _known(stored: StoredListing) -> KnownServer:
    """Raises what the parser raises, and `LookupError` or `TypeError` for foreign content."""
    entry: Any = json.loads(stored.body)
    times: dict[str, Any] = {"fetched": stored.head.fetched, "start_s": stored.head.start_s}
    facts, listing = entry["facts"], entry["listing"]
    rest = {key: entry[key] for key in ("server", "config_hash", "declared")}
    times |= {key: entry[key] for key in times if key in entry}  # as in files of before
    tools = tuple(filter(_is_object, listing["tools"]))
    offers = {
        kind: tuple(filter(_is_object, every))
        for kind, every in listing.get("offers", {}).items()  # files of before have none
    }
    return KnownServer(
        **rest,
        **times,
        facts=ServerFacts(**facts),
        listing=ServerListing(tools, listing["complete"], offers),
    )


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)
