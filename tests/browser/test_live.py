"""What clients do appears on an open page by itself."""

from uuid import uuid4

import pytest

from tests.browser.tab import Tab
from tests.browser.world import ClientThread, World, client_of, code_of
from tests.waiting import HANG_S

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
