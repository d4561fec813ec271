"""Spans on their way to a collector: nobody waits, nothing else is sent, and losses are told."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.gateway.daemons import bare
from tests.observe.otlp_collector import OtlpCollector, now, otlp_collector
from tests.waiting import until
from toolcrib import Crib
from toolcrib.model import EventOrigin, SpanRecord, is_sampled, span_id, trace_id
from toolcrib.observe import (
    OtlpExporter,
    OtlpTarget,
    Tracer,
    child_of,
    durations,
    in_call,
    otlp,
    tracing,
)
from toolcrib.observe import otel_names as names
from toolcrib.wiring import tracer_of

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CLIENT = f"00-{TRACE}-{PARENT}-01"
UNSAMPLED = f"00-{TRACE}-{PARENT}-00"
AMBIENT = {
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9",
    "OTEL_EXPORTER_OTLP_HEADERS": "authorization=somebody-elses",
    "OTEL_RESOURCE_ATTRIBUTES": "service.name=somebody-else,secret=x",
    "OTEL_SERVICE_NAME": "somebody-else",
    "OTEL_SDK_DISABLED": "true",
    "OTEL_TRACES_SAMPLER": "always_off",
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PAUSE_S", 0.02)
    monkeypatch.setattr(otlp, "METRICS_EVERY_S", 0.05)
    monkeypatch.setattr(otlp, "FIRST_RETRY_S", 0.05)


@pytest.fixture
def collector() -> Iterator[OtlpCollector]:
    with otlp_collector() as collector:
        yield collector


@pytest.fixture
def tracer(collector: OtlpCollector) -> Iterator[Tracer]:
    tracer = tracer_to(collector.url)
    yield tracer
    collector.go_on.set()
    tracer.close()


def tracer_to(url: str, **headers: str) -> Tracer:
    return Tracer(lambda: OtlpExporter(OtlpTarget(url, headers)))


def sent(name: str = "echo", parent: str = CLIENT, **others: object) -> SpanRecord:
    facts = {"method": "tools/call", "transport": "pipe", "server": "fake"}
    record = SpanRecord("client", now(), 0.25, child_of(parent), parent, name=name, facts=facts)
    return record._replace(**others)


def test_a_span_comes_as_the_conventions_have_it(tracer: Tracer, collector: OtlpCollector):
    record = sent(state="vendor=1", code="deadline")
    tracer.tell(record)
    span = collector.span("tools/call echo")
    assert (span.kind, span.trace, span.parent) == ("client", TRACE, PARENT)
    assert span.id == span_id(record.own) != PARENT
    assert span.state == "vendor=1"
    assert span.failed
    assert abs(span.end - span.start - 0.25) < 1e-3
    assert span.attributes == {
        names.ERROR_TYPE: "deadline",
        names.OPERATION: "execute_tool",
        names.TOOL: "echo",
        names.METHOD: "tools/call",
        names.TRANSPORT: "pipe",
        names.SERVER: "fake",
    }


def test_durations_of_requests_are_counted(tracer: Tracer, collector: OtlpCollector):
    tracer.tell(sent())
    tracer.tell(sent(role="server", name="tool_search"))
    tracer.tell(sent(role="start", name="fake", facts={}))
    until(lambda: collector.metrics and sum(map(len, collector.points().values())) == 2)
    ((attributes, count),) = collector.points()[names.CLIENT_DURATION]
    assert count == 1
    assert attributes == {names.METHOD: "tools/call", names.TOOL: "echo", names.TRANSPORT: "pipe"}
    assert names.SERVER_DURATION in collector.points()


def test_a_client_that_wants_no_spans_gets_none_and_is_counted(
    tracer: Tracer, collector: OtlpCollector
):
    record = sent("unsampled", UNSAMPLED)
    assert not is_sampled(record.own)
    tracer.tell(record)
    tracer.tell(sent("sampled"))
    collector.span("tools/call sampled")
    assert [each.name for each in collector.spans()] == ["tools/call sampled"]
    until(lambda: collector.metrics and len(collector.points()[names.CLIENT_DURATION]) == 2)


def test_made_up_names_are_counted_together(
    tracer: Tracer, collector: OtlpCollector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(durations, "MOST_TOOLS", 2)
    for number in range(5):
        tracer.tell(sent(f"tool_{number}"))
    until(lambda: collector.metrics and len(collector.points()[names.CLIENT_DURATION]) == 3)
    counted = {each[names.TOOL]: n for each, n in collector.points()[names.CLIENT_DURATION]}
    assert counted == {"tool_0": 1, "tool_1": 1, names.OTHER: 3}


def test_variables_of_others_change_nothing(
    collector: OtlpCollector, monkeypatch: pytest.MonkeyPatch
):
    for name, value in AMBIENT.items():
        monkeypatch.setenv(name, value)
    tracer = tracer_to(collector.url, Authorization="ours")
    tracer.tell(sent())
    collector.span("tools/call echo")
    tracer.close()
    assert {each["Authorization"] for each in collector.headers} == {"ours"}
    resource = collector.resource()
    assert resource.keys() == {"service.name", "service.version", "service.instance.id"}
    assert resource["service.name"] == "toolcrib"


def test_what_hides_in_a_name_is_spelt_out_and_no_text_breaks_a_batch(
    tracer: Tracer, collector: OtlpCollector
):
    tracer.tell(sent("evil\u202ename\ud800"))
    tracer.tell(sent(facts={"method": "tools/call", "request_id": "\ud800"}))
    tracer.tell(sent(facts={"nobody knows": "this fact"}))
    tracer.tell(sent("last"))
    collector.span("tools/call last")
    assert len(collector.spans()) == 3
    assert all(each.name.isprintable() for each in collector.spans())
    assert "U+202E" in collector.spans()[0].name
    until(lambda: tracer.dropped == 1)


def test_a_collector_that_comes_late_misses_nothing(caplog: pytest.LogCaptureFixture):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    tracer = tracer_to(f"http://127.0.0.1:{port}")
    with caplog.at_level(logging.WARNING):
        tracer.tell(sent("early"))
        until(lambda: "cannot be reached" in caplog.text)
    with otlp_collector(port) as collector:
        tracer.tell(sent("late"))
        collector.span("tools/call late")
        collector.span("tools/call early")
    tracer.close()
    assert tracer.dropped == 0


@pytest.mark.parametrize("status", [400, 401, 302])
def test_what_a_collector_refuses_is_counted_and_told(
    tracer: Tracer, collector: OtlpCollector, caplog: pytest.LogCaptureFixture, status: int
):
    collector.status = status
    with caplog.at_level(logging.WARNING):
        tracer.tell(sent())
        until(lambda: tracer.dropped == 1)
        until(lambda: "1 spans are lost" in caplog.text)
    assert f"it answers /v1/traces with {status}" in caplog.text
    assert collector.url in caplog.text


def test_a_collector_that_is_overloaded_is_asked_again(tracer: Tracer, collector: OtlpCollector):
    collector.status = 503
    tracer.tell(sent())
    until(lambda: collector.posts.count("/v1/traces") > 1)
    collector.status = 200
    collector.span("tools/call echo")
    assert tracer.dropped == 0


def test_what_a_collector_takes_in_part_is_counted(
    tracer: Tracer, collector: OtlpCollector, caplog: pytest.LogCaptureFixture
):
    collector.rejects = 1
    tracer.tell(sent())
    until(lambda: tracer.dropped == 1)
    until(lambda: "refused some" in caplog.text)


def test_nobody_waits_for_a_collector_that_hangs(
    tracer: Tracer,
    collector: OtlpCollector,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    monkeypatch.setattr(tracing, "MOST_WAITING", 100)
    monkeypatch.setattr(tracing, "END_S", 0.1)
    collector.go_on.clear()
    tracer.tell(sent())
    until(lambda: collector.posts)
    for _ in range(250):
        tracer.tell(sent())  # would hang here
    assert tracer.dropped == 150
    with caplog.at_level(logging.WARNING):
        tracer.close()  # and here
    assert "250 spans or more are lost" in caplog.text


def test_the_oldest_go_where_too_many_wait_for_a_collector(
    tracer: Tracer, collector: OtlpCollector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(otlp, "MOST_PENDING", 3)
    collector.status = 503
    for number in range(10):
        tracer.tell(sent(str(number)))
    until(lambda: tracer.dropped == 7)
    collector.status = 200
    until(lambda: len(collector.spans()) == 3)
    assert [each.name for each in collector.spans()] == [f"tools/call {n}" for n in (7, 8, 9)]


def test_a_record_that_cannot_be_made_costs_no_other(tracer: Tracer, collector: OtlpCollector):
    def broken() -> SpanRecord:
        raise ValueError("no")

    tracer.tell(broken)
    tracer.tell(sent)
    collector.span("tools/call echo")
    assert tracer.dropped == 1


def test_no_thread_begins_before_the_first_span(collector: OtlpCollector):
    before = {*threading.enumerate()}
    tracer_to(collector.url).close()
    assert {*threading.enumerate()} <= before


def test_a_span_without_a_parent_begins_a_trace():
    unused = Tracer(lambda: pytest.fail("not yet"))
    root = in_call(unused, EventOrigin()).trace
    assert is_sampled(root)
    assert len(trace_id(root)) == 32
    assert trace_id(child_of(root)) == trace_id(root)
    assert span_id(child_of(root)) != span_id(root)


def test_where_nobody_follows_the_clients_span_is_handed_on():
    nothing, client = EventOrigin(), EventOrigin(trace=CLIENT, trace_state="a=b")
    assert in_call(None, nothing) is nothing
    assert in_call(None, client) == client
    assert in_call(None, EventOrigin(trace="not one", trace_state="a=b")) == nothing


class Ambient:
    """A crib as the command line opens it, in an environment with these variables."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    def call(self, **observe: str) -> tuple[str, ...]:
        """One call; what is wrong."""
        settings = bare(observe=observe).read_from(None)
        with Crib.from_settings(settings) as crib:
            crib.add(look)
            assert asyncio.run(crib.call("look")).ok
            return crib.problems


