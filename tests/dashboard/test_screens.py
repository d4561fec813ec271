"""The screens as functions: strangers' text is text, and a page says what to do."""

import re
from dataclasses import fields, replace
from html.parser import HTMLParser
from typing import Any

import htpy as h
import pytest

from tests.dashboard.asking import CALL, status
from tests.dashboard.eventful import (
    KINDS,
    hostile_clients,
    hostile_conversation,
    hostile_event,
    hostile_gaps,
    live_events,
)
from tests.dashboard.hostile import BAD, hostile_list, hostile_map, hostile_ranking, hostile_tool
from toolcrib.dashboard.actions import ServerTask
from toolcrib.dashboard.client_queries import ClientsView, ConversationView, ProfileTools
from toolcrib.dashboard.event_queries import DayFigures, EventStory, HourTokens
from toolcrib.dashboard.gap_report import GapReport
from toolcrib.dashboard.login import Notice
from toolcrib.dashboard.operations import (
    NO_DEFINITIONS,
    Definitions,
    Overview,
    ServerLogTail,
    WaitingCall,
)
from toolcrib.dashboard.page import MOST_SHOWN, PageView
from toolcrib.dashboard.rankings import RankingAnswer, RankingAsked
from toolcrib.dashboard.screens import SCREENS
from toolcrib.dashboard.screens.gaps import Gaps
from toolcrib.dashboard.screens.home import HomeFacts, home_screen
from toolcrib.dashboard.screens.inbox import LONGEST_SHOWN, inbox_screen, login_link
from toolcrib.dashboard.screens.servers import servers_screen
from toolcrib.dashboard.spelling import spelt, spelt_change, visible
from toolcrib.dashboard.tool_catalog import MapView, ToolFilter, ToolPage
from toolcrib.model import UnavailableServer
from toolcrib.review import Change, ReviewItem
from toolcrib.sources.mcp.outcome import StartFailure

HOSTILE_CHANGE = Change(BAD, BAD, f"{BAD}x")
HOSTILE_ITEM = ReviewItem(
    BAD, BAD, BAD, "changed", BAD, (BAD,), (HOSTILE_CHANGE,), (BAD,), (HOSTILE_CHANGE,)
)
MOST_PAGE = 60_000
QUIET = (
    "Nothing (waits|was asked|has happened)|No (MCP server|such|tools|tool yet|client)|being made"
)
SCRIPTS = {"/map": ["/static/map.js"]}
CALLED = WaitingCall.of_json(CALL)
ITEM = ReviewItem(
    "mcp_mail_send",
    "mail",
    "send",
    "changed",
    "1a" * 32,
    ("zero-width",),
    (Change("tool.description", "Send a mail", "Send a mail⟨U+200B⟩ now"),),
)


def view(overview: Overview, **others: Any) -> PageView:
    """A page of somebody who may act."""
    values: dict[str, Any] = {"path": "/", "token": lambda *_: "t0ken", "acting_s": 600.0}
    return PageView(overview=overview, **{**values, **others})


def hostile() -> PageView:
    """A page on which all that a stranger can write is hostile."""
    why = UnavailableServer(BAD, BAD, BAD, BAD)
    failure = StartFailure("start_failed", BAD, 1.0)
    server = status(
        BAD, state="asleep", failure=failure, unavailable=why, starting=BAD, protocol=BAD
    )
    login = status(f"{BAD}2", state="needs_login")
    call = replace(CALLED, id=BAD, caller=BAD, name=BAD, description=BAD, arguments={BAD: [BAD]})
    return view(
        Overview(has_gateway=True, calls=(call,), servers=(server, login), problems=(BAD,)),
        notice=Notice(BAD, is_bad=True),
        mark=BAD,
        tasks={BAD: ServerTask(BAD, BAD, Notice(BAD)), f"{BAD}2": ServerTask(BAD, BAD)},
    )


