"""Resources, prompts and completions of one server, whether or not it is running.

Nobody reviews these one by one. So they are there only where the server itself is trusted, which
is to say that one of its tools is approved (`Trust.admits`). What is hidden in the texts that it
lists, in its prompts and in its completions, is cleaned away; what a resource holds is handed on as
it is, as the result of a tool is.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from toolcrib.model import CallContext, JsonObject, Outcome
from toolcrib.sources.mcp.errand import Errand
from toolcrib.sources.mcp.errands import Errands
from toolcrib.sources.mcp.known import KnownServer, Offer
from toolcrib.sources.mcp.memory import Memory
from toolcrib.sources.mcp.offered import Offered, offered
from toolcrib.sources.mcp.watchers import Heard
from toolcrib.sources.scanned import cleaned_object


class Offers:
    """Lists without starting the server, and starts it to read. Whatever fails is an outcome.

    `content` of an outcome is the result of the protocol, as JSON.
    """

    def __init__(self, memory: Memory, errands: Errands) -> None:
        self._memory = memory
        self._errands = errands
        self._read: tuple[KnownServer | None, dict[Offer, tuple[Offered, ...]]] = None, {}

    def listed(self, kind: Offer) -> tuple[Offered, ...]:
        """What the server listed when it was last reached; nothing while nobody trusts it."""
        known = self._memory.known
        if known is None or not self._memory.serves_offers:
            return ()
        if self._read[0] is not known:
            self._read = known, {}
        read = self._read[1]
        if kind not in read:
            read[kind] = offered(kind, known.listing.offers.get(kind, ()))
        return read[kind]

    def listen(self, heard: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        """Call this, from a thread of ours, with the kinds whose lists are others.

        Returns what ends it.
        """
        self._memory.heard.append(heard)
        return lambda: self._memory.heard.remove(heard)

    async def read(self, uri: str, running: CallContext) -> Outcome:
        """The contents of a resource, by the server's own URI for it."""
        return await self._errands.perform(Errand("resources/read", {"uri": uri}), running)

    async def prompt(
        self, name: str, arguments: Mapping[str, str], running: CallContext
    ) -> Outcome:
        """The messages of a prompt, by the server's own name for it."""
        errand = Errand("prompts/get", {"name": name, "arguments": dict(arguments)})
        return _cleaned(await self._errands.perform(errand, running))

    async def watch(self, uri: str, heard: Heard, running: CallContext) -> Outcome:
        """Call `heard`, from a thread of ours, whenever the server says that this is another.

        The server is not idle as long as somebody watches; should it end, it goes on at its next
        start.
        """
        return await self._errands.watch(uri, heard, running)

    def unwatch(self, uri: str, heard: Heard) -> None:
        """End that, by and by."""
        self._errands.unwatch(uri, heard)

    async def complete(self, params: JsonObject, running: CallContext) -> Outcome:
        """How an argument may go on; `params` are those of the protocol (`ref`, ...)."""
        return _cleaned(await self._errands.perform(Errand("completion/complete", params), running))


def _cleaned(outcome: Outcome) -> Outcome:
    """The outcome with nothing hidden in what is for reading."""
    if isinstance(outcome.content, Mapping):
        return replace(outcome, content=cleaned_object(outcome.content))
    return outcome
