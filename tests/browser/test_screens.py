"""Every screen in a real browser: it loads quietly, for everybody, at every width."""

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from tests.browser.tab import Tab, new_visitor
from tests.browser.world import ClientThread, World, one_waiting
from toolcrib.dashboard.screens import SCREENS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

FIELDS = {
    "/event": "?id=1",
    "/profile": "?name=search",
    "/server": "?name=mail",
    "/why": "?query=send+a+mail+to+Ann&tool=mcp_mail_search_mail&second=rrf",
    "/tool": "?name=mcp_mail_search_mail",
}
"""What stands behind the path of a screen that shows one thing."""
ADDRESSES = [path + FIELDS.get(path, "") for path in SCREENS]
PHONE = {"viewport": {"width": 320, "height": 640}}
STOPS = """() => [...document.querySelectorAll(
  "a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((each) => !each.disabled && each.type !== "hidden" && each.checkVisibility()
    && !each.closest("[inert]"))"""
LEFT = f"""() => {{
  globalThis.reached ??= new Set();
  globalThis.reached.add(document.activeElement);
  return ({STOPS})().filter((each) => !globalThis.reached.has(each)).map((each) => each.outerHTML);
}}"""
RINGLESS = """() => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
  const ringed = outlineStyle !== "none" && outlineWidth !== "0px" || boxShadow !== "none";
  return ringed ? "" : document.activeElement.outerHTML;
}"""


@pytest.fixture(scope="module", autouse=True)
def busy(world: World, client: ClientThread) -> None:
    """There is something to see: a call that waits, a definition that has changed."""
    one_waiting(world, client)
    world.define("notes", "read_note", description="Read one note\u200b, and all others.")
    client.call("tool_search", {"query": "send a mail"}).result()
    client.call_through("mcp_mail_search_mail", query="invoice").result()


@pytest.fixture
def phone(browser: "Browser", world: World) -> Generator[Tab]:
    with new_visitor(browser, **PHONE) as visitor:
        yield visitor.log_in(world.new_link())


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_screen_is_quiet_and_has_no_barriers_in_light_and_dark(operator: Tab, address: str):
    for scheme in ("light", "dark"):
        operator.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert operator.open(address) == 200
        operator.page.wait_for_load_state("load")
        assert not operator.barriers(), scheme
    assert operator.troubles == []


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_screen_fits_a_phone(phone: Tab, address: str):
    assert phone.open(address) == 200
    assert not phone.wider()
    assert phone.troubles == []


@pytest.mark.parametrize("address", ADDRESSES)
def test_everything_on_a_screen_is_reached_by_the_keyboard_and_seen_there(
    operator: Tab, address: str
):
    operator.page.clock.install()  # nothing is replaced meanwhile
    operator.open(address)
    left = [""]
    count: int = operator.page.evaluate(f"({STOPS})().length")
    assert count
    ringless: list[str] = []
    for _ in range(3 * count):  # what streams in meanwhile has its turn in the next round
        operator.page.keyboard.press("Tab")
        ringless.append(operator.page.evaluate(RINGLESS))
        left: list[str] = operator.page.evaluate(LEFT)
        if not left:
            break
    assert left == []
    assert not any(ringless)


def test_a_conversation_is_quiet_and_has_no_barriers(operator: Tab):
    operator.open("/clients")
    operator.page.locator('a[href^="/conversation?"]').first.click()
    operator.page.wait_for_url("**/conversation?*")
    assert not operator.barriers()
    assert not operator.wider()
    assert operator.troubles == []


def test_the_tests_see_what_is_wrong_with_a_page(operator: Tab):
    operator.page.evaluate("""() => {
      const picture = document.createElement("img");
      picture.src = "http://elsewhere.example/";
      picture.style.minWidth = "5000px";
      document.body.append(picture);
    }""")
    assert operator.wider()
    assert any("image-alt" in each for each in operator.barriers())
    operator.page.evaluate("() => console.error('bad')")
    assert any("CSP" in each for each in operator.troubles)
    assert "bad" in operator.troubles
