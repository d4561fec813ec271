"""What screens ask about events: of the log, with texts that the gateway has in memory.

Everything here reads alone. A log that is switched off, or has nothing yet, is no failure: there
is nothing, and `Log` says why.
"""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, cast

from toolcrib.dashboard.backends import AskGateway, WatchGateway
from toolcrib.dashboard.gap_report import GapReport, gap_report
from toolcrib.errors import ConfigError
from toolcrib.model import FINE_CODES, Event, EventKind
from toolcrib.names import Origin
from toolcrib.observe import LoggedEvent
from toolcrib.settings import Settings
from toolcrib.sources.mcp import read_servers
from toolcrib.store import HOUR_S, EventFilter, EventStore, Rollup, RollupKey
from toolcrib.wiring import opened_events

HOURS = 24
PAGE_ROWS = 50
MOST_COMING = 1_000
MOST_SEARCHES = 3_000
GAP_DAYS = 7
MOST_IN_CONVERSATION = 200
MOST_TEXTS = 1_000
POLL_S = 0.5
NO_EVENTS: Mapping[int, Event] = {}
STARTED = EventFilter(("server",), fine=True)

LogState = Literal["on", "off", "empty"]


@dataclass(frozen=True, slots=True)
class HourTokens:
    """The tokens of the lists of one hour: of every definition, and of what was sent."""

    hour: int
    eager: int
    sent: int

    @property
    def saved(self) -> int:
        """What was not sent; below 0 where more was."""
        return self.eager - self.sent


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The last 24 hours in figures. `how` is how tokens were counted; `hours` has all 24."""

    log: LogState
    searches: int = 0
    calls: int = 0
    errors: int = 0
    p95_s: float = 0.0
    hours: tuple[HourTokens, ...] = ()
    how: str = ""

    @property
    def saved(self) -> int:
        """Tokens that the lists of all hours were shorter."""
        return sum(each.saved for each in self.hours)


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events by their ids, the latest first. `more`: there are older ones.

    `newest` is the id of the last event there was, whether or not it is among them.
    """

    log: LogState
    events: Mapping[int, Event]
    more: bool = False
    newest: int = 0


@dataclass(frozen=True, slots=True)
class EventStory:
    """An event, the others of its conversation, the earliest first, and starts meanwhile."""

    id: int
    events: Mapping[int, Event]
    starts: tuple[Event, ...] = ()