HOSTILE_DATA: dict[str, Any] = {
    "/": HomeFacts((BAD,), DayFigures("on", 1, 2, 1, 0.1, (HourTokens(5, 9, 3),), BAD)),
    "/inbox": Definitions((HOSTILE_ITEM,), 2, (BAD,)),
    "/live": live_events({id: hostile_event(kind, BAD) for id, kind in enumerate(KINDS)}, BAD),
    "/event": EventStory(1, {id: hostile_event(kind, BAD) for id, kind in enumerate(KINDS)}),
    "/why": hostile_ranking(),
    "/gaps": hostile_gaps(BAD),
    "/clients": hostile_clients(BAD),
    "/profile": ProfileTools(BAD, [BAD] * 3, 9, 0, BAD),
    "/conversation": hostile_conversation(BAD),
    "/servers": None,
    "/server": ServerLogTail(BAD, (BAD,)),
    "/tools": hostile_list(),
    "/tool": hostile_tool(),
    "/map": hostile_map(),
}
NO_DATA: dict[str, Any] = {
    "/": HomeFacts(),
    "/inbox": NO_DEFINITIONS,
    "/live": live_events({}),
    "/event": EventStory(1, {}),
    "/why": RankingAnswer(RankingAsked()),
    "/gaps": Gaps("empty", GapReport(), keeps_texts=False),
    "/clients": ClientsView(),
    "/profile": ProfileTools("default", problem="no gateway runs; start it with `toolcrib serve`"),
    "/conversation": ConversationView("", {}),
    "/servers": None,
    "/server": ServerLogTail("gone"),
    "/tools": ToolPage(ToolFilter()),
    "/tool": None,
    "/map": MapView(None),
}


def shown(path: str, view: PageView, data: dict[str, Any]) -> str:
    """The page at a path."""
    return str(SCREENS[path].show(replace(view, path=path), data[path]))


class Elements(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.encode().decode())  # a plain text, as it comes over the wire

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.plan(95)
@pytest.mark.parametrize("path", SCREENS)
def test_whatever_strangers_write_is_text(path: str):
    page = Elements(shown(path, hostile(), HOSTILE_DATA))
    assert {tag for tag, _ in page.tags} & {"img", "iframe", "object", "style", "use"} == set()
    sources = [attributes.get("src") for tag, attributes in page.tags if tag == "script"]
    assert sources == ["/static/live.js", *SCRIPTS.get(path, ())]
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        address = attributes.get("href") or "/"
        assert address.startswith(("/", "#", "data:,")), address
    assert "<img src=x onerror=alert(1)>" in page.text


@pytest.mark.plan(95)
@pytest.mark.parametrize("path", SCREENS)
def test_what_hides_is_spelt_out_wherever_it_is_read(path: str):
    page = Elements(shown(path, hostile(), HOSTILE_DATA))
    assert not set("\u202e\u200b\u2066\x1b\x00\u2028") & set(page.text)
    assert "⟨U+202E⟩" in page.text
    assert "⟨U+200B⟩" in page.text


@pytest.mark.plan(95)
def test_every_field_of_what_is_decided_on_is_shown():
    for field in fields(CALLED):
        if field.name in ("id", "expires_s", "permission_kind"):
            continue
        value: Any = {"k": "s3same"} if field.name == "arguments" else "s3same"
        overview = Overview(has_gateway=True, calls=(replace(CALLED, **{field.name: value}),))
        assert "s3same" in Elements(str(inbox_screen(view(overview)))).text, field.name


def test_a_text_of_another_direction_keeps_to_itself():
    assert str(spelt("שלום")) == "<bdi>שלום</bdi>"
    assert str(spelt("a\u200bb")) == "<bdi>a<mark>⟨U+200B⟩</mark>b</bdi>"
    assert visible("tab\tline\nnul\x00") == "tab\tline\nnul⟨U+0000⟩"


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("read it", "read it aloud", "read it<strong> aloud</strong>"),
        ("same", "same", "same"),
        ("ab", "", "<strong>ab</strong>"),
        ("x⟨U+200B⟩y", "x⟨U+200C⟩y", "x<strong><mark>⟨U+200C⟩</mark></strong>y"),
        ("aa", "a", "a"),
    ],
)
def test_what_is_different_stands_out_and_nothing_is_lost(old: str, new: str, shown: str):
    text = new or old
    found = str(spelt_change(text, old if new else new))
    assert found == f'<bdi class="lines">{shown}</bdi>'
    assert re.sub("<[^>]*>", "", found) == text


