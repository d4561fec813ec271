"""Traces of a crib in a program: they are set up by the settings, and nothing breaks without."""

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.observe.otlp_collector import OtlpCollector, otlp_collector
from toolcrib import Caller, Crib, EventOrigin, Settings
from toolcrib.errors import ConfigError
from toolcrib.observe import tracing

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADERS = {"Authorization": "COLLECTOR_TOKEN"}


@pytest.fixture
def collector() -> Iterator[OtlpCollector]:
    with otlp_collector() as collector:
        yield collector


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def crib_with(**observe: Any) -> Crib:
    embed = {"embedder": "none"}
    settings = {"store": ":memory:", "observe": observe, "embed": embed}
    crib = Crib(Settings.model_validate(settings))
    crib.add(add)
    return crib


def test_a_program_hands_its_span_over(collector: OtlpCollector):
    origin = EventOrigin(trace=f"00-{TRACE}-{SPAN}-01")
    with crib_with(otlp=collector.url) as crib:
        ann = Caller("ann", origin=origin)
        crib.search("add two numbers", caller=ann)
        asyncio.run(crib.call("add", {"a": 1, "b": 2}, caller=ann))
        asyncio.run(crib.call("add", {"a": 1, "b": 2}))
    called = [each for each in collector.spans() if each.name == "execute_tool add"]
    assert [each.trace == TRACE for each in called] == [True, False]
    assert [each.parent for each in called] == [SPAN, ""]
    found = collector.span("retrieval toolcrib")
    assert (found.trace, found.parent) == (TRACE, SPAN)


def test_the_headers_come_from_the_environment(
    collector: OtlpCollector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLLECTOR_TOKEN", "Bearer abc")
    with crib_with(otlp=collector.url, otlp_headers_env=HEADERS) as crib:
        crib.search("add")
    assert {each["Authorization"] for each in collector.headers} == {"Bearer abc"}
    assert "abc" not in repr(crib.settings)


def test_without_its_variable_nothing_is_sent_and_that_is_a_problem(
    collector: OtlpCollector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("COLLECTOR_TOKEN", raising=False)
    with crib_with(otlp=collector.url, otlp_headers_env=HEADERS) as crib:
        assert crib.search("add").hits
        (problem,) = crib.problems
    assert "COLLECTOR_TOKEN" in problem
    assert collector.posts == []


def test_without_the_extra_tools_work_and_the_problem_names_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace", None)
    assert not tracing.can_export()
    with crib_with(otlp="http://127.0.0.1:1") as crib:
        assert crib.search("add").hits
        (problem,) = crib.problems
    assert "pip install 'toolcrib[otel]'" in problem


def test_nothing_is_told_unless_it_is_set():
    with crib_with() as crib:
        assert crib.problems == ()
        assert crib._stages.tracer is None


@pytest.mark.parametrize(
    "url", ["127.0.0.1:4318", "grpc://x", "http://", "http://me:word@x", "http://x?token=1"]
)
def test_what_is_no_address_of_a_collector_is_said(url: str):
    with pytest.raises(ConfigError, match=r"observe\.otlp"):
        crib_with(otlp=url)