class EventQueries:
    """Reads the log. `settings` are read anew each time; everything raises `ToolcribError`."""

    def __init__(
        self, settings: Callable[[], Settings], ask: AskGateway, watch: WatchGateway
    ) -> None:
        self.settings = settings
        self._ask = ask
        self._watch = watch

    def day(self, now: float | None = None) -> DayFigures:
        """The figures of the last 24 hours, the one that runs among them."""
        first = int((now or time.time()) // HOUR_S) - HOURS + 1
        with self.file() as (log, file):
            if file is None:
                return DayFigures(log)
            used = file.totals(first, ("search", "call"), ("kind", "code"))
            lists = file.totals(first, ("list",), ("hour", "how"))
        return _day_figures(log, used, lists, first)

    def page(self, which: EventFilter, before: int = 0, rows: int = PAGE_ROWS) -> EventPage:
        """A page of events before that id; 0: the newest."""
        with self.file() as (log, file):
            if file is None:
                return EventPage(log, {})
            newest = max(file.after(0, 1), default=0)
            found = file.newest(rows + 1, which, before)
        shown = dict(list(found.items())[:rows])
        return EventPage(log, self.with_texts(shown), len(found) > rows, newest)

    def story(self, id: int) -> EventStory:
        """An event with those of its conversation; none of an id that is gone."""
        with self.file() as (_, file):
            found = file.newest(1, before=id + 1) if file else NO_EVENTS
            if file is None or id not in found:
                return EventStory(id, NO_EVENTS)
            event = found[id]
            if event.conversation:
                which = EventFilter(conversation=event.conversation)
                found = {**file.after(0, MOST_IN_CONVERSATION, which), **found}
            called = [each for each in found.values() if each.kind == "call" and each.server]
            near = STARTED._replace(since=min((each.at for each in called), default=event.at))
            starts = file.after(0, MOST_IN_CONVERSATION, near) if called else NO_EVENTS
        started = tuple(each for each in starts.values() if each.code == "started")
        return EventStory(id, self.with_texts(dict(sorted(found.items()))), started)

    def gaps(self, now: float | None = None) -> tuple[LogState, GapReport]:
        """What was missing in the last seven days."""
        since = (now or time.time()) - GAP_DAYS * 24 * HOUR_S
        with self.file() as (log, file):
            if file is None:
                return log, GapReport()
            searches = file.newest(MOST_SEARCHES, EventFilter(("search",), since=since))
            oldest = min((each.at for each in searches.values()), default=since)
            calls = file.call_times(4 * MOST_SEARCHES, oldest) if searches else ()
            totals = file.totals(int(since // HOUR_S), ("call",), ("name", "server", "code"))
        return log, gap_report(self.with_texts(searches), calls, totals)

    def keeps_texts(self) -> bool:
        """Whether the texts of queries are kept in the file."""
        return self.settings().observe.keep_queries

    def filter_of(self, kind: str, client: str, server: str, outcome: str) -> EventFilter:
        """The filter of these words; a word that is none says nothing."""
        kinds = cast("tuple[EventKind, ...]", (kind,) if kind else ())
        which = EventFilter(kinds, client, failed=outcome == "failed", fine=outcome == "ok")
        if not server:
            return which
        known = {each.id: each for each in read_servers(self.settings().mcp_config).servers}
        source = (known[server].prefix or server) if server in known else server
        return which._replace(server=source, stem=Origin("mcp", source, "").stem)

    def clients(self) -> Sequence[str]:
        """The names of clients that came or listed lately."""
        with self.file() as (_, file):
            found = file.newest(MOST_COMING, EventFilter(("client", "list"))) if file else NO_EVENTS
        return sorted({each.client for each in found.values() if each.client})

    def with_texts(self, events: Mapping[int, Event]) -> Mapping[int, Event]:
        """The same; searches with their queries, as far as the running gateway has them."""
        wanted = [id for id, event in events.items() if event.kind == "search" and not event.query]
        if not wanted:
            return events
        texts: Mapping[str, str] = {}
        with suppress(ConfigError):  # then they are shown without
            reply = cast("Mapping[str, Any] | None", self._ask("queries", ids=wanted[:MOST_TEXTS]))
            texts = (reply or {}).get("texts") or {}
        return {
            id: event._replace(query=texts[str(id)]) if str(id) in texts else event
            for id, event in events.items()
        }

    def since(self, id: int) -> Sequence[LoggedEvent]:
        """What has happened since that event, the latest last."""
        with self.file() as (_, file):
            found = file.after(id, MOST_COMING) if file else NO_EVENTS
        return [LoggedEvent(*each) for each in self.with_texts(found).items()]

    def coming(self) -> Iterator[Sequence[LoggedEvent]]:
        """What happens from now on, for ever: some events at a time, or none; at first none.

        By the gateway if one runs, which knows texts, and by the file, which others write to.
        """
        with self.file() as (_, file):
            newest = max(file.after(0, 1), default=0) if file else 0
        yield []
        for watched in self._ticks():
            with self.file() as (_, file):
                found = file.after(newest, MOST_COMING) if file else NO_EVENTS
            fresh = {id: event for id, event in watched if id > newest or file is None}
            events = self.with_texts(dict(sorted({**found, **fresh}.items())))
            newest = max((newest, *events)) if file else 0
            yield [LoggedEvent(id, event) for id, event in events.items()]

    def _ticks(self) -> Iterator[Sequence[LoggedEvent]]:
        """What the gateway tells, as it comes; without one, nothing every so often."""
        while True:
            with suppress(OSError):
                for told in self._watch():
                    yield [LoggedEvent.of_json(each) for each in told["events"]]
            time.sleep(POLL_S)
            yield []

    @contextmanager
    def file(self) -> Generator[tuple[LogState, EventStore | None]]:
        """The log, open; None, with the reason, where there is none."""
        settings = self.settings()
        with opened_events(settings) as file:
            none = "empty" if settings.events_path else "off"
            yield "on" if file else none, file


def _day_figures(
    log: LogState,
    used: Mapping[RollupKey, Rollup],
    lists: Mapping[RollupKey, Rollup],
    first: int,
) -> DayFigures:
    calls = {key: each for key, each in used.items() if key.kind == "call"}
    every = Rollup(
        sum(each.count for each in calls.values()),
        buckets=[
            sum(some) for some in zip(*(each.buckets for each in calls.values()), strict=False)
        ],
    )
    by_hour = {hour: HourTokens(hour, 0, 0) for hour in range(first, first + HOURS)}
    for key, each in lists.items():
        before = by_hour.get(key.hour, HourTokens(key.hour, 0, 0))
        by_hour[key.hour] = HourTokens(key.hour, before.eager + each.eager, before.sent + each.sent)
    return DayFigures(
        log,
        sum(each.count for key, each in used.items() if key.kind == "search"),
        every.count,
        sum(each.count for key, each in calls.items() if key.code not in FINE_CODES),
        every.percentile(0.95),
        tuple(by_hour[hour] for hour in sorted(by_hour)),
        ", ".join(sorted({key.how for key in lists if key.how})),
    )
