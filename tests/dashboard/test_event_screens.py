"""The screens about events: what they say, where they lead, and that they stay small."""

import re
import time

import pytest

from tests.dashboard.asking import Asked, status
from tests.dashboard.eventful import (
    KINDS,
    call,
    hostile_clients,
    hostile_conversation,
    hostile_event,
    hostile_gaps,
    listed,
    live_events,
    search,
    write,
)
from tests.dashboard.test_screens import BAD, MOST_PAGE, Elements, view
from toolcrib.dashboard.client_queries import ProfileTools
from toolcrib.dashboard.event_queries import DayFigures, EventPage, EventStory, HourTokens
from toolcrib.dashboard.operations import Overview
from toolcrib.dashboard.screens.clients import clients_screen, conversation_screen, profile_screen
from toolcrib.dashboard.screens.gaps import LISTS, gaps_screen
from toolcrib.dashboard.screens.home import HomeFacts, home_screen, short_number
from toolcrib.dashboard.screens.live import LiveChoice, LiveEvents, live_screen
from toolcrib.dashboard.screens.story import story_screen
from toolcrib.model import Event

HUGE = (BAD * 12)[:1000]
QUIET = view(Overview(has_gateway=True, servers=(status(),)))
HOURS = tuple(HourTokens(hour, 80_000, 2_000) for hour in range(24))


def test_home_tells_the_day_and_how_tokens_were_counted():
    day = DayFigures("on", 412, 188, 4, 0.31, HOURS, "counted with o200k_base")
    page = str(home_screen(QUIET, HomeFacts((), day)))
    text = Elements(page).text
    for words in ("412 searches", "188 calls", "4 errors", "310 ms p95", "1.9M tokens saved"):
        assert words in text
    assert "counted with o200k_base; per tools/list seen; prompt caches are not seen" in text
    assert page.count("<rect") == 25
    assert 'role="img" aria-label="1.9M tokens saved, by the hour; at most 78,000"' in page


def test_home_is_quiet_about_what_did_not_happen():
    text = Elements(str(home_screen(QUIET))).text
    assert "24 hours" not in text
    off = Elements(str(home_screen(QUIET, HomeFacts((), DayFigures("off"))))).text
    assert "observe.enabled" in off
    nothing_saved = DayFigures("on", 1, 0, 0, 0.0, (HourTokens(1, 5, 9),), "estimated")
    assert "-4 tokens saved" in Elements(str(home_screen(QUIET, HomeFacts((), nothing_saved)))).text


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0"), (999, "999"), (1_900_000, "1.9M"), (-2_500, "-2.5k")]
)
def test_a_number_is_short(number: int, words: str):
    assert short_number(number) == words


def test_live_names_what_happened_and_leads_to_its_story():
    events = {
        3: search("mail an invoice"),
        2: call("send_invoice", code="timeout"),
        1: listed(90_000, 2_000),
    }
    page = str(live_screen(QUIET, live_events(events)))
    text = Elements(page).text
    for words in ("“mail an invoice”", "1 hit, high .93", "13 ms", "cursor", "timeout", "210 ms"):
        assert words in text
    assert "5 of 812 tools listed" in text
    assert re.findall(r'href="(/event\?id=\d)"', page) == [f"/event?id={id}" for id in (3, 2, 1)]
    assert 'data-stream="/stream?after=0"' in page
    chosen = LiveEvents(LiveChoice("call"), EventPage("on", events, newest=9))
    assert 'data-stream="/stream?kind=call&amp;after=9"' in str(live_screen(QUIET, chosen))
    assert page.count('<tr class="bad"') == 1


def test_an_older_page_is_not_streamed_to_and_keeps_what_was_chosen():
    choice = LiveChoice("call", "a&b", "mail", "failed", before=90)
    found = EventPage("on", {id: call() for id in range(89, 39, -1)}, more=True)
    page = str(live_screen(QUIET, LiveEvents(choice, found)))
    assert "data-stream" not in page
    chosen = "kind=call&amp;client=a%26b&amp;server=mail&amp;outcome=failed"
    assert f'href="/live?{chosen}"' in page
    assert f'href="/live?{chosen}&amp;before=40"' in page
    assert page.count("selected") == 4


