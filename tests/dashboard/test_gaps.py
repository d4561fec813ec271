"""What counts as missing, and what the screen says of it."""

import time

import pytest

from tests.dashboard.asking import Asked, FakeGateway
from tests.dashboard.eventful import call, hostile_gaps, search, write
from tests.dashboard.test_screens import Elements, view
from toolcrib.dashboard.backends import watch_nothing
from toolcrib.dashboard.event_queries import EventQueries
from toolcrib.dashboard.gap_report import FEWEST_CALLS, SOON_S, gap_report
from toolcrib.dashboard.operations import Overview
from toolcrib.dashboard.screens.gaps import FEW, LISTS, MANY, gaps_screen
from toolcrib.settings import ObserveSettings, Settings
from toolcrib.store import Rollup, RollupKey

NOW = time.time()
QUIET = view(Overview(has_gateway=True))
VAIN = {"hits": ["stripe_update"], "confidence": "low", "chance": 0.31}


def test_searches_that_nothing_answers_are_counted_by_their_texts():
    events = {
        1: search("Cancel  subscription", facts=VAIN),
        2: search("cancel subscription", facts={**VAIN, "hits": ["stripe_cancel"]}),
        3: search("nothing at all", code="nothing_found", facts={"hits": []}),
        4: search("", facts=VAIN),
        5: search("", facts=VAIN),
        6: search("", facts=VAIN),
        7: search("found"),
    }
    unanswered = gap_report(events, [], {}).unanswered
    assert [(each.text, each.count) for each in unanswered] == [
        ("cancel subscription", 2),
        ("nothing at all", 1),
        ("", 3),
    ]
    assert (unanswered[0].nearest, unanswered[0].chance) == ("stripe_cancel", 0.31)
    assert unanswered[0].id == 2


def test_a_search_is_used_if_the_same_caller_calls_a_hit_soon_after():
    events = {1: search("mail", NOW)}
    for calls, used in (
        ([call(at=NOW + 5)], True),
        ([call(at=NOW - 5)], False),
        ([call(at=NOW + SOON_S + 1)], False),
        ([call("another", NOW + 5)], False),
        ([call(at=NOW + 5, caller="key:bob@default")], False),
    ):
        times = [(each.caller, each.name, each.at) for each in calls]
        assert bool(gap_report(events, times, {}).uncalled) is not used
        assert not gap_report(events, times, {}).unanswered


def total(
    name: str, server: str, count: int, bucket: int, code: str = ""
) -> dict[RollupKey, Rollup]:
    buckets = [0] * 16
    buckets[bucket] = count
    return {RollupKey(0, "call", name, server, code): Rollup(count, 0.0, buckets)}


def test_tools_are_slow_or_fail_and_servers_with_them():
    report = gap_report(
        {},
        [],
        {
            **total("slow", "git", 9, 11),
            **total("slow", "git", 1, 11, "timeout"),
            **total("seldom", "git", FEWEST_CALLS - 1, 12),
            **total("fast", "mail", 90, 2),
            **total("fast", "mail", 5, 2, "failed"),
            **total("fast", "mail", 1, 2, "bad_arguments"),
        },
    )
    assert [each.name for each in report.slow] == ["slow"]
    assert 2.5 < report.slow[0].p95_s <= 5.0
    assert [(each.name, each.errors, each.calls) for each in report.failing] == [
        ("fast", 6, 96),
        ("slow", 1, 10),
    ]
    assert report.failing[0].codes == (("failed", 5), ("bad_arguments", 1))
    assert [(each.server, each.errors) for each in report.servers] == [("mail", 6), ("git", 1)]


def test_the_log_is_asked_for_seven_days_and_the_gateway_for_texts():
    old = NOW - 8 * 86_400
    ids = write(
        [
            search("too old", old, facts=VAIN),
            search("", NOW - 60, facts=VAIN),
            search("found", NOW - 50),
            call(at=NOW - 40, seconds=9.0, code="timeout"),
        ]
    )

    def ask(do: str, /, **more: object) -> object:
        assert do == "queries"
        return {"texts": {str(ids[1]): "remembered"}}

    log, report = EventQueries(Settings, ask, watch_nothing).gaps()  # type: ignore[arg-type]
    assert (log, report.searches) == ("on", 2)
    assert [each.text for each in report.unanswered] == ["remembered"]
    assert report.uncalled == ()
    assert [each.name for each in report.failing] == ["mail_send"]


def test_the_screen_says_what_to_do_about_texts_that_are_not_kept():
    text = Elements(str(gaps_screen(QUIET, hostile_gaps("x")))).text
    assert "observe.keep_queries = true" in text
    assert "text not known" in text
    kept = hostile_gaps("x")
    kept = type(kept)(kept.log, kept.report, keeps_texts=True)
    assert "keep_queries" not in Elements(str(gaps_screen(QUIET, kept))).text


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_paged(name: str):
    few = str(gaps_screen(QUIET, hostile_gaps("x", 120)))
    assert few.count("<tr>") <= len(LISTS) * (FEW + 1)
    assert f"/gaps?list={name}&amp;from=0" in few
    first = str(gaps_screen(QUIET, hostile_gaps("x", 120, name)))
    assert first.count("<tr>") == MANY + 1
    assert f"/gaps?list={name}&amp;from=50" in first
    assert 'href="/gaps"' in first


def test_every_query_leads_to_why_and_nothing_is_well():
    page = str(gaps_screen(QUIET, hostile_gaps("cancel & go")))
    assert 'href="/why?query=cancel+%26+go1"' in page
    asked = Asked()
    write([search("x", NOW), call(at=NOW + 1)])
    text = Elements(asked.get("/gaps", asked.logged_in()).body.decode()).text
    assert "No gaps" in text


def test_pages_are_there_by_their_addresses():
    gateway = FakeGateway()
    asked = Asked(gateway)
    cookie = asked.logged_in()
    write([search(f"q{number}", NOW, facts=VAIN) for number in range(60)])
    assert b"All 60" in asked.get("/gaps", cookie).body
    second = asked.get("/gaps?list=unanswered&from=50", cookie).body.decode()
    assert second.count("<tr>") == 11
    for wrong in ("list=nix", "list=unanswered&from=x", "list=__class__"):
        assert asked.get(f"/gaps?{wrong}", cookie).status == 200
    beyond = asked.get("/gaps?list=unanswered&from=900", cookie)
    assert beyond.status == 200
    off = Settings(observe=ObserveSettings(enabled=False))
    asked.operations.events.settings = lambda: off
    assert b"observe.enabled" in asked.get("/gaps", cookie).body
