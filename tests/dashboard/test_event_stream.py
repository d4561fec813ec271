"""Live through the app: what comes is streamed as rows, in batches, and nobody is frozen."""

import asyncio
import json
import re
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.dashboard.asking import HOST, Asked
from tests.dashboard.eventful import call, search, write
from tests.dashboard.test_screens import BAD, Elements
from tests.waiting import until_async
from toolcrib.dashboard import event_queries, event_stream
from toolcrib.dashboard.event_stream import MOST_ROWS, EventFollower
from toolcrib.dashboard.headers import COOKIE, SECURITY_HEADERS
from toolcrib.dashboard.login import VIEW_S
from toolcrib.errors import ConfigError
from toolcrib.http import Message
from toolcrib.observe import LoggedEvent

MOST_MESSAGE = 60_000


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queries, "POLL_S", 0.01)
    monkeypatch.setattr(event_stream, "BATCH_S", 0.01)
    monkeypatch.setattr(event_stream, "QUIET_S", 0.05)


class Browser:
    """A browser on Live: what it was sent, until it leaves."""

    def __init__(self) -> None:
        self.head: Message = {}
        self.pieces: list[bytes] = []
        self.left = asyncio.Event()
        self.ended = False

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.head = message
        else:
            self.pieces.append(message["body"])
            self.ended = not message.get("more_body")

    @property
    def told(self) -> list[Any]:
        text = b"".join(self.pieces).decode()
        return [json.loads(each) for each in re.findall(r"^data: (.*)$", text, re.MULTILINE)]

    @property
    def rows(self) -> str:
        return "".join(each["rows"] for each in self.told)


@asynccontextmanager
async def on_live(
    asked: Asked, cookie: str, query: str = "", **more: str
) -> AsyncGenerator[Browser]:
    browser = Browser()
    ours = {"host": HOST, "cookie": f"{COOKIE}={cookie}", "sec-fetch-site": "same-origin"}
    headers = {**ours, **{name.replace("_", "-"): value for name, value in more.items()}}
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/stream",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "state": {},
    }
    serving = asyncio.create_task(asked.app(scope, browser.receive, browser.send))
    await until_async(lambda: bool(browser.pieces), "the stream has begun")
    yield browser
    browser.left.set()
    await serving


def live_threads() -> int:
    return sum(each.name == "toolcrib-live" for each in threading.enumerate())


def test_new_events_come_as_rows_to_every_browser_and_old_ones_do_not():
    async def scenario() -> None:
        write([call("old_one")])
        asked = Asked()
        cookie = asked.logged_in()
        async with on_live(asked, cookie) as one, on_live(asked, cookie) as two:
            assert live_threads() == 1
            await until_async(lambda: len(one.pieces) > 1, "a sign of life")
            write([search("mail an invoice"), call("new_one")])
            for browser in (one, two):
                await until_async(lambda each=browser: "new_one" in each.rows, "the call came")
                assert "mail an invoice" in browser.rows
                assert "old_one" not in browser.rows
                assert browser.rows.index("new_one") < browser.rows.index("mail an invoice")
            found = {name.decode(): value.decode() for name, value in one.head["headers"]}
            assert found["content-type"].startswith("text/event-stream")
            assert {name: found[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert one.ended
        await until_async(lambda: live_threads() == 0, "nobody looks any more")

    asyncio.run(scenario())


def test_a_stream_has_only_what_was_chosen():
    async def scenario() -> None:
        asked = Asked()
        query = "kind=call&client=cursor&server=mail&outcome=failed"
        async with on_live(asked, asked.logged_in(), query) as browser:
            await until_async(lambda: len(browser.pieces) > 1, "a sign of life")
            write([call("well"), search("x"), call("badly", code="timeout")])
            await until_async(lambda: "badly" in browser.rows, "the call came")
            assert "well" not in browser.rows
            assert browser.rows.count("<tr") == 1

    asyncio.run(scenario())


def test_what_came_between_the_page_and_its_stream_comes_once():
    async def scenario() -> None:
        asked = Asked()
        cookie = asked.logged_in()
        write([call("before_the_page")])
        page = (await asked.ask("GET", "/live", {"cookie": f"{COOKIE}={cookie}"})).body.decode()
        _, _, query = page.partition('data-stream="/stream?')[2].partition('"')[0].rpartition("?")
        write([call("in_between"), search("x")])
        async with on_live(asked, cookie, query) as browser:
            await until_async(lambda: "in_between" in browser.rows, "it came")
            write([call("later")])
            await until_async(lambda: "later" in browser.rows, "it came too")
            assert "before_the_page" not in browser.rows
            assert browser.rows.count(">in_between<") == browser.rows.count(">later<") == 1
            last = [int(each) for each in re.findall(rb"id: (\d+)", b"".join(browser.pieces))]
            assert last == sorted(last)
        write([call("while_away")])
        again = {"last_event_id": str(last[-1])}
        async with on_live(asked, cookie, query, **again) as browser:
            await until_async(lambda: "while_away" in browser.rows, "it came")
            assert "later" not in browser.rows

    asyncio.run(scenario())


@pytest.mark.plan(95)
def test_a_flood_of_hostile_events_is_cut_and_the_rest_is_counted():
    async def scenario() -> None:
        asked = Asked()
        async with on_live(asked, asked.logged_in()) as browser:
            await until_async(lambda: len(browser.pieces) > 1, "a sign of life")
            flood = [search(f"{BAD * 3}{number}", client=BAD) for number in range(20_000)]
            write([*flood, call("the_last")])
            await until_async(lambda: "the_last" in browser.rows, "the newest came")
            shown = browser.rows.count("<tr")
            assert shown <= 2 * MOST_ROWS
            assert sum(each["skipped"] for each in browser.told) > 900 - shown
            assert max(map(len, browser.pieces)) < MOST_MESSAGE
            page = Elements(f"<table>{browser.rows}</table>")
            assert {tag for tag, _ in page.tags} <= {
                *("table", "tr", "td", "a", "bdi", "mark", "time", "small"),
            }
            assert not set("\u202e\u200b\u2066\x1b\x00") & set(page.text)

    asyncio.run(scenario())


@pytest.mark.plan(94)
def test_a_stream_ends_when_one_may_look_no_longer():
    async def scenario() -> None:
        asked = Asked()
        async with on_live(asked, asked.logged_in()) as browser:
            asked.clock.now += VIEW_S
            await until_async(lambda: browser.ended, "the stream has ended")

    asyncio.run(scenario())


def test_a_log_that_cannot_be_read_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(event_stream, "AGAIN_S", 0.01)
    turns: list[object] = []

    def coming() -> Any:
        turns.append(None)
        if len(turns) < 3:
            raise ConfigError("the disk is on fire")
        while True:
            yield [LoggedEvent(1, call("at last"))]

    async def scenario() -> None:
        follower, ready = EventFollower(coming), threading.Event()
        watcher = follower.watch(ready.set)
        await until_async(ready.is_set, "an event came")
        assert watcher.take().events[0].event.name == "at last"
        follower.unwatch(watcher)
        await until_async(lambda: live_threads() == 0, "nobody looks any more")

    asyncio.run(scenario())
    assert "on fire" in caplog.text
