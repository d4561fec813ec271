"""A collector of OpenTelemetry: takes OTLP over real HTTP, and decodes what it gets."""

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from tests.waiting import until

KINDS = {WireSpan.SPAN_KIND_SERVER: "server", WireSpan.SPAN_KIND_CLIENT: "client"}


class ReceivedSpan(NamedTuple):
    """A span as it came."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    attributes: Mapping[str, Any]
    start: float
    end: float
    failed: bool
    state: str


class OtlpCollector:
    """Takes all that comes, unless `status` or `hang` say otherwise."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 200
        self.rejects = 0
        self.go_on = Event()
        self.go_on.set()
        self.posts: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.traces: list[ExportTraceServiceRequest] = []
        self.metrics: list[ExportMetricsServiceRequest] = []

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        self.posts.append(path)
        self.headers.append(headers)
        self.go_on.wait()
        if self.status != 200:
            return self.status, b""
        if path == "/v1/traces":
            self.traces.append(ExportTraceServiceRequest.FromString(body))
            reply = ExportTraceServiceResponse()
            reply.partial_success.rejected_spans = self.rejects
            return 200, reply.SerializeToString()
        self.metrics.append(ExportMetricsServiceRequest.FromString(body))
        return 200, ExportMetricsServiceResponse().SerializeToString()

    def spans(self) -> list[ReceivedSpan]:
        return [
            _received(span)
            for request in self.traces
            for whole in request.resource_spans
            for scoped in whole.scope_spans
            for span in scoped.spans
        ]

    def span(self, name: str) -> ReceivedSpan:
        """The one span of this name, once it has come."""
        until(lambda: any(each.name == name for each in self.spans()))
        (found,) = [each for each in self.spans() if each.name == name]
        return found

    def resource(self) -> dict[str, Any]:
        """What all spans say of who has sent them."""
        every = [whole.resource for request in self.traces for whole in request.resource_spans]
        (found,) = {tuple(_values(each.attributes).items()) for each in every}
        return dict(found)

    def points(self) -> dict[str, list[tuple[dict[str, Any], int]]]:
        """The last histograms by name: the attributes and the count of each of their points."""
        last = self.metrics[-1].resource_metrics[0].scope_metrics[0].metrics
        return {
            metric.name: [
                (_values(point.attributes), point.count) for point in metric.histogram.data_points
            ]
            for metric in last
        }


def _received(span: WireSpan) -> ReceivedSpan:
    return ReceivedSpan(
        span.name,
        KINDS.get(span.kind, "internal"),
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        _values(span.attributes),
        span.start_time_unix_nano / 1e9,
        span.end_time_unix_nano / 1e9,
        span.status.code == 2,
        span.trace_state,
    )


def _values(attributes: Sequence[Any]) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


@contextmanager
def otlp_collector(port: int = 0) -> Generator[OtlpCollector]:
    """One that listens on this port, or on one of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, reply = collector.take(self.path, dict(self.headers), body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_request(self, code: object = "-", size: object = "-") -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.daemon_threads = True
        collector = OtlpCollector(f"http://127.0.0.1:{server.server_address[1]}")
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield collector
        finally:
            collector.go_on.set()
            server.shutdown()
            thread.join()


def now() -> float:
    return time.time()
