"""What a log of events promises, whatever it is kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolcrib.model import Event, EventKind
    from toolcrib.store.event_filter import EventFilter
    from toolcrib.store.events import LoggedConversation
    from toolcrib.store.rollups import Rollup, RollupKey


class EventStore(Protocol):
    """Events, each under an id that only ever grows, and roll-ups by the hour. For all threads.

    Bounded for each kind by itself, by a `Retention`. The facts of an event that take more than
    4,000 characters as JSON are kept as `{"cut": true}`. Everything here raises `StoreError` when
    the place behind it cannot be read or written.
    """

    def write(self, events: Sequence[Event]) -> Sequence[int]:
        """All of them, and let go of what is too old or too much; nothing when it raises.

        Returns their ids, in order.
        """
        ...

    def newest(
        self, limit: int, which: EventFilter | None = None, before: int = 0
    ) -> Mapping[int, Event]:
        """The last events by their ids, the latest first; with `before`, those before that id."""
        ...

    def after(self, id: int, limit: int, which: EventFilter | None = None) -> Mapping[int, Event]:
        """The last events since that id, by their ids, the latest last."""
        ...

    def rollups(self, since_hour: int, *kinds: EventKind) -> Sequence[tuple[RollupKey, Rollup]]:
        """The roll-ups of an hour and later, of some kinds or of all, the earliest first."""
        ...

    def totals(
        self, since_hour: int, kinds: Sequence[EventKind], by: Sequence[str], name: str = ""
    ) -> Mapping[RollupKey, Rollup]:
        """The roll-ups of some kinds from an hour on, of one name if it says so, added up.

        `by` are the columns of the key that stay apart.
        """
        ...

    def call_times(self, limit: int, since: float) -> Sequence[tuple[str, str, float]]:
        """Caller, tool and time of the last calls since a moment, the latest first."""
        ...

    def conversations(self, limit: int, before: int = 0) -> Sequence[LoggedConversation]:
        """Those among the last 20,000 events, the latest first; with `before`, older ones."""
        ...

    def close(self) -> None:
        """Let go of the place."""
        ...
