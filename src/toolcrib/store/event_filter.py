"""Which events are meant: the same question to the file, and to events as they come."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from toolcrib.model import FINE_CODES, Event, EventKind

_OF_SERVER = "(server = ? OR server = '' AND ? != '' AND substr(name, 1, length(?)) = ?)"


class EventFilter(NamedTuple):
    """Which events are meant: those that fit all that is said. Empty says nothing.

    `stem` is how names from that server begin, for calls of names that no tool of it has. `failed`:
    those that did not end well; `fine`: those that did. `since` is in seconds since the epoch.
    """

    kinds: tuple[EventKind, ...] = ()
    client: str = ""
    server: str = ""
    stem: str = ""
    failed: bool = False
    since: float = 0.0
    conversation: str = ""
    fine: bool = False

    def clauses(self) -> Iterator[tuple[str, Sequence[Any]]]:
        """As SQL, with what stands for its marks."""
        if self.kinds:
            yield f"kind IN ({', '.join('?' * len(self.kinds))})", self.kinds
        if self.client:
            yield "? IN (client, caller)", (self.client,)
        if self.server:
            yield _OF_SERVER, (self.server, *[self.stem] * 3)
        if self.failed or self.fine:
            which = "NOT IN" if self.failed else "IN"
            yield f"code {which} ({', '.join('?' * len(FINE_CODES))})", (*FINE_CODES,)
        if self.since:
            yield "at >= ?", (self.since,)
        if self.conversation:
            yield "conversation != '' AND conversation = ?", (self.conversation,)

    def fits(self, event: Event) -> bool:
        """Whether an event is meant: just what the SQL says."""
        return (
            (not self.kinds or event.kind in self.kinds)
            and (not self.client or self.client in (event.client, event.caller))
            and (not self.server or self._is_of_server(event))
            and (not self.failed or event.code not in FINE_CODES)
            and (not self.fine or self.failed or event.code in FINE_CODES)
            and (not self.since or event.at >= self.since)
            and (not self.conversation or event.conversation == self.conversation)
        )

    def _is_of_server(self, event: Event) -> bool:
        if event.server:
            return event.server == self.server
        return bool(self.stem) and event.name.startswith(self.stem)
