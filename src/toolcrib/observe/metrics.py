"""What is counted for Prometheus: each metric with its labels, and counters that events fill.

No library is needed to count; `prometheus` writes the page. Labels are bounded: of 500 tools each
is counted by itself, and all others together, for names may come from whoever calls.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from threading import Lock
from typing import Final, Literal, NamedTuple, TypeAlias

from toolcrib.model import Event
from toolcrib.store import BOUNDS_S

MOST_TOOLS = 500
MOST_OTHERS = 100
OTHER: Final = "other"
"""In place of a label that is one of too many."""


def can_measure() -> bool:
    """Whether the extra `metrics` is installed."""
    return find_spec("prometheus_client") is not None


class Metric(NamedTuple):
    """One metric: its name on the page, what it is, and the names of its labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    help: str


METRICS: Final = (
    Metric("toolcrib_search_duration_seconds", "histogram", ("form",), "How long searches took."),
    Metric("toolcrib_searches_total", "counter", ("confidence",), "Searches, by how sure."),
    Metric(
        "toolcrib_calls_total",
        "counter",
        ("server", "tool", "code"),
        "Calls, by how they ended: ok, or the code of the error.",
    ),
    Metric("toolcrib_call_duration_seconds", "histogram", ("server",), "How long calls took."),
    Metric(
        "toolcrib_approvals_total",
        "counter",
        ("verdict",),
        "Questions about calls: asked, allowed, denied, expired.",
    ),
    Metric("toolcrib_approvals_waiting", "gauge", (), "Calls that wait for approval."),
    Metric("toolcrib_definitions_waiting", "gauge", ("server",), "Tools that wait for review."),
    Metric("toolcrib_server_up", "gauge", ("server",), "Whether an MCP server runs now."),
    Metric(
        "toolcrib_server_starts_total",
        "counter",
        ("server", "result"),
        "Starts of MCP servers: started, or why not. Crashes, too.",
    ),
    Metric("toolcrib_server_memory_bytes", "gauge", ("server",), "Memory of a server's processes."),
    Metric(
        "toolcrib_server_calls",
        "gauge",
        ("server", "state"),
        "Calls that an MCP server serves now (running), and that wait for it (waiting).",
    ),
    Metric("toolcrib_tools", "gauge", ("state",), "Tools in the pool, by their state."),
    Metric("toolcrib_clients", "gauge", ("mode",), "Clients that are connected, by how they list."),
    Metric(
        "toolcrib_tokens_total",
        "counter",
        ("what", "how"),
        "Tokens: of all definitions (eager), of what lists had (sent), of answers (revealed).",
    ),
    Metric("toolcrib_refused_total", "counter", ("code",), "HTTP requests that were refused."),
    Metric("toolcrib_events_dropped_total", "counter", (), "Events that are in no log."),
    Metric("toolcrib_events_waiting", "gauge", (), "Events that wait to be logged."),
    Metric("toolcrib_store_up", "gauge", (), "Whether the store can be read, and takes events."),
    Metric("toolcrib_spans_dropped_total", "counter", (), "Spans that no collector has."),
)
"""All that there is, in the order of the page."""


@dataclass(slots=True)
class Durations:
    """How long some things took: how many in each bucket of `BOUNDS_S`, and all together."""

    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))

    def add(self, seconds: float) -> None:
        """One more."""
        self.seconds += seconds
        self.buckets[bisect_left(BOUNDS_S, seconds)] += 1


Labels: TypeAlias = tuple[str, ...]
Samples: TypeAlias = Mapping[str, Mapping[Labels, float | Durations]]
"""By the name of a metric, and by the values of its labels."""


class _Bounded:
    """Values of a label: so many of them, and the rest as one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: set[str] = set()

    def __call__(self, value: str) -> str:
        if value in self._seen:
            return value
        if len(self._seen) >= self._most:
            return OTHER
        self._seen.add(value)
        return value


class EventCounters:
    """Counts events as they come. Safe to share between threads."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._counts: dict[str, Counter[Labels]] = {}
        self._durations: dict[str, dict[Labels, Durations]] = {}
        self._tool, self._other = _Bounded(MOST_TOOLS), _Bounded(MOST_OTHERS)
        self._server = _Bounded(MOST_TOOLS)

    def add(self, events: Iterable[Event]) -> None:
        """Count these."""
        with self._changing:
            for event in events:
                self._add(event)

    def refused(self, code: str) -> None:
        """Count a request that was refused."""
        with self._changing:
            self._count("toolcrib_refused_total", self._other(code))

    def samples(self) -> Samples:
        """All counts of this moment."""
        with self._changing:
            counts = {name: dict(counter) for name, counter in self._counts.items()}
            durations = {
                name: {key: Durations(each.seconds, [*each.buckets]) for key, each in found.items()}
                for name, found in self._durations.items()
            }
            return {**counts, **durations}

    def _add(self, event: Event) -> None:
        match event.kind:
            case "search":
                self._search(event)
            case "call":
                self._call(event)
            case "approval":
                self._count("toolcrib_approvals_total", self._other(event.code))
            case "server":
                self._start(event)
            case "list":
                self._list(event)
            case "reveal":
                self._reveal(event)
            case _:
                pass

    def _count(self, name: str, *labels: str, times: int = 1) -> None:
        self._counts.setdefault(name, Counter())[labels] += times

    def _time(self, name: str, label: str, seconds: float) -> None:
        self._durations.setdefault(name, {}).setdefault((label,), Durations()).add(seconds)

    def _search(self, event: Event) -> None:
        form, sure = (str(event.facts.get(key, "")) for key in ("form", "confidence"))
        self._count("toolcrib_searches_total", self._other(sure))
        self._time("toolcrib_search_duration_seconds", self._other(form), event.seconds)

    def _call(self, event: Event) -> None:
        server, code = self._server(event.server), self._other(event.code or "ok")
        self._count("toolcrib_calls_total", server, self._tool(event.name), code)
        self._time("toolcrib_call_duration_seconds", server, event.seconds)

    def _start(self, event: Event) -> None:
        if event.code != "stopped":
            labels = self._server(event.server), self._other(event.code)
            self._count("toolcrib_server_starts_total", *labels)

    def _list(self, event: Event) -> None:
        how = self._other(_way(event))
        for what in ("eager", "sent"):
            self._count("toolcrib_tokens_total", what, how, times=_number(event, what))

    def _reveal(self, event: Event) -> None:
        if tokens := _number(event, "tokens"):
            labels = "revealed", self._other(_way(event))
            self._count("toolcrib_tokens_total", *labels, times=tokens)


def _number(event: Event, key: str) -> int:
    value = event.facts.get(key)
    return value if isinstance(value, int) else 0


def _way(event: Event) -> str:
    """How tokens were counted, without of how many tools."""
    return "counted" if "counted" in str(event.facts.get("how", "")) else "estimated"
