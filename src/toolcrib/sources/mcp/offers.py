"""Resources, prompts and completions of one server, whether or not it is running.

Nobody reviews these one by one. So they are there only where the server itself is trusted: one of
its tools has to be approved (`ServerTrust.admits`). Hidden characters are removed from what it
lists, from prompts and from completions. The contents of a resource are handed on as they are, like
the result of a tool.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from toolcrib.model import CallContext, JsonObject, Outcome
from toolcrib.sources.definition import clean_json
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.lifecycle.cache import ServerMemory
from toolcrib.sources.mcp.lifecycle.notifications import OnUpdate
from toolcrib.sources.mcp.lifecycle.thread_bridge import UpstreamRequests
from toolcrib.sources.mcp.listing import KnownServer, OfferKind
from toolcrib.text import without_hidden

# What a server has beside tools, as it listed them: one that is malformed hides no other.

LONGEST_KEY = 2_048
_KEYS: Mapping[OfferKind, str] = {"resources": "uri", "templates": "uriTemplate", "prompts": "name"}


@dataclass(frozen=True, slots=True)
class OfferedItem:
    """A resource, a template of resources, or a prompt.

    `key` is what it goes by: its URI, its URI template, its name. `raw` is all that the server says
    of it, with nothing hidden in it.
    """

    key: str
    raw: JsonObject


def read_offers(kind: OfferKind, listed: Sequence[JsonObject]) -> tuple[OfferedItem, ...]:
    """Those that have a usable key, in the server's order. Of two with one key the first counts."""
    found: dict[str, OfferedItem] = {}
    for raw in listed:
        key = raw.get(_KEYS[kind])
        if isinstance(key, str) and _is_usable(key):
            found.setdefault(key, OfferedItem(key, clean_json(raw)))
    return tuple(found.values())


def _is_usable(key: str) -> bool:
    return 0 < len(key) <= LONGEST_KEY and key.isprintable() and without_hidden(key) == key


class Offers:
    """The resources and prompts of a server. Made by `Crib.offers`.

    Lists without starting the server, and starts it to read. Whatever fails is an outcome.

    `content` of an outcome is the result of the protocol, as JSON.
    """

    def __init__(self, memory: ServerMemory, errands: UpstreamRequests) -> None:
        self._memory = memory
        self._errands = errands
        self._read: tuple[KnownServer | None, dict[OfferKind, tuple[OfferedItem, ...]]] = None, {}

    def listed(self, kind: OfferKind) -> tuple[OfferedItem, ...]:
        """What the server listed when it was last reached; nothing while nobody trusts it."""
        known = self._memory.known
        if known is None or not self._memory.serves_offers:
            return ()
        if self._read[0] is not known:
            self._read = known, {}
        read = self._read[1]
        if kind not in read:
            read[kind] = read_offers(kind, known.listing.offers.get(kind, ()))
        return read[kind]

    def listen(self, heard: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        """Call this, from a thread of ours, with the kinds whose lists are others.

        Returns what ends it.
        """
        self._memory.heard.append(heard)
        return lambda: self._memory.heard.remove(heard)

    async def read(self, uri: str, running: CallContext) -> Outcome:
        """The contents of a resource, by the server's own URI for it."""
        return await self._errands.perform(UpstreamRequest("resources/read", {"uri": uri}), running)

    async def prompt(
        self, name: str, arguments: Mapping[str, str], running: CallContext
    ) -> Outcome:
        """The messages of a prompt, by the server's own name for it."""
        errand = UpstreamRequest("prompts/get", {"name": name, "arguments": dict(arguments)})
        return _cleaned(await self._errands.perform(errand, running))

    async def watch(self, uri: str, heard: OnUpdate, running: CallContext) -> Outcome:
        """Call `heard`, from a thread of ours, whenever the server says that this is another.

        The server is not idle as long as somebody watches; should it end, it goes on at its next
        start.
        """
        return await self._errands.watch(uri, heard, running)

    def unwatch(self, uri: str, heard: OnUpdate) -> None:
        """End that, by and by."""
        self._errands.unwatch(uri, heard)

    async def complete(self, params: JsonObject, running: CallContext) -> Outcome:
        """How an argument may go on; `params` are those of the protocol (`ref`, ...)."""
        return _cleaned(
            await self._errands.perform(UpstreamRequest("completion/complete", params), running)
        )


def _cleaned(outcome: Outcome) -> Outcome:
    """The outcome with nothing hidden in what is for reading."""
    if isinstance(outcome.content, Mapping):
        return replace(outcome, content=clean_json(outcome.content))
    return outcome
