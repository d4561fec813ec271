"""Strangers' text in every field of every screen, in a real browser: it does nothing there.

Two walls are tried one by one: text is escaped, and the browser is told to run nothing of it. A
third is that the page's own script, which fetches pages anew, makes no element of it either.
"""

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from tests.browser.tab import Tab, Visitor
from tests.browser.world import Link
from tests.dashboard.asking import FakeGateway
from tests.dashboard.hostile import EVIL
from tests.dashboard.test_screens import HOSTILE_DATA, hostile
from tests.waiting import until
from toolcrib.dashboard.actions import OperatorActions
from toolcrib.dashboard.login import BrowserSession, Logins
from toolcrib.dashboard.operations import Operations
from toolcrib.dashboard.process import listen, new_origins
from toolcrib.dashboard.screens import SCREENS
from toolcrib.dashboard.server import BrowserRequest, Dashboard
from toolcrib.http import WebLimits, WebServer
from toolcrib.settings import DashboardSettings, Settings

pytestmark = pytest.mark.browser

OURS = "/static/"
PAUSE_MS = 2000
HIDDEN = "\u202e\u200b\u2066\u2028"
RAW = EVIL + "<svg onload=alert(3)><b onmouseover=alert(4) id=raw>raw</b><iframe srcdoc='x'>"


@dataclass(frozen=True)
class HostileDashboard(Dashboard):
    """One whose pages have hostile text in every field; with `raw`, as if nobody had escaped it.

    The first pulse of a session tells of a change, so that the page fetches itself anew.
    """

    raw: str = ""
    told: set[BrowserSession] = field(default_factory=set[BrowserSession])

    def _page(self, request: BrowserRequest, session: BrowserSession) -> bytes:
        view = replace(hostile(), path=request.path, token=session.token, mark="as it was")
        page = str(SCREENS[request.path].show(view, HOSTILE_DATA[request.path]))
        whole = page.encode("utf-8", "replace")
        return whole.replace(b"</main>", self.raw.encode() + b"</main>")

    def _pulse(self, request: BrowserRequest, session: BrowserSession) -> bytes:  # noqa: ARG002
        mark = "as it was" if session in self.told else "changed"
        self.told.add(session)
        return json.dumps({"mark": mark, "waiting": 1}).encode()


@dataclass(frozen=True)
class Served:
    """Where it is."""

    origin: str
    logins: Logins

    def new_link(self) -> Link:
        return Link(self.origin, self.logins.new_link())


@contextmanager
def serving(raw: str = "") -> Generator[Served]:
    """A hostile dashboard on a thread of its own: Playwright has the loop of this one."""
    [listening, *more] = listen(0)
    origins = new_origins(listening.getsockname()[1])
    operations, logins = Operations(Settings, FakeGateway()), Logins()
    actions = OperatorActions(operations)
    app = HostileDashboard(operations, actions, logins, DashboardSettings(), origins, raw)
    web = WebServer(app, WebLimits(50, 8))
    thread = threading.Thread(target=lambda: asyncio.run(web.serve_on(listening, *more)))
    thread.start()
    until(lambda: web.started, "it serves")
    try:
        yield Served(next(iter(origins.values())), logins)
    finally:
        web.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def escaped() -> Generator[Served]:
    with serving() as made:
        yield made


@pytest.fixture(scope="module")
def unescaped() -> Generator[Served]:
    with serving(RAW) as made:
        yield made


def sources(tab: Tab) -> list[str]:
    return tab.page.evaluate("[...document.scripts].map((each) => each.getAttribute('src'))")


def open_and_look_again(tab: Tab, path: str) -> None:
    """Open a page, and let time pass until its script has fetched it anew."""
    tab.page.clock.install()
    assert tab.open(path) == 200
    for awaited in (tab.origin + path, "**/pulse"):
        with tab.page.expect_response(awaited):
            tab.page.clock.run_for(PAUSE_MS)
        tab.page.wait_for_load_state()


@pytest.mark.plan(95)
@pytest.mark.parametrize("path", SCREENS)
def test_what_strangers_write_is_text_in_the_browser(visitor: Visitor, escaped: Served, path: str):
    tab = visitor.log_in(escaped.new_link())
    open_and_look_again(tab, path)
    assert tab.page.locator("img, iframe, object, style, [onerror], [onload]").count() == 0
    assert all(each.startswith(OURS) for each in sources(tab))
    text = tab.page.evaluate("document.body.innerText")
    assert "<img src=x onerror=alert(1)>" in text
    assert not set(HIDDEN) & set(text)
    assert "⟨U+202E⟩" in text
    assert (tab.dialogs, tab.troubles) == ([], [])


@pytest.mark.plan(95)
def test_even_what_nobody_escaped_runs_nothing(visitor: Visitor, unescaped: Served):
    tab = visitor.log_in(unescaped.new_link())
    open_and_look_again(tab, "/inbox")
    assert tab.page.locator("#raw").is_visible(), "it is an element here"
    tab.page.locator("#raw").hover()
    assert tab.dialogs == []
    assert any("script-src" in each for each in tab.troubles), "the browser had to be told"