def test_where_a_row_has_no_room_the_next_page_begins_with_it():
    events = {id: hostile_event("search", "<" * 1000) for id in range(100, 50, -1)}
    page = str(live_screen(QUIET, live_events(events)))
    shown = [int(id) for id in re.findall(r'data-event="(\d+)"', page)]
    assert len(shown) < 50
    assert f"before={shown[-1]}" in page


@pytest.mark.parametrize("text", [HUGE, "<" * 1000, "\u200b" * 1000, "&" * 1000])
def test_no_page_is_large_whatever_is_in_it(text: str):
    overview = Overview(True, (), tuple(status(f"{text[:120]}{number}") for number in range(100)))
    large = view(overview)
    some = {id: hostile_event(KINDS[id % len(KINDS)], text) for id in range(200, 0, -1)}
    pages = [
        live_screen(large, live_events(some, text[:200])),
        story_screen(large, EventStory(100, dict(reversed(some.items())))),
        home_screen(large, HomeFacts((), DayFigures("on", 1, 2, 1, 0.1, HOURS, text[:128]))),
        gaps_screen(large, hostile_gaps(text, 500)),
        *(gaps_screen(large, hostile_gaps(text, 500, only)) for only in LISTS),
        clients_screen(large, hostile_clients(text, 300)),
        profile_screen(large, ProfileTools(text[:64], [text] * 100, 900)),
        conversation_screen(large, hostile_conversation(text, 25)),
    ]
    for each in pages:
        assert len(str(each).encode()) < MOST_PAGE


def test_a_story_goes_from_the_search_to_the_call():
    at = time.time()
    start = Event(at + 0.1, "server", server="mail", seconds=1.2, code="started")
    facts = {"pin": "p", "verdict": "asked, allowed by you", "effect": "unknown", "repaired": 1}
    called = call("send_invoice", at, code="timeout", seconds=2.5, facts=facts)
    shown = Event(at, "reveal", conversation="c1", facts={"tools": ["send_invoice"], "tokens": 310})
    events = {1: search("mail an invoice & more"), 2: shown, 3: called}
    page = str(story_screen(QUIET, EventStory(3, events, (start,))))
    text = Elements(page).text
    steps = [text.index(words) for words in ("searched", "was shown", "called")]
    assert steps == sorted(steps)
    for words in (
        "Rulesasked, allowed by you",
        "Repaired1 argument put right",
        "Its start1.2 s",
        "Took2.5 s",
        "Endedtimeout (unknown)",
        "Tokens310",
    ):
        assert words in text
    assert 'href="/why?query=mail+an+invoice+%26+more"' in page
    assert page.count('aria-current="true"') == 1


def test_a_long_story_is_told_around_its_event():
    events = {id: call(f"t{id}") for id in range(1, 101)}
    text = Elements(str(story_screen(QUIET, EventStory(50, events)))).text
    assert "t50" in text
    assert "34 earlier ones are not shown" in text
    assert "35 later ones are not shown" in text
    assert "t99" not in text


def test_the_pages_are_there_by_their_addresses():
    asked = Asked()
    cookie = asked.logged_in()
    ids = write([search("mail an invoice"), call("send_invoice"), listed(90_000, 2_000)])
    assert b"88.0k" in asked.get("/", cookie).body
    assert b"send_invoice" in asked.get("/live?kind=call&before=x", cookie).body
    assert b"send_invoice" not in asked.get("/live?kind=search", cookie).body
    assert b"send_invoice" in asked.get(f"/event?id={ids[0]}", cookie).body
    for wrong in ("", "0", "x", "-1", "9" * 40, "1&id=2"):
        assert b"No such event" in asked.get(f"/event?id={wrong}", cookie).body
    for choice in ("kind=nix", "outcome=nix", f"before={'9' * 30}"):
        assert b"send_invoice" in asked.get(f"/live?{choice}", cookie).body
