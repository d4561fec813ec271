"""Opens sessions: what one conversation of a caller sees of a crib.

The session itself is `toolcrib.session`; here it is given what it needs of the other stages.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from toolcrib.access import Scope
from toolcrib.crib.inventory import Inventory
from toolcrib.crib.live_index import LiveIndex
from toolcrib.execute import Caller
from toolcrib.pool import EntryCache
from toolcrib.session import (
    Deferral,
    DeferralPlan,
    Host,
    Prices,
    RequestReveals,
    Session,
)
from toolcrib.store import StoredReveals
from toolcrib.text import token_counter
from toolcrib.wiring import deferral_of, session_options_of


class Sessions:
    """The sessions of one crib. They share what tools cost, and what is deferred for whom.

    `host` tells what a session of this caller reaches of the crib.
    """

    def __init__(
        self, inventory: Inventory, index: LiveIndex, host: Callable[[Caller], Host]
    ) -> None:
        self._inventory = inventory
        self._index = index
        self._host = host
        self._plans = EntryCache[tuple[Scope, Deferral, bool], DeferralPlan]()
        self._prices = Prices(token_counter)

    def open(
        self,
        id: str | None,
        caller: Caller,
        bound: Iterable[str],
        tool_search: str | None,
        context_window: int | None,
    ) -> Session:
        """A session; without an id it is for one request alone. Raises `ConfigError`."""
        settings = self._inventory.settings
        deferral = deferral_of(settings, tool_search, context_window)
        scope = replace(caller.scope, bound=caller.scope.bound.union(bound))
        caller = self._inventory.restricted(replace(caller, scope=scope))
        return Session(
            self._host(caller),
            partial(self._plan, caller.scope, deferral),
            RequestReveals() if id is None else StoredReveals(self._index.store, caller.id, id),
            self._prices,
            session_options_of(settings, deferral),
        )

    def _plan(self, scope: Scope, deferral: Deferral, used: int) -> DeferralPlan:
        """What this caller's sessions defer, remembered as long as the entries are these."""
        entries = self._inventory.entries()
        key = scope, deferral, deferral.is_late(used)
        return self._plans.get(
            entries,
            key,
            lambda: DeferralPlan.make(
                entries.values(), scope, deferral, is_late=key[2], price=self._prices.of
            ),
        )