def test_a_page_stays_small_and_says_what_is_left():
    many = tuple(replace(CALLED, id=f"{n:016x}", arguments={"t": "<" * 500}) for n in range(200))
    page = str(inbox_screen(view(Overview(has_gateway=True, calls=many))))
    assert len(page) < MOST_PAGE
    assert "more wait" in page
    servers = tuple(status(f"server-{n}") for n in range(300))
    assert len(str(servers_screen(view(Overview(True, (), servers))))) < MOST_PAGE
    assert MOST_SHOWN * 2 < MOST_PAGE


def test_the_question_for_a_program_tells_what_it_may_call_and_its_lines():
    told = {"may_call": ["mcp_shop_sell twice (write)"], "program": ["await shop.sell()", "1"]}
    asked = replace(CALLED, name="tool_run", description="Run a program.", arguments=told)
    page = Elements(str(inbox_screen(view(Overview(has_gateway=True, calls=(asked,))))))
    for each in ("tool_run", "Run a program.", "mcp_shop_sell twice (write)", "await shop.sell()"):
        assert each in page.text


def test_what_cannot_be_shown_whole_cannot_be_allowed_here():
    long = replace(CALLED, arguments={"text": "x" * LONGEST_SHOWN})
    page = str(inbox_screen(view(Overview(has_gateway=True, calls=(long,)))))
    assert "/act/allow_call" not in page
    assert "/act/deny_call" in page
    assert f"toolcrib approvals allow {CALLED.id}" in page
    change = Change("tool.description", "", "y" * 3 * LONGEST_SHOWN)
    waiting = Definitions((replace(ITEM, changes=(change,)),), 0)
    page = str(inbox_screen(view(Overview(has_gateway=True)), waiting))
    assert "/act/approve_definition" not in page
    assert "toolcrib review mail" in page


def test_a_definition_is_bound_to_its_whole_pin():
    page = str(inbox_screen(view(Overview(True)), Definitions((ITEM,), 0)))
    assert page.count(f'name="subject" value="{ITEM.pin}"') == 2
    assert "hidden in it" in page.lower()


@pytest.mark.parametrize("path", SCREENS)
@pytest.mark.parametrize("runs", [True, False])
def test_a_quiet_page_says_what_would_be_there(path: str, runs: bool):
    text = Elements(shown(path, view(Overview(has_gateway=runs)), NO_DATA)).text
    assert re.search(QUIET, text)
    if not runs and path in ("/", "/inbox", "/live", "/servers", "/gaps"):
        assert "toolcrib serve" in text


def test_home_names_what_needs_somebody():
    failure = StartFailure("start_failed", "no licence", 1.0)
    servers = (
        status("notion", waiting=2),
        status("linear", state="needs_login"),
        status("legacy", failure=failure),
    )
    overview = Overview(has_gateway=True, calls=(CALLED,), servers=servers)
    text = Elements(str(home_screen(view(overview)))).text
    for words in (
        "1call waits for your approval",
        "2definitions wait for review",
        "1server wants a login",
        "1server did not start",
    ):
        assert words in text
    assert overview.waiting == 4
    warned = home_screen(view(overview), HomeFacts(("playwright",)))
    assert "drive a browser" in Elements(str(warned)).text


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        ("ready", ["refresh", "stop", "disable"]),
        ("asleep", ["start", "disable"]),
        ("needs_login", ["log_in", "disable"]),
        ("disabled", ["enable"]),
    ],
)
def test_a_server_has_the_buttons_that_help(state: str, buttons: list[str]):
    page = str(servers_screen(view(Overview(True, (), (status(state=state),)))))
    assert re.findall(r'action="/act/(\w+)"', page) == buttons


def test_only_a_web_page_is_linked_to():
    for link in ("javascript:alert(1)", "data:text/html,x", "http://evil.example/", "", "//x"):
        assert login_link(link) is None
    assert 'rel="noopener noreferrer"' in str(h.div[login_link("https://id.example/authorize")])
