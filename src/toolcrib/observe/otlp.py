"""Spans and durations as OTLP over HTTP, to one collector: see `otel_names` for the names.

The messages are made by the protocol's own schema (`opentelemetry-proto`), which is stable. There
is no OpenTelemetry SDK in between: it reads `OTEL_*` variables at many places, and some of them
would send what is ours, or the credentials of others, elsewhere. The `OtlpTarget` is all there is.

A collector that cannot be reached, or is overloaded, is tried again later; until then spans wait,
so many at most. What it refuses is lost, and that is told.
"""

import json
import logging
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Final

from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_service
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_service
from opentelemetry.proto.common.v1 import common_pb2 as common
from opentelemetry.proto.resource.v1 import resource_pb2 as resource
from opentelemetry.proto.trace.v1 import trace_pb2 as trace

from toolcrib.model import Json, SpanRecord, is_sampled, span_id, trace_id
from toolcrib.observe import otel_names as names
from toolcrib.observe.durations import OperationDurations
from toolcrib.observe.http_post import HttpPost, PostFailed
from toolcrib.observe.otlp_target import OtlpTarget

BATCH = 512
MOST_PENDING = 10_000
METRICS_EVERY_S = 30.0
FIRST_RETRY_S = 1.0
LAST_RETRY_S = 30.0
COMPLAIN_EVERY_S = 60.0
LONGEST_CONTENT = 16_384
NS = 1_000_000_000

_KINDS: Final = {
    "server": trace.Span.SPAN_KIND_SERVER,
    "retrieval": trace.Span.SPAN_KIND_INTERNAL,
    "execute": trace.Span.SPAN_KIND_INTERNAL,
    "start": trace.Span.SPAN_KIND_INTERNAL,
    "client": trace.Span.SPAN_KIND_CLIENT,
}
_SAMPLED = 0x01
_HAS_REMOTE_FLAG, _IS_REMOTE = 0x100, 0x200
_FACTS: Final[Mapping[str, str]] = {
    "method": names.METHOD,
    "version": names.PROTOCOL_VERSION,
    "session": names.SESSION,
    "request_id": names.REQUEST_ID,
    "transport": names.TRANSPORT,
    "prompt": names.PROMPT,
    "server": names.SERVER,
    "query": names.QUERY_TEXT,
    "documents": names.DOCUMENTS,
    "arguments": names.ARGUMENTS,
    "result": names.RESULT,
    **{
        key: names.SEARCH + key
        for key in ("form", "variants", "candidates", "hits", "chance", "confidence", "abstained")
    },
    **{key: names.CALL + key for key in ("verdict", "effect", "repaired")},
}
"""What each fact of a record is called."""

_log = logging.getLogger(__name__)


class OtlpExporter:
    """A `SpanExporter`. Used by one thread."""

    def __init__(self, target: OtlpTarget) -> None:
        base = target.url.rstrip("/")
        self._traces = HttpPost(f"{base}/v1/traces", target.headers)
        self._metrics = HttpPost(f"{base}/v1/metrics", target.headers)
        self._url = base
        self._resource = resource.Resource(attributes=_attributes(_resource_facts(target)))
        self._scope = common.InstrumentationScope(name=names.SCOPE, version=version("toolcrib"))
        self._durations = OperationDurations()
        self._pending: deque[trace.Span] = deque()
        self._retry_s = 0.0
        self._not_before = self._metrics_due = 0.0
        self._complaints: dict[str, float] = {}

    def export(self, records: Sequence[SpanRecord], *, last: bool) -> int:
        """As the protocol says."""
        lost = sum(not self._takes(record) for record in records) + self._trim()
        now = time.monotonic()
        if now >= self._not_before:
            lost += self._send_spans(last=last)
            self._send_metrics(now, last=last)
        return lost + (len(self._pending) if last else 0)

    def _takes(self, record: SpanRecord) -> bool:
        """Put it among those that wait; False if no span can be made of it."""
        self._durations.add(record)
        try:
            if is_sampled(record.own):
                self._pending.append(span_of(record))
        except (ValueError, TypeError, KeyError):
            _log.exception("a span could not be made of %s", record.role)
            return False
        return True

    def _trim(self) -> int:
        """Let go of the oldest that are too many."""
        extra = max(0, len(self._pending) - MOST_PENDING)
        for _ in range(extra):
            self._pending.popleft()
        return extra

    def _send_spans(self, *, last: bool) -> int:
        lost = 0
        while self._pending:
            batch = [self._pending.popleft() for _ in range(min(BATCH, len(self._pending)))]
            try:
                lost += self._send_batch(batch, last=last)
            except PostFailed as failed:
                self._complain(str(failed))
                if failed.is_final:
                    lost += len(batch)
                    continue
                self._pending.extendleft(reversed(batch))
                self._back_off()
                break
        return lost

    def _send_batch(self, batch: Sequence[trace.Span], *, last: bool) -> int:
        """Raises `PostFailed`. How many of them the collector did not want."""
        scoped = trace.ScopeSpans(scope=self._scope, spans=batch)
        whole = trace.ResourceSpans(resource=self._resource, scope_spans=[scoped])
        request = trace_service.ExportTraceServiceRequest(resource_spans=[whole])
        reply = self._traces.send(request.SerializeToString(), hurried=last)
        self._retry_s = 0.0
        rejected = trace_service.ExportTraceServiceResponse.FromString(reply).partial_success
        if rejected.rejected_spans:
            self._complain(f"it refused some: {rejected.error_message[:200]}")
        return rejected.rejected_spans

    def _send_metrics(self, now: float, *, last: bool) -> None:
        """All that was counted so far, now and then: what is not taken goes with the next."""
        if not self._durations or (now < self._metrics_due and not last):
            return
        whole = self._durations.as_metrics(self._resource, self._scope)
        request = metrics_service.ExportMetricsServiceRequest(resource_metrics=[whole])
        self._metrics_due = now + METRICS_EVERY_S
        try:
            self._metrics.send(request.SerializeToString(), hurried=last)
        except PostFailed as failed:
            self._complain(str(failed))

    def _back_off(self) -> None:
        self._retry_s = min(LAST_RETRY_S, 2 * self._retry_s or FIRST_RETRY_S)
        self._not_before = time.monotonic() + self._retry_s

    def _complain(self, problem: str) -> None:
        """Say what is wrong: once a problem, and now and then as long as it lasts."""
        now = time.monotonic()
        if now - self._complaints.get(problem, -COMPLAIN_EVERY_S) >= COMPLAIN_EVERY_S:
            self._complaints = {problem: now}
            _log.warning("the collector at %s (`observe.otlp`): %s", self._url, problem)


