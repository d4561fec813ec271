"""Decisions of a shared store, as a replica goes on with them while its database is away.

What was read stays known until the feed says that something was decided. If that cannot be read
then, searches and lists go on with what was known before, and no call is made. Whoever sends a call
asks first whether this replica is still in step: one that has not heard of its database for a while
may not know what was forbidden meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, TypeVar, cast

from toolcrib.errors import StoreAway

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolcrib.store.decision_rows import Decision
    from toolcrib.store.decisions import ToolDecisions
    from toolcrib.store.trust_protocol import DecisionStore

T = TypeVar("T")
KEPT = ("first sight", "mark", "known")


class Freshness:
    """Since when this replica may have missed a change. Safe to share between threads."""

    def __init__(self, stale_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._stale_s = stale_s
        self._clock = clock
        self._confirmed: float | None = None

    def now(self) -> float:
        """The time by which `confirm` is told; on no wall."""
        return self._clock()

    def confirm(self, asked: float) -> None:
        """All that was committed until then is known here."""
        self._confirmed = asked

    def check(self) -> None:
        """Raises `StoreAway` if changes may have been missed for longer than they may."""
        since = self._confirmed
        if since is None or self._clock() - since > self._stale_s:
            limit = f"for more than {self._stale_s:g} s"
            problem = f"the shared store cannot be reached {limit}, so what was decided since"
            raise StoreAway(f"{problem} is not known and no call is made; try again later")


class FollowedDecisions:
    """The decisions of a shared store as they were read since `changed` was called last.

    Keeps `DecisionStore`. What is written goes to the database at once. What was read before goes
    on to hold while that is away; what was never read raises `StoreAway` then.
    """

    def __init__(
        self,
        remote: Callable[[], DecisionStore],
        freshness: Freshness,
        former: Mapping[tuple[str, ...], object],
    ) -> None:
        """`remote` opens them; `former` is what `known` gave to a process before this one."""
        self._open = remote
        self._freshness = freshness
        self._turn = RLock()
        self._count = 0
        self._read: dict[tuple[str, ...], object] = {}
        self._former = {**former}
        self._is_behind = False

    @cached_property
    def _remote(self) -> DecisionStore:
        return self._open()

    @property
    def known(self) -> Mapping[tuple[str, ...], object]:
        """What was read, as far as it says which tools are as they were: no decision itself."""
        with self._turn:
            every = {**self._former, **self._read}
        return {what: every[what] for what in every if what[0] in KEPT}

    @property
    def is_behind(self) -> bool:
        """Whether somebody was told what held before the last change. `changed` ends it."""
        return self._is_behind

    def changed(self) -> None:
        """Something was decided: read again. While that fails, what was before is shown.

        So a replica that has heard of a change and cannot read it goes on searching, and makes no
        call.
        """
        with self._turn:
            self._count += 1
            self._former |= self._read
            self._read = {}
            self._is_behind = False

    def check_current(self) -> None:
        """As the protocol says."""
        self._freshness.check()
        if self._is_behind:
            problem = "something was decided that cannot be read, because the shared store is away"
            raise StoreAway(f"{problem}; no call is made: try again later")

    @property
    def trusts_first_sight(self) -> bool:
        """As the protocol says."""
        return self._known(("first sight",), lambda: self._remote.trusts_first_sight)

    def version(self) -> object:
        """As the protocol says."""
        return self._count

    def mark(self, source: str) -> str:
        """As the protocol says."""
        return self._known(("mark", source), lambda: self._remote.mark(source))

    def of(self, source: str) -> Mapping[str, ToolDecisions]:
        """As the protocol says."""
        return self._known(("of", source), lambda: self._remote.of(source))

    def elsewhere(self, source: str) -> Mapping[str, Decision]:
        """As the protocol says."""
        return self._known(("elsewhere", source), lambda: self._remote.elsewhere(source))

    def configuration(self, source: str) -> str | None:
        """As the protocol says."""
        return self._remote.configuration(source)

    def configuration_elsewhere(self, source: str) -> str | None:
        """As the protocol says."""
        return self._remote.configuration_elsewhere(source)

    def is_known(self, source: str) -> bool:
        """As the protocol says."""
        return self._known(("known", source), lambda: self._remote.is_known(source))

    def configured(self, source: str, entry: str) -> None:
        """As the protocol says."""
        if self._known(("entry", source), lambda: self._remote.configuration(source)) != entry:
            self._write(lambda: self._remote.configured(source, entry))

    def inherit(self, source: str, former: str, renew: Callable[[Decision], Decision]) -> None:
        """As the protocol says."""
        if self.is_known(source):
            self._known(("inherit", source, former), lambda: self._inherited(source, former, renew))

    def trust(self, source: str, seen: Mapping[str, tuple[str, str]]) -> None:
        """As the protocol says."""
        if not self.is_known(source):
            self._write(lambda: self._remote.trust(source, seen))

    def used(self, *sources: str) -> None:
        """As the protocol says."""
        self._remote.used(*sources)

    def approve(self, decision: Decision) -> None:
        """As the protocol says."""
        self._write(lambda: self._remote.approve(decision))

    def reject(self, decision: Decision) -> None:
        """As the protocol says."""
        self._write(lambda: self._remote.reject(decision))

    def set_first_sight(self, *, trusted: bool) -> None:
        """As the protocol says."""
        self._write(lambda: self._remote.set_first_sight(trusted=trusted))

    def close(self) -> None:
        """As the protocol says."""
        if "_remote" in self.__dict__:
            self._remote.close()

    def _inherited(self, source: str, former: str, renew: Callable[[Decision], Decision]) -> bool:
        before = self._remote.version()
        self._remote.inherit(source, former, renew)
        if self._remote.version() != before:
            self.changed()
        return True

    def _write(self, work: Callable[[], None]) -> None:
        """Whatever became of it: what was read before holds no longer."""
        try:
            work()
        finally:
            self.changed()

    def _known(self, what: tuple[str, ...], read: Callable[[], T]) -> T:
        with self._turn:
            count, known = self._count, self._read
            if what in known:
                return cast("T", known[what])
        try:
            found = read()
        except StoreAway:
            with self._turn:
                if what not in self._former:
                    raise
                self._is_behind = True
                return cast("T", self._former[what])
        with self._turn:
            if count == self._count:  # else something was decided while it was read
                known[what] = found
        return found
