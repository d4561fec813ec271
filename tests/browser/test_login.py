"""Links, cookies and the two levels, as a browser has them."""

import pytest

from tests.browser.tab import Tab, Visitor
from tests.browser.world import ClientThread, World, one_waiting
from toolcrib.dashboard.login import ACT_S, VIEW_S

pytestmark = pytest.mark.browser


@pytest.mark.plan(94)
def test_a_link_logs_in_once_and_leaves_the_address(world: World, visitor: Visitor):
    link = world.new_link()
    tab = visitor.log_in(link)
    assert tab.page.locator("h1").inner_text()
    assert tab.troubles == []
    assert link.secret not in tab.page.url
    tab.page.go_back()
    assert link.secret not in tab.page.url
    again = visitor.tab()
    again.page.goto(link.address)
    again.page.get_by_text("This link was used").wait_for()
    assert link.secret not in again.page.url


@pytest.mark.plan(94)
def test_a_spent_link_lets_nobody_else_in(world: World, operator: Tab, visitor: Visitor):
    link = world.new_link()
    visitor.log_in(link)
    browser = visitor.context.browser
    assert browser
    other = Visitor(browser.new_context())
    tab = other.tab()
    tab.page.goto(link.address)
    tab.page.get_by_text("This link was used").wait_for()
    assert tab.open("/inbox") == 401
    assert other.context.cookies() == []
    other.context.close()


@pytest.mark.plan(94)
def test_after_a_quarter_of_an_hour_one_may_look_and_not_act(
    world: World, client: ClientThread, operator: Tab
):
    ticket = one_waiting(world, client)
    operator.open("/inbox")
    allow = operator.page.locator(f'[data-key="{ticket}"] button.primary')
    assert allow.is_enabled()
    with world.later(ACT_S):
        with operator.page.expect_response("**/act/allow_call") as refused:
            allow.click()
        assert refused.value.status == 403
        operator.page.get_by_text("Your link is older than 15 minutes").wait_for()
        operator.open("/inbox")
        assert operator.page.locator(f'[data-key="{ticket}"]').is_visible()
        assert operator.page.locator("form").count() == 0
        assert ticket in world.waiting()
        operator.page.goto(world.new_link().address)
        operator.page.wait_for_url("**/")
        operator.open("/inbox")
        assert allow.is_enabled()
    with world.later(ACT_S + VIEW_S):
        assert operator.open("/inbox") == 401


@pytest.mark.plan(98)
def test_the_cookie_is_out_of_reach_of_scripts_and_stays_in_the_browser_alone(operator: Tab):
    [cookie] = operator.page.context.cookies()
    wanted = {"httpOnly": True, "secure": True, "sameSite": "Strict"}
    assert {name: cookie.get(name) for name in wanted} == wanted
    assert operator.page.evaluate("document.cookie") == ""
    kept = "JSON.stringify({ ...localStorage, ...sessionStorage })"
    assert operator.page.evaluate(kept) == "{}"