def span_of(record: SpanRecord) -> trace.Span:
    """The span of a record."""
    start = int(record.at * NS)
    remote = _HAS_REMOTE_FLAG | (_IS_REMOTE if record.role == "server" else 0)
    return trace.Span(
        trace_id=bytes.fromhex(trace_id(record.own)),
        span_id=bytes.fromhex(span_id(record.own)),
        parent_span_id=bytes.fromhex(span_id(record.parent)),
        trace_state=record.state,
        flags=_SAMPLED | remote,
        name=span_name(record),
        kind=_KINDS[record.role],
        start_time_unix_nano=start,
        end_time_unix_nano=start + int(record.seconds * NS),
        attributes=_attributes(_span_facts(record)),
        status=trace.Status(code=trace.Status.STATUS_CODE_ERROR) if record.code else None,
    )


def span_name(record: SpanRecord) -> str:
    """As the conventions have it."""
    match record.role:
        case "retrieval":
            return f"{names.RETRIEVAL} {names.SERVICE}"
        case "execute":
            return f"{names.EXECUTE_TOOL} {record.name}"
        case "start":
            return names.SERVER_START
        case _:
            return f"{record.facts.get('method', '')} {record.name}".strip()


def _span_facts(record: SpanRecord) -> Iterator[tuple[str, Json]]:
    if record.code:
        yield names.ERROR_TYPE, record.code
    if record.role == "retrieval":
        yield names.OPERATION, names.RETRIEVAL
        yield names.DATA_SOURCE, names.SERVICE
    elif record.role == "start":
        yield names.SERVER, record.name
    elif record.name and "prompt" not in record.facts:
        yield names.OPERATION, names.EXECUTE_TOOL
        yield names.TOOL, record.name
    for key, value in record.facts.items():
        yield _FACTS[key], value


def _attributes(facts: Iterable[tuple[str, Json]]) -> list[common.KeyValue]:
    return [common.KeyValue(key=key, value=_value(value)) for key, value in facts]


def _value(value: Json) -> common.AnyValue:
    match value:
        case bool():
            return common.AnyValue(bool_value=value)
        case int():
            return common.AnyValue(int_value=value)
        case float():
            return common.AnyValue(double_value=value)
        case _:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            sound = text[:LONGEST_CONTENT].encode("utf-8", "replace").decode()
            return common.AnyValue(string_value=sound)


def _resource_facts(target: OtlpTarget) -> Iterable[tuple[str, Json]]:
    own: dict[str, Json] = {
        names.SERVICE_NAME: names.SERVICE,
        names.SERVICE_VERSION: version("toolcrib"),
        names.SERVICE_INSTANCE: str(uuid.uuid4()),
    }
    return {**own, **target.resource}.items()
