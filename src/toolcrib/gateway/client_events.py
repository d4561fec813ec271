"""The events of one principal's clients: they come and go, list tools, and are shown some.

Searches and calls leave their own events; `origin_of` says for those where a request came from.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.crib import Crib, events_of
from toolcrib.gateway import sdk
from toolcrib.gateway.caller_view import CallerView
from toolcrib.gateway.modes import EffectiveMode
from toolcrib.gateway.request_spans import trace_of
from toolcrib.model import Entry, Event, EventKind, EventOrigin, JsonObject, trace_id
from toolcrib.observe import conversation_mark
from toolcrib.session import Prices
from toolcrib.text import estimate_tokens, forget_vocabulary, token_counter

MOST_COUNTED = 4_000
"""So many definitions are counted for a list; of more, some of all, and the rest like those."""
_CONVERSATION = "toolcrib/conversation"
_MARK_BYTES = 6


def origin_of(context: sdk.Context, set_handle: str = "") -> EventOrigin:
    """Where a request came from. A connection is a conversation; without one, a set is."""
    if sdk.is_modern(context):
        conversation = conversation_mark(set_handle) if set_handle else ""
    else:
        state = sdk.connection_of(context).state
        if _CONVERSATION not in state:
            state[_CONVERSATION] = secrets.token_hex(_MARK_BYTES)
        conversation = state[_CONVERSATION]
    return EventOrigin(sdk.client_name(context), conversation, *trace_of(context))


@dataclass(frozen=True, slots=True)
class SentList:
    """A list of tools as it went to a client, in some mode, and all that it stands for."""

    mode: EffectiveMode
    tools: Sequence[sdk.Result]
    every: Sequence[Entry]


class ListPrices:
    """What listed tools cost in tokens, each counted once. Used by one thread at a time.

    The vocabulary is in memory only while something is counted: lists are few, and it is large.
    """

    def __init__(self) -> None:
        self._definitions = Prices(token_counter)
        self._sent: dict[str, int] = {}
        self.how = ""

    def facts(self, sent: SentList) -> JsonObject:
        """What is told of a list: how many tools of how many, and what they cost."""
        every = sent.every
        counted = every[:: max(1, -(-len(every) // MOST_COUNTED))]
        some = "" if len(counted) == len(every) else f"{len(counted):,} of them "
        self.how = self.how or token_counter().how
        facts: JsonObject = {
            "tools": len(sent.tools),
            "of": len(every),
            "mode": sent.mode,
            "eager": self._definitions.of_entries(counted) * len(every) // max(1, len(counted)),
            "sent": sum(map(self._of_sent, sent.tools)),
            "how": f"{some}{self.how}",
        }
        if self._definitions.forget_counter():
            forget_vocabulary()
        return facts

    def _of_sent(self, wire: sdk.Result) -> int:
        """What a model is sent of a listed tool: as its definition is counted elsewhere."""
        keys = {"name": "name", "description": "description", "parameters": "inputSchema"}
        shown = {key: wire.get(name, "") for key, name in keys.items()}
        text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if digest not in self._sent:
            if len(self._sent) >= MOST_COUNTED:
                self._sent.clear()
            self._sent[digest] = self._definitions.counter.count(text)
        return self._sent[digest]


class ClientEvents:
    """Tells what happens to the clients of one principal. `prices` may be shared with others."""

    def __init__(self, crib: Crib, view: CallerView, prices: ListPrices) -> None:
        self._log = events_of(crib)
        self._view = view
        self._prices = prices

    def greeted(self, context: sdk.Context) -> None:
        """A client has come. One that has a connection is told of when it leaves, too."""
        client, version, protocol = _introduction(context)
        facts: JsonObject = {"version": version, "protocol": protocol}
        origin = origin_of(context)._replace(client=client)
        came = self._event("client", origin)._replace(code="connected", facts=facts)
        self._log.append(came)
        if not sdk.is_modern(context):
            sdk.connection_of(context).exit_stack.callback(self._left, came)

    def listed(self, context: sdk.Context, sent: SentList, seconds: float) -> None:
        """A client was sent a list. The thread of the log counts its tokens."""
        listed = self._event("list", origin_of(context))._replace(seconds=seconds)
        self._log.append_later("list", lambda: listed._replace(facts=self._prices.facts(sent)))

    def shown(self, origin: EventOrigin, names: Sequence[str], text: str, handle: str) -> None:
        """A search has shown tools that its set did not have, in an answer of this text."""
        if names:
            facts: JsonObject = {
                "tools": list(names),
                "set": conversation_mark(handle),
                "tokens": estimate_tokens(text),
            }
            self._log.append(self._event("reveal", origin)._replace(facts=facts))

    def _left(self, came: Event) -> None:
        now = time.time()
        self._log.append(came._replace(at=now, code="left", seconds=max(0.0, now - came.at)))

    def _event(self, kind: EventKind, origin: EventOrigin) -> Event:
        client, conversation, trace, _ = origin
        caller = self._view.principal.caller.id
        return Event(time.time(), kind, caller, client, conversation, trace=trace_id(trace))


def _introduction(context: sdk.Context) -> tuple[str, str, str]:
    """Name, version and protocol of a client, as it greets us: nothing of it is verified."""
    match context.params:
        case {"clientInfo": {"name": str(name), **more}, "protocolVersion": str(protocol)}:
            return name, str(more.get("version", "")), protocol
        case _:
            return sdk.client_name(context), "", context.protocol_version
