"""What clients do appears on an open page by itself."""

import time
from contextlib import closing
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.browser.tab import Tab, new_visitor
from tests.browser.world import ClientThread, World, client_of, code_of
from tests.defaults import RETENTION
from tests.waiting import HANG_S
from toolcrib.model import Event
from toolcrib.store import EventFile

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_a_search_and_a_call_of_a_client_appear_as_they_come(
    world: World, client: ClientThread, operator: Tab
):
    operator.open("/live")
    words = f"find a note about {uuid4().hex[:8]}"
    client.call("tool_search", {"query": words}).result(HANG_S)
    operator.page.get_by_text(words).first.wait_for()
    called = client.call_through("mcp_notes_read_note", id="7").result(HANG_S)
    assert code_of(called) in ("", "changed")
    operator.page.get_by_text("mcp_notes_read_note").first.wait_for()
    assert operator.troubles == []


def test_a_client_of_the_modern_era_is_seen_too(world: World, operator: Tab):
    operator.open("/live")
    words = f"book a meeting {uuid4().hex[:8]}"
    with client_of(world, "2026-07-28") as client:
        client.call("tool_search", {"query": words}).result(HANG_S)
        operator.page.get_by_text(words).first.wait_for()


def test_a_search_opens_its_story_and_the_keyboard_closes_it(
    world: World, client: ClientThread, operator: Tab
):
    operator.open("/live?kind=search")
    page, words = operator.page, f"archive a mail about {uuid4().hex[:8]}"
    client.call("tool_search", {"query": words}).result(HANG_S)
    link = page.get_by_role("link", name=words)
    link.focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("heading", name="What happened").wait_for()
    assert words in drawer.inner_text()
    assert "was shown" in drawer.inner_text()
    assert not operator.barriers()
    why = drawer.get_by_role("link", name="Why these?").last
    assert (why.get_attribute("href") or "").startswith("/why?query=archive+a+mail+about+")
    page.keyboard.press("Escape")
    drawer.wait_for(state="hidden")
    assert words in page.evaluate("document.activeElement.textContent")
    assert operator.troubles == []


def test_what_comes_during_a_pause_waits(world: World, client: ClientThread, operator: Tab):
    operator.open("/live?kind=search")
    page, words = operator.page, f"find the note {uuid4().hex[:8]}"
    page.get_by_role("button", name="Pause").click()
    client.call("tool_search", {"query": words}).result(HANG_S)
    page.get_by_text("Paused, 1 new").wait_for()
    assert not page.get_by_text(words).count()
    page.get_by_role("button", name="Go on").click()
    page.get_by_text(words).wait_for()
    assert operator.troubles == []


def test_twenty_thousand_events_leave_a_page_that_goes_on(
    world: World, client: ClientThread, operator: Tab
):
    operator.open("/live")
    page, last = operator.page, f"the_last_{uuid4().hex[:8]}"
    client.call("tool_search", {"query": "mark that the stream runs"}).result(HANG_S)
    page.get_by_text("mark that the stream runs").first.wait_for()
    every = [Event(time.time(), "call", "ann", name=f"tool_{n}") for n in range(20_000)]
    with closing(EventFile(world.events, RETENTION)) as log:
        for start in range(0, len(every), 2_000):
            log.write(every[start : start + 2_000])
        log.write([Event(time.time(), "call", "ann", name=last)])
    page.get_by_text(last).wait_for()
    assert 1 < page.locator("#rows tr").count() <= 300
    page.get_by_text("came too fast to be shown").wait_for()
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Paused").wait_for()
    assert operator.troubles == []


def test_without_a_script_it_is_a_list_with_filters(
    browser: "Browser", world: World, client: ClientThread, operator: Tab
):
    client.call("tool_search", {"query": "read it without a script"}).result(HANG_S)
    state = operator.page.context.storage_state()
    operator.page.get_by_role("link", name="Live").click()
    operator.page.get_by_text("read it without a script").first.wait_for()
    with new_visitor(browser, java_script_enabled=False, storage_state=state) as visitor:
        tab = visitor.tab()
        tab.page.goto(f"{operator.origin}/live")
        assert not tab.page.get_by_role("button", name="Pause").is_visible()
        tab.page.get_by_label("Kind").select_option("search")
        tab.page.get_by_role("button", name="Show").click()
        tab.page.get_by_text("read it without a script").first.click()
        tab.page.wait_for_url("**/event?id=*")
        assert "What happened" in tab.page.inner_text("main")
