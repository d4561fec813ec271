"""What is counted for Prometheus, and the page that it reads."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.observe.prometheus_page import PageSamples, read_page
from toolcrib.model import Event, EventKind
from toolcrib.observe import METRICS, EventCounters, EventLog, event_log, metrics, metrics_page


def event(kind: EventKind, **others: object) -> Event:
    return Event(1.0, kind)._replace(**others)


def counted(*events: Event) -> PageSamples:
    counters = EventCounters()
    counters.add(events)
    return read_page(metrics_page(counters.samples()))


def test_a_page_without_samples_names_every_metric():
    families = text_string_to_metric_families(metrics_page({}).decode())
    named = {each.name: each.type for each in families}
    assert named == {metric.name.removesuffix("_total"): metric.kind for metric in METRICS}


def test_searches_are_counted_by_form_and_confidence():
    facts = {"form": "free", "confidence": "high"}
    found = counted(
        event("search", seconds=0.004, facts=facts),
        event("search", seconds=0.4, facts=facts | {"confidence": "none"}),
    )
    assert found["toolcrib_searches_total"] == {("high",): 1, ("none",): 1}
    assert found["toolcrib_search_duration_seconds_count"] == {("free",): 2}
    buckets = found["toolcrib_search_duration_seconds_bucket"]
    assert (buckets["free", "0.0025"], buckets["free", "0.005"]) == (0, 1)
    assert (buckets["free", "0.5"], buckets["free", "+Inf"]) == (2, 2)
    assert found["toolcrib_search_duration_seconds_sum"]["free",] == pytest.approx(0.404)


def test_calls_are_counted_by_server_tool_and_code():
    found = counted(
        event("call", name="a", server="s"),
        event("call", name="a", server="s"),
        event("call", name="a", server="s", code="deadline"),
        event("call", name="b"),
    )
    assert found["toolcrib_calls_total"] == {
        ("s", "a", "ok"): 2,
        ("s", "a", "deadline"): 1,
        ("", "b", "ok"): 1,
    }
    assert found["toolcrib_call_duration_seconds_count"] == {("s",): 3, ("",): 1}


def test_the_rest_is_counted():
    tokens = {"eager": 900, "sent": 100, "how": "4,000 of them counted with o200k_base"}
    found = counted(
        event("approval", code="asked"),
        event("approval", code="denied"),
        event("server", server="s", code="started"),
        event("server", server="s", code="stopped"),
        event("server", server="s", code="crashed"),
        event("list", facts=tokens),
        event("list", facts=tokens),
        event("reveal", facts={"tokens": 7, "how": "estimated"}),
        event("client", code="connected"),
    )
    assert found["toolcrib_approvals_total"] == {("asked",): 1, ("denied",): 1}
    assert found["toolcrib_server_starts_total"] == {("s", "started"): 1, ("s", "crashed"): 1}
    assert found["toolcrib_tokens_total"] == {
        ("eager", "counted"): 1800,
        ("sent", "counted"): 200,
        ("revealed", "estimated"): 7,
    }


def test_made_up_names_and_codes_are_counted_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(metrics, "MOST_TOOLS", 3)
    monkeypatch.setattr(metrics, "MOST_OTHERS", 2)
    made_up = [event("call", name=f"n{n}", server="s", code=f"c{n}") for n in range(1_000)]
    found = counted(*made_up)["toolcrib_calls_total"]
    assert len(found) == 4
    assert found["s", "other", "other"] == 997
    assert sum(found.values()) == 1_000


def test_labels_that_a_stranger_chose_break_no_page():
    name = 'a"}\n# HELP evil \\ \x1b'
    ((_, said, _),) = counted(event("call", name=name, server="s"))["toolcrib_calls_total"]
    assert said == name


def test_a_log_counts_without_a_file(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_log, "PAUSE_S", 0.01)
    counters = EventCounters()
    log = EventLog(counters=counters)
    log.append(event("call", name="a"))
    log.append_later("call", lambda: event("call", name="a"))
    log.close()
    assert sum(read_page(metrics_page(counters.samples()))["toolcrib_calls_total"].values()) == 2
