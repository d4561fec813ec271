"""What pages of others do to a dashboard that is open and logged in, in the same browser.

They know its random name and port, and the ticket and token of a button: more than they could.
"""

from collections.abc import Generator, Mapping
from urllib.parse import urlencode, urlsplit

import pytest

from tests.browser.attacker import Attacker, attacker
from tests.browser.tab import Tab, Visitor
from tests.browser.world import ClientThread, World, one_waiting

pytestmark = pytest.mark.browser

SEND = """async ([address, body, mode]) => {
  const kind = "application/x-www-form-urlencoded";
  const options = { method: body ? "POST" : "GET", credentials: "include", mode };
  if (body) { options.body = body; options.headers = { "content-type": kind }; }
  try {
    const answer = await fetch(address, options);
    return [answer.type, answer.status, await answer.text()];
  } catch (error) {
    return ["refused", 0, ""];
  }
}"""
FORM = """([address, fields]) => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = address;
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement("input");
    [input.name, input.value] = [name, value];
    form.append(input);
  }
  document.body.append(form);
  form.submit();
}"""
FRAME = """(address) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.onload = () => done(frame.contentDocument?.body.innerHTML ?? "closed");
  frame.src = address;
  document.body.append(frame);
})"""


class Prey:
    """A dashboard with a button to allow a call, and what the button sends."""

    def __init__(self, world: World, operator: Tab, ticket: str) -> None:
        self.operator, self.origin = operator, operator.origin
        self._world, self.ticket = world, ticket
        operator.open("/inbox")
        form = f'[data-key="{ticket}"] form[action="/act/allow_call"] [name=token]'
        token = operator.page.locator(form).input_value()
        self.fields: Mapping[str, str] = {"subject": ticket, "token": token}

    @property
    def button(self) -> str:
        return f"{self.origin}/act/allow_call"

    @property
    def waits(self) -> bool:
        return self.ticket in self._world.waiting()

    @property
    def name(self) -> str:
        host = urlsplit(self.origin).hostname
        assert host
        return host


@pytest.fixture
def prey(world: World, client: ClientThread, operator: Tab) -> Prey:
    return Prey(world, operator, one_waiting(world, client))


@pytest.fixture
def enemy() -> Generator[Attacker]:
    with attacker() as made:
        yield made


HOSTS = ["127.0.0.1", "localhost", "tc-00000000.localhost", "the same name"]


@pytest.fixture(params=HOSTS)
def enemy_page(
    request: pytest.FixtureRequest, visitor: Visitor, prey: Prey, enemy: Attacker
) -> Tab:
    """A page of somebody else, in a tab beside the dashboard's."""
    host = prey.name if request.param == "the same name" else request.param
    tab = visitor.tab()
    tab.page.goto(enemy.at(host))
    return tab


@pytest.mark.plan(91)
def test_no_page_of_another_port_reads_or_acts_by_fetch(prey: Prey, enemy_page: Tab):
    body = urlencode(prey.fields)
    for mode in ("cors", "no-cors"):
        for path in ("/", "/inbox", "/pulse", "/login", "/static/live.js"):
            kind, status, text = enemy_page.page.evaluate(SEND, [prey.origin + path, "", mode])
            assert (kind, status, text) in (("refused", 0, ""), ("opaque", 0, ""))
        enemy_page.page.evaluate(SEND, [prey.button, body, mode])
    assert prey.waits
    answer = prey.operator.page.evaluate(SEND, [prey.button, body, "same-origin"])
    assert answer[1] == 200, "what they sent was good, but for who sent it"
    assert not prey.waits


@pytest.mark.plan(91)
def test_no_page_of_another_port_acts_by_a_form_or_shows_ours_in_a_frame(
    prey: Prey, enemy_page: Tab
):
    page = enemy_page.page
    assert "mcp_mail" not in page.evaluate(FRAME, f"{prey.origin}/inbox")
    assert all("Arguments" not in frame.content() for frame in page.frames)
    with page.expect_response(prey.button) as answer:
        page.evaluate(FORM, [prey.button, prey.fields])
    assert answer.value.status in (401, 403)
    assert prey.waits
    assert "Arguments" in prey.operator.page.content(), "its own page shows them"


@pytest.mark.plan(91)
def test_a_link_on_another_page_leads_to_nothing(prey: Prey, enemy_page: Tab):
    with enemy_page.page.expect_navigation() as answer:
        enemy_page.page.evaluate("(address) => { location = address }", f"{prey.origin}/inbox")
    assert answer.value.status in (401, 403)
    assert "mcp_mail" not in enemy_page.page.content()


@pytest.mark.plan(91)
def test_the_cookie_is_sent_to_no_other_address_of_this_machine(
    prey: Prey, visitor: Visitor, enemy: Attacker
):
    tab = visitor.tab()
    for host in ("127.0.0.1", "localhost", "tc-00000000.localhost", f"x.{prey.name}"):
        tab.page.goto(enemy.at(host))
    assert len(enemy.heard) >= 4
    assert not [each for each in enemy.heard if "cookie" in each]


@pytest.mark.plan(92)
def test_a_name_that_comes_to_lead_here_is_not_served(prey: Prey, visitor: Visitor):
    rebound = prey.origin.replace(prey.name, "rebound.example")
    tab = visitor.tab()
    tab.page.route(f"{rebound}/lure", lambda route: route.fulfill(body="<p>Hello"))
    tab.page.goto(f"{rebound}/lure")
    for path in ("/", "/inbox", "/login", "/pulse"):
        kind, status, text = tab.page.evaluate(SEND, [rebound + path, "", "same-origin"])
        assert (kind, status) == ("basic", 421), "the name does lead to the dashboard"
        assert "mcp_mail" not in text
    body = urlencode(prey.fields)
    button = f"{rebound}/act/allow_call"
    assert tab.page.evaluate(SEND, [button, body, "same-origin"])[1] == 421
    assert prey.waits
