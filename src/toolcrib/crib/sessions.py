"""Opens sessions: what one conversation of a caller sees of a crib.

The session itself is `toolcrib.session`; here it is given what it needs of the other stages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias
from weakref import ReferenceType, ref

from toolcrib import program, session, store
from toolcrib.api_arguments import check, check_number, several
from toolcrib.crib.crib_events import RecordedReveals
from toolcrib.observe import conversation_mark
from toolcrib.pool import EntryCache
from toolcrib.text import token_counter
from toolcrib.wiring import deferral_of, session_options_of

if TYPE_CHECKING:
    from toolcrib.access import Scope
    from toolcrib.crib.inventory import Inventory
    from toolcrib.crib.live_index import LiveIndex
    from toolcrib.execute import Caller
    from toolcrib.observe import Record
    from toolcrib.session import Deferral, DeferralPlan, Host, Prices, Session

MOST_MESSAGES = 4_096
MessageKey: TypeAlias = "tuple[str, Scope, str]"
Searched: TypeAlias = tuple[ReferenceType[object], tuple[str, ...]]


class SearchedMessages:
    """What the newest messages of users have shown, in memory: no text, a bounded number."""

    def __init__(self) -> None:
        self._messages: OrderedDict[MessageKey, Searched] = OrderedDict()
        self._changing = Lock()

    def get(self, key: MessageKey) -> Searched | None:
        """What is known of a message."""
        return self._messages.get(key)

    def put(self, key: MessageKey, searched: Searched) -> None:
        """Know this of a message, and forget the oldest where there are too many."""
        with self._changing:
            self._messages[key] = searched
            self._messages.move_to_end(key)
            if len(self._messages) > MOST_MESSAGES:
                self._messages.popitem(last=False)


@dataclass(frozen=True, slots=True)
class CallerMessages:
    """The messages of one caller. A conversation that `keeps` its reveals is told of no other's."""

    messages: SearchedMessages
    caller: Caller
    keeps: bool

    def searched(self, key: str, catalog: object) -> tuple[str, ...] | None:
        """What a message showed when it was searched with this very catalog, if it was."""
        known = self.messages.get(self._key(key))
        return known[1] if known and known[0]() is catalog else None

    def shown(self, key: str) -> tuple[str, ...]:
        """What it showed with any catalog."""
        known = None if self.keeps else self.messages.get(self._key(key))
        return known[1] if known else ()

    def remember(self, key: str, catalog: object, names: tuple[str, ...]) -> None:
        """That this is what it showed."""
        self.messages.put(self._key(key), (ref(catalog), names))

    def _key(self, key: str) -> MessageKey:
        return self.caller.id, self.caller.scope, key


class Sessions:
    """The sessions of one crib. They share what tools cost, and what is deferred for whom.

    `host` tells what a session of this caller reaches of the crib.
    """

    def __init__(
        self,
        inventory: Inventory,
        index: LiveIndex,
        host: Callable[[Caller], Host],
        record: Record,
    ) -> None:
        self._inventory = inventory
        self._index = index
        self._host = host
        self._record = record
        self._plans: EntryCache[tuple[Scope, Deferral, bool], DeferralPlan] = EntryCache()
        self._messages = SearchedMessages()

    def open(  # noqa: PLR0913 - as `Crib.session` has them
        self,
        id: str | None,
        caller: Caller,
        bound: Iterable[str],
        *,
        tool_search: str | None,
        context_window: int | None,
        prefetch: str | None,
        style: str | None,
    ) -> Session:
        """A session; without an id it is for one request alone. Raises `ConfigError`."""
        check(id, str | None, "session(id)")
        check(tool_search, str | None, "tool_search=")
        check_number(context_window, 1, "context_window=")
        settings = self._inventory.settings
        deferral = deferral_of(settings, tool_search, context_window, style)
        if deferral.style == "code":
            program.engine_version()  # to fail at each run would look like broken tools
        scope = replace(caller.scope, bound=caller.scope.bound.union(several(bound, "bound=")))
        origin = caller.origin._replace(conversation=conversation_mark(id)) if id else caller.origin
        caller = self._inventory.restricted(replace(caller, scope=scope, origin=origin))
        reveals = (
            session.RequestReveals()
            if id is None
            else store.StoredReveals(self._index.store, caller.id, id)
        )
        return session.Session(
            self._host(caller),
            partial(self.plan, caller, deferral),
            RecordedReveals(reveals, caller, self._record),
            prices=self._prices,
            options=session_options_of(settings, deferral, prefetch),
            memory=CallerMessages(self._messages, caller, keeps=id is not None),
        )

    @cached_property
    def _prices(self) -> Prices:
        return session.Prices(token_counter)

    def plan(self, caller: Caller, deferral: Deferral, used: int) -> DeferralPlan:
        """What waits for this caller once a conversation has used so many tokens.

        It is mended when the entries change.
        """
        entries, scope = self._inventory.entries(), self._inventory.restricted(caller).scope
        key = scope, deferral, deferral.is_late(used)
        groups = self._inventory.groups(entries)
        return self._plans.get(
            entries,
            key,
            lambda: session.DeferralPlan.make(
                groups, scope, deferral, is_late=key[2], price=self._prices.of_entries
            ),
            lambda old, changed: old.updated(groups, changed),
        )
