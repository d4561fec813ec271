"""The calls of a crib: through the one door, which the first of them makes.

A search needs nothing of what calls need. Who is asked, and what is refused, is for
`toolcrib.execute` to say.
"""

from __future__ import annotations

from math import inf
from threading import Lock
from typing import TYPE_CHECKING

from toolcrib import execute
from toolcrib.execute import Caller
from toolcrib.model import Call, Outcome
from toolcrib.wiring import policy_of

if TYPE_CHECKING:
    from toolcrib.crib.inventory import Inventory
    from toolcrib.execute import ApprovalRequest, Approver, Cover, Door
    from toolcrib.model import (
        Entry,
        InputHandler,
        JsonObject,
        LogHandler,
        ProgressHandler,
    )
    from toolcrib.observe import EventLog, Tracer
    from toolcrib.settings import Settings
    from toolcrib.store import FileStores, ReplicaStores
    from toolcrib.uses import UseAdvice

HOST = Caller("host")
"""Who calls when nobody else is named: the program that holds the crib."""


class Calls:
    """Makes calls, and says what would become of them. Safe to share between threads."""

    def __init__(
        self,
        inventory: Inventory,
        stores: FileStores | ReplicaStores,
        advice: UseAdvice,
        events: EventLog,
        tracer: Tracer | None,
    ) -> None:
        self._inventory = inventory
        self._stores = stores
        self._advice = advice
        self._events, self._tracer = events, tracer
        self._made: Door | None = None
        self._making = Lock()

    @property
    def door(self) -> Door:
        """The one door to the tools of the pool."""
        with self._making:
            self._made = self._made or self._make_door()
            return self._made

    async def make(  # noqa: PLR0913 - what a call may have, each by its name
        self,
        call: Call,
        caller: Caller,
        *,
        timeout_s: float | None,
        approver: Approver | None,
        progress: ProgressHandler | None,
        most_s: float = inf,
        cover: Cover | None = None,
        ask: InputHandler | None = None,
        log: LogHandler | None = None,
        paged: bool = False,
    ) -> Outcome:
        """Make one call; see `Crib.call`. `cover` is the one question for its program, if any."""
        self._inventory.look_again(call.name)
        outcome = await self.door.execute(
            call,
            self._inventory.restricted(caller),
            timeout_s=timeout_s,
            most_s=most_s,
            approver=approver,
            cover=cover,
            progress=progress,
            ask=ask,
            log=log,
        )
        return await self.door.paged(outcome, caller) if paged else outcome

    def question(
        self, name: str, arguments: JsonObject | str, caller: Caller
    ) -> ApprovalRequest | None:
        """What a person would be asked before this call; None if nobody would be asked."""
        self._inventory.current()
        return self.door.question(Call.of(name, arguments), self._inventory.restricted(caller))

    def means(self, name: str, caller: Caller) -> Entry | None:
        """The entry of the pool that a call of this name would reach, if it would reach one."""
        self._inventory.current()
        return self.door.means(name, caller)

    def take(self, settings: Settings) -> None:
        """Make what calls come then by these settings."""
        self.door.policy = policy_of(settings, self._inventory.rule_file.rules)

    def _make_door(self) -> Door:
        return execute.Door(
            self._inventory.pool,
            policy_of(self._inventory.settings, self._inventory.rule_file.rules),
            events=self._events,
            tracer=self._tracer,
            tickets=execute.Tickets(lambda: self._stores.tickets, self._events.append),
            results=lambda: self._stores.results,
            on_success=lambda caller, tool: self._advice.history.called(caller.id, tool),
            why_unknown=self._inventory.why_unknown,
        )
