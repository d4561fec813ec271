"""Events: what was searched, called, listed, revealed, approved and started, on one path.

    search, door, gateway,   append     a thread of      events.db: rows and hourly roll-ups
    tickets, review desk,  ──────────>  EventLog's own ─> RecentQueries: texts, in memory alone
    servers                                              Watchers: whoever looks on, live

`event_log`  `EventLog`: takes an event in half a microsecond, never waits and never fails
`recording`  an event as it may be kept: bounded, one line, nothing hidden in it
`masking`    takes mails, tokens, numbers and the like out of what people and models wrote
`watcher`    what is in memory for those who look on; `RecentQueries` are in no file

`tracing`    `Tracer`: takes spans that are over, and has them sent by a thread of its own
`otlp`       sends them to a collector; `durations` counts what MCP requests took, `otel_names` has
             the names of the conventions, `http_post` is the way there
`metrics`    what is counted for Prometheus; `prometheus` writes the page

The disk gets numbers and names. Of arguments there is a hash, of results nothing. Queries stay in
memory; with `observe.keep_queries` they are kept for a week, masked. The file is a matter of
`toolcrib.store`. Whoever sees something happen makes the event: nothing here knows a search.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.observe.event_log import EventLog, Record, drop
    from toolcrib.observe.masking import mask_personal
    from toolcrib.observe.metrics import METRICS, EventCounters, Metric, Samples, can_measure
    from toolcrib.observe.otlp import OtlpExporter
    from toolcrib.observe.otlp_target import OtlpTarget, standard_target
    from toolcrib.observe.prometheus import CONTENT_TYPE, metrics_page
    from toolcrib.observe.recording import conversation_mark, one_line
    from toolcrib.observe.tracing import SpanExporter, Tracer, can_export, child_of, in_call
    from toolcrib.observe.watcher import LoggedEvent, Watcher
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "event_log": ("EventLog", "Record", "drop"),
            "masking": ("mask_personal",),
            "metrics": ("METRICS", "EventCounters", "Metric", "Samples", "can_measure"),
            "otlp": ("OtlpExporter",),
            "otlp_target": ("OtlpTarget", "standard_target"),
            "prometheus": ("CONTENT_TYPE", "metrics_page"),
            "recording": ("conversation_mark", "one_line"),
            "tracing": ("SpanExporter", "Tracer", "can_export", "child_of", "in_call"),
            "watcher": ("LoggedEvent", "Watcher"),
        },
    )
