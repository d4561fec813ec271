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
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.lifecycle.notifications import OnUpdate
from toolcrib.sources.mcp.lifecycle.supervisor import ServerSupervisor
from toolcrib.sources.mcp.listing import OfferKind
from toolcrib.text import without_hidden

LONGEST_KEY = 2_048
_KEYS: Mapping[OfferKind, str] = {"resources": "uri", "templates": "uriTemplate", "prompts": "name"}


@dataclass(frozen=True, slots=True)
class OfferedItem:
    """A resource, a resource template, or a prompt, as the server lists it.

    `key` identifies it: its URI, its URI template, its name. `raw` is all that the server says of
    it, without hidden characters.
    """

    key: str
    raw: JsonObject


class Offers:
    """The resources and prompts of a server. Made by `Crib.offers`.

    Lists without starting the server, and starts it to read. Whatever fails is an outcome.

    `content` of an outcome is the result of the protocol, as JSON.
    """

    def __init__(
        self,
        memory: ServerMemory,
        supervisor: Callable[[], ServerSupervisor],
        kinds: Callable[[], frozenset[str]],
    ) -> None:
        self._memory = memory
        self._supervisor = supervisor
        self._kinds = kinds
        self._items: tuple[str, dict[OfferKind, tuple[OfferedItem, ...]]] = "", {}

    def kinds(self) -> frozenset[str]:
        """The kinds of which there is something; none while nobody trusts the server."""
        return self._kinds()

    def listed(self, kind: OfferKind) -> tuple[OfferedItem, ...]:
        """What the server listed when it was last reached; nothing while nobody trusts it."""
        if kind not in self._kinds():
            return ()
        version, items = self._items
        if not version or version != self._memory.version():
            version, items = self._items = self._memory.version(), {}
        if kind not in items:
            known = self._memory.known
            items[kind] = read_offers(kind, known.listing.offers.get(kind, ()) if known else ())
        return items[kind]

    def listen(self, on_change: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        """Call this, from a thread of ours, with the kinds whose lists have changed.

        Returns what ends it.
        """
        self._memory.on_offers_changed.append(on_change)
        return lambda: self._memory.on_offers_changed.remove(on_change)

    async def read(self, uri: str, context: CallContext) -> Outcome:
        """The contents of a resource, by the server's own URI for it."""
        return await self._request(UpstreamRequest("resources/read", {"uri": uri}), context)

    async def prompt(
        self, name: str, arguments: Mapping[str, str], context: CallContext
    ) -> Outcome:
        """The messages of a prompt, by the server's own name for it."""
        request = UpstreamRequest("prompts/get", {"name": name, "arguments": dict(arguments)})
        return _clean(await self._request(request, context))

    async def complete(self, params: JsonObject, context: CallContext) -> Outcome:
        """How an argument may go on; `params` are those of the protocol (`ref`, ...)."""
        return _clean(await self._request(UpstreamRequest("completion/complete", params), context))

    async def watch(self, uri: str, on_update: OnUpdate, context: CallContext) -> Outcome:
        """Call `on_update`, from a thread of ours, whenever the resource changes.

        The server is not idle for as long. After a restart it goes on.
        """
        return await self._supervisor().subscribe(uri, on_update, context)

    def unwatch(self, uri: str, on_update: OnUpdate) -> None:
        """End that, soon."""
        self._supervisor().unsubscribe(uri, on_update)

    async def _request(self, request: UpstreamRequest, context: CallContext) -> Outcome:
        return await self._supervisor().request(request, context, self._memory.check_offers)


def read_offers(kind: OfferKind, listed: Sequence[JsonObject]) -> tuple[OfferedItem, ...]:
    """Those with a usable key, in the server's order. Of two with one key the first counts.

    A malformed item hides no other.
    """
    items: dict[str, OfferedItem] = {}
    for raw in listed:
        key = raw.get(_KEYS[kind])
        if isinstance(key, str) and _is_usable(key):
            items.setdefault(key, OfferedItem(key, clean_json(raw)))
    return tuple(items.values())


def _is_usable(key: str) -> bool:
    return 0 < len(key) <= LONGEST_KEY and key.isprintable() and without_hidden(key) == key


def _clean(outcome: Outcome) -> Outcome:
    """The outcome without hidden characters in its texts."""
    if isinstance(outcome.content, Mapping):
        return replace(outcome, content=clean_json(outcome.content))
    return outcome
