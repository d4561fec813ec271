"""A person's browser: its tabs, and what goes wrong in them without a word on the page."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scripts.install_browser import AXE
from tests.browser.world import Link
from tests.waiting import HANG_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

HANG_MS = HANG_S * 1000
ON_VIOLATION = """
document.addEventListener("securitypolicyviolation",
  (event) => console.error("CSP", event.violatedDirective, event.blockedURI, event.sample));
"""
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
WIDER = """() => [...document.querySelectorAll("*")]
  .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((each) => each.tagName + "." + each.className)"""


class Tab:
    """One page of a browser. `troubles`: what its console, its scripts and its policy complain of.

    A page that was refused is in the console too, by the browser's own words; so a test that is
    about refusals reads the status instead.
    """

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.troubles: list[str] = []
        self.dialogs: list[str] = []
        page.set_default_timeout(HANG_MS)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", self._on_dialog)

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def _on_dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    @property
    def origin(self) -> str:
        return self.page.evaluate("location.origin")

    def open(self, path: str) -> int:
        """Go to a page of the origin that it is at; the status of the answer."""
        answer = self.page.goto(self.origin + path)
        assert answer
        return answer.status

    def barriers(self) -> Sequence[str]:
        """What axe finds: rule and place of each."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("(rules) => axe.run(document, rules)", RULES)
        assert found["passes"]
        return [
            f"{each['id']}: {node['target']} {node['failureSummary']}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    def wider(self) -> Sequence[str]:
        """What sticks out to the right, if the page can be moved sideways."""
        element = "document.documentElement"
        moves = self.page.evaluate(f"{element}.scrollWidth > {element}.clientWidth")
        return (self.page.evaluate(WIDER) or ["the page"]) if moves else []


class Visitor:
    """A browser with an empty profile."""

    def __init__(self, context: "BrowserContext") -> None:
        self.context = context
        context.add_init_script(ON_VIOLATION)

    def tab(self) -> Tab:
        return Tab(self.context.new_page())

    def log_in(self, link: Link) -> Tab:
        """Open the link, as the terminal has it, and arrive at Home."""
        tab = self.tab()
        tab.page.goto(link.address)
        tab.page.wait_for_url(f"{link.origin}/")
        return tab


@contextmanager
def new_visitor(browser: "Browser", **options: Any) -> Generator[Visitor]:
    """Another person, who has gone when this ends."""
    context = browser.new_context(**options)
    try:
        yield Visitor(context)
    finally:
        context.close()
