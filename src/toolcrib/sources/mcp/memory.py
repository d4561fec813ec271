"""What is remembered of one server, here and on disk: its last good listing, its last failure."""

import time
from collections.abc import Callable
from dataclasses import replace

from toolcrib.errors import SourceError
from toolcrib.model import Call
from toolcrib.sources.mcp.cache import Failure, MCPToolsCache
from toolcrib.sources.mcp.known import Greeting, KnownServer, Listing, ServerFacts
from toolcrib.sources.mcp.server_log import ServerLog
from toolcrib.sources.mcp.start import StartFailed
from toolcrib.sources.mcp.trust import Judgement, Trust


class Memory:
    """Written by whoever keeps the server, read from any thread: each attribute changes whole.

    `problem` says what is wrong with what is known, and is empty if nothing is. `heard` are called,
    in the thread that writes, with the kinds of offers that are others. What happens to the server
    goes into its `log`.
    """

    def __init__(
        self,
        server: str,
        config_hash: str,
        cache: MCPToolsCache,
        trust: Trust,
        log: ServerLog | None = None,
    ) -> None:
        self._server = server
        self._hash = config_hash
        self._cache = cache
        self.trust = trust
        self.log = log or ServerLog(server)
        self._said = ""
        self._judged: tuple[KnownServer | None, object, Judgement] = None, None, Judgement()
        self.known, self.problem = cache.read(server, config_hash)
        self.failure = cache.read_failure(server, config_hash)
        self.heard: list[Callable[[frozenset[str]], None]] = []

    @property
    def facts(self) -> ServerFacts | None:
        """What the server said of itself; None if it was never reached as it is configured."""
        return self.known.facts if self.known else None

    @property
    def judgement(self) -> Judgement:
        """What is known, held against what was decided by now: the same object while both stay."""
        known, version = self.known, self.trust.version()
        last, at, judgement = self._judged
        if known is not None and (known is not last or version != at):
            judgement = self.trust.judge(known)
            self._judged = known, version, judgement
        return judgement

    @property
    def serves_offers(self) -> bool:
        """Whether what the server has beside tools may be shown and read."""
        return self.known is not None and self.trust.admits(self.judgement)

    def check(self, call: Call) -> None:
        """See that a call fits what the server lists now. Raises `StartFailed`."""
        judged = self.judgement.tools.get(call.name)
        if judged is None:
            gone = f"{call.name!r} is no longer among its tools; search again"
            raise StartFailed("unknown_tool", gone, retryable=False)
        if judged.status != "approved":
            told = f"{call.name!r} is not as it was approved; `toolcrib review {self._server}`"
            raise StartFailed("definition_changed", told, retryable=False)
        if call.pin not in ("", judged.pin):
            told = f"{call.name!r} has another definition than when it was shown; search again"
            raise StartFailed("definition_changed", told, retryable=False)

    def check_offers(self) -> None:
        """See that what it has beside tools may be read. Raises `StartFailed`."""
        if not self.serves_offers:
            told = f"none of its tools is approved yet; `toolcrib review {self._server}`"
            raise StartFailed("unreviewed", told, retryable=False)

    def keep(self, greeting: Greeting, start_s: float) -> None:
        """Remember what a server said as it started; a list that was cut replaces no whole one."""
        listing = self._better(greeting.listing)
        spoken = f"speaks {greeting.facts.version}, lists {len(listing.tools)} tools"
        self.log.note(f"up after {start_s:.1f} s: {spoken}")
        said = self._server, self._hash, greeting.facts, listing
        self._write(KnownServer(*said, time.time(), start_s, greeting.declared))

    def keep_listing(self, listing: Listing) -> bool:
        """Remember another list of a server that is up; whether it is another than before."""
        before, better = self.known, self._better(listing)
        if before is None or before.listing == better:
            return False
        self.log.note(f"lists {len(better.tools)} tools now, {len(before.listing.tools)} before")
        self._write(replace(before, listing=better, fetched=time.time()))
        return True

    def note(self, failure: Failure | None) -> None:
        """Remember how a start went; None is well."""
        before, self.failure = self.failure, failure
        if failure:
            said = f"{failure.message} ({failure.code})"
            self.log.note(said, aloud=said != self._said)
            self._said = said
        if failure or before:
            self._cache.write_failure(self._server, self._hash, failure)

    def _better(self, listing: Listing) -> Listing:
        """The listing, with what was known before in place of what could not be listed."""
        self.problem = ""
        before = self.known.listing if self.known else Listing()
        offers = {**before.offers, **listing.offers}
        if listing.complete or self.known is None or not before.complete:
            return replace(listing, offers=offers)
        self.problem = (
            f"MCP server {self._server!r} lists tools without end; its last whole list stays"
        )
        return replace(before, offers=offers)

    def _write(self, known: KnownServer) -> None:
        before, self.known = self.known, known
        _ = self.judgement  # made here, in a thread that may take its time
        try:
            self._cache.write(known)
        except SourceError as error:
            self.problem = str(error)
        kinds = _changed(before.listing if before else Listing(), known.listing)
        for heard in tuple(self.heard) if kinds else ():
            heard(kinds)


def _changed(before: Listing, now: Listing) -> frozenset[str]:
    """The kinds of offers that are others now."""
    every = {*before.offers, *now.offers}
    return frozenset(kind for kind in every if before.offers.get(kind) != now.offers.get(kind))