def look() -> str:
    """Look."""
    return "seen"


def test_the_standard_variables_count_where_the_settings_name_no_collector(
    collector: OtlpCollector, monkeypatch: pytest.MonkeyPatch
):
    ambient = Ambient(
        monkeypatch,
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
        OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20x, x-team=tools",
        OTEL_SERVICE_NAME="our-gateway",
        OTEL_RESOURCE_ATTRIBUTES="service.name=other,deployment.environment=test",
    )
    assert ambient.call() == ()
    assert collector.span("execute_tool look")
    headers, resource = collector.headers[0], collector.resource()
    assert (headers["authorization"], headers["x-team"]) == ("Bearer x", "tools")
    assert resource["service.name"] == "our-gateway"
    assert resource["deployment.environment"] == "test"


@pytest.mark.parametrize(
    "off", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}, {}]
)
def test_they_can_switch_it_off_and_are_not_read_for_a_crib_without_settings(
    off: dict[str, str], collector: OtlpCollector, monkeypatch: pytest.MonkeyPatch
):
    Ambient(monkeypatch, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, **off)
    settings = bare().read_from(None) if off else bare()
    assert tracer_of(settings, os.environ) is None


def test_a_protocol_that_is_not_spoken_is_a_problem_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
):
    grpc = {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    ambient = Ambient(monkeypatch, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4317", **grpc)
    (problem,) = ambient.call()
    assert "set it to http/protobuf" in problem
