"""How long MCP requests took, counted since the start, as the histograms of OpenTelemetry.

A name that is one of too many is counted with the others: names may come from whoever calls.
"""

import time
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from opentelemetry.proto.common.v1 import common_pb2 as common
from opentelemetry.proto.metrics.v1 import metrics_pb2 as metrics
from opentelemetry.proto.resource.v1 import resource_pb2 as resource

from toolcrib.model import SpanRecord
from toolcrib.observe import otel_names as names

MOST_TOOLS = 500
MOST_SERIES = 5_000
NS = 1_000_000_000

_METRICS: Final = {"server": names.SERVER_DURATION, "client": names.CLIENT_DURATION}


class _Key(NamedTuple):
    metric: str
    method: str
    tool: str
    code: str
    transport: str


@dataclass(slots=True)
class _Durations:
    count: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(names.DURATION_BOUNDS_S) + 1))


class OperationDurations:
    """The durations of requests that were served and sent; false while there are none."""

    def __init__(self) -> None:
        self._since_ns = time.time_ns()
        self._tools: set[str] = set()
        self._by_key: dict[_Key, _Durations] = {}

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def add(self, record: SpanRecord) -> None:
        """Count a request; other records are not counted."""
        metric = _METRICS.get(record.role)
        if not metric:
            return
        facts = record.facts
        method, transport = str(facts.get("method", "")), str(facts.get("transport", ""))
        tool = "" if "prompt" in facts else self._bounded(record.name)
        key = _Key(metric, method, tool, record.code, transport)
        if key not in self._by_key and len(self._by_key) >= MOST_SERIES:
            key = _Key(metric, names.OTHER, names.OTHER, record.code and names.OTHER, "")
        found = self._by_key.setdefault(key, _Durations())
        found.count += 1
        found.seconds += record.seconds
        found.buckets[bisect_left(names.DURATION_BOUNDS_S, record.seconds)] += 1

    def as_metrics(
        self, of: resource.Resource, scope: common.InstrumentationScope
    ) -> metrics.ResourceMetrics:
        """All that was counted so far."""
        by_metric: dict[str, list[metrics.HistogramDataPoint]] = {}
        for key, durations in self._by_key.items():
            by_metric.setdefault(key.metric, []).append(self._point(key, durations))
        cumulative = metrics.AGGREGATION_TEMPORALITY_CUMULATIVE
        scoped = metrics.ScopeMetrics(
            scope=scope,
            metrics=[
                metrics.Metric(
                    name=name,
                    unit="s",
                    histogram=metrics.Histogram(
                        data_points=points, aggregation_temporality=cumulative
                    ),
                )
                for name, points in by_metric.items()
            ],
        )
        return metrics.ResourceMetrics(resource=of, scope_metrics=[scoped])

    def _bounded(self, tool: str) -> str:
        if not tool or tool in self._tools:
            return tool
        if len(self._tools) >= MOST_TOOLS:
            return names.OTHER
        self._tools.add(tool)
        return tool

    def _point(self, key: _Key, durations: _Durations) -> metrics.HistogramDataPoint:
        values = {
            names.METHOD: key.method,
            names.TOOL: key.tool,
            names.ERROR_TYPE: key.code,
            names.TRANSPORT: key.transport,
        }
        return metrics.HistogramDataPoint(
            attributes=[
                common.KeyValue(key=name, value=common.AnyValue(string_value=value))
                for name, value in values.items()
                if value
            ],
            start_time_unix_nano=self._since_ns,
            time_unix_nano=time.time_ns(),
            count=durations.count,
            sum=durations.seconds,
            bucket_counts=durations.buckets,
            explicit_bounds=names.DURATION_BOUNDS_S,
        )
