"""What the operator decides in the browser, and what comes of it at a real client."""

from uuid import uuid4

import pytest

from tests.browser.tab import Tab
from tests.browser.world import ClientThread, World, client_of, code_of, text_of
from tests.e2e.gateway.visits import ERAS
from tests.waiting import HANG_S, until

pytestmark = pytest.mark.browser


@pytest.mark.plan(100)
@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_waits_appears_by_itself_and_goes_on_when_it_is_allowed(
    world: World, operator: Tab, era: str
):
    operator.open("/inbox")
    with client_of(world, era) as client:
        for button, code in (("Allow once", ""), ("Deny", "approval_denied")):
            operator.page.locator("nav a").first.focus()
            to = f"{uuid4().hex}@crib.example"
            call = client.call_through("mcp_mail_send_mail", to=to, subject="", body="<b>nine</b>")
            item = operator.page.locator(".item", has_text=to)
            item.wait_for()
            assert "<b>nine</b>" in item.inner_text()
            assert operator.page.evaluate("document.activeElement.closest('nav') !== null")
            assert not call.done()
            item.get_by_role("button", name=button).click()
            operator.page.locator(".notice.good").wait_for()
            result = call.result(HANG_S)
            assert code_of(result) == code
            assert code or text_of(result) == "Sent."
    assert operator.troubles == []


@pytest.mark.plan(96)
def test_a_review_in_the_browser_makes_a_changed_tool_callable_again(
    world: World, client: ClientThread, operator: Tab
):
    def called() -> str:
        return code_of(client.call_through("mcp_calendar_find_slot", people="us").result(HANG_S))

    assert called() == ""
    for button, code in (("Reject", "unknown_tool"), ("Approve", "")):
        words = f"Find a free hour {uuid4().hex}"
        world.define("calendar", "find_slot", description=f"{words}\u200b now.")
        until(lambda: called() == "changed", "the gateway has the new definition")
        operator.open("/inbox")
        item = operator.page.locator(".item", has_text=words)
        assert f"{words}⟨U+200B⟩ now." in item.inner_text()
        assert "Find a free hour" in item.locator("del").inner_text()
        item.get_by_role("button", name=button).click()
        operator.page.locator(".notice.good").wait_for()
        assert called() == code
    assert operator.troubles == []


def test_a_server_is_stopped_and_started_and_switched(world: World, operator: Tab):
    world.ask("refresh", servers=["billing"])
    for button, state in (
        ("Stop", "asleep"),
        ("Start", "up"),
        ("Disable", "disabled"),
        ("Enable", "asleep"),
    ):
        operator.open("/servers")
        row = operator.page.locator('[data-key="server billing"]')
        row.get_by_role("button", name=button).click()
        row.locator(".state-word", has_text=state).wait_for()
    operator.open("/server?name=billing")
    assert "listening on stdio" in operator.page.locator("pre.log").inner_text()
    assert operator.troubles == []
