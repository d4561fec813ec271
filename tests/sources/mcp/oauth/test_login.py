import asyncio
import json
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import httpx2
import pytest

from tests.sources.mcp.conftest import acall, call
from tests.sources.mcp.faking import error, own_file, stores_in, text
from tests.sources.mcp.oauth_server import Guarded, guarded
from tests.waiting import HANG_S, until
from toolcrib import Crib, Settings
from toolcrib.errors import SourceError
from toolcrib.sources.mcp import McpServers, McpSource


class Desk:
    """One operator: a file with one server, and a state folder."""

    def __init__(self, folder: Path, guarded: Guarded) -> None:
        self.file = own_file()
        self.state = folder / "state"
        self.guarded = guarded
        self.authority = guarded.authority
        self._open: list[McpServers] = []
        self.configure(url=guarded.url)

    def configure(self, **keys: Any) -> None:
        self.file.write_text(json.dumps({"mcpServers": {"far": keys}}))

    def source(self) -> McpSource:
        """The server, as a process that has just started sees it."""
        servers = McpServers.open([self.file], stores_in(self.state))
        assert servers.problems == ()
        self._open.append(servers)
        return servers.sources[0]

    def logged_in(self) -> McpSource:
        source = self.source()
        source.log_in(browser, HANG_S).result(HANG_S)
        assert source.refresh().result(HANG_S).error == ""
        return source

    def restarted(self) -> McpSource:
        self.close()
        return self.source()

    @property
    def login(self) -> Path:
        (path,) = (self.state / "logins").glob("*.json")
        return path

    def stored(self) -> dict[str, Any]:
        return json.loads(self.login.read_text())

    def store(self, **changes: Any) -> None:
        self.login.write_text(json.dumps(self.stored() | changes))

    def close(self) -> None:
        while self._open:
            self._open.pop().close()


@pytest.fixture(scope="module")
def server() -> Iterator[Guarded]:
    with guarded() as server:
        yield server


@pytest.fixture
def desk(tmp_path: Path, server: Guarded) -> Iterator[Desk]:
    server.authority.forget()
    desk = Desk(tmp_path, server)
    yield desk
    desk.close()


def browser(address: str) -> None:
    """Somebody who opens what they are shown, and goes where they are sent."""
    threading.Thread(target=httpx2.get, args=(address,), kwargs={"follow_redirects": True}).start()


def nobody(address: str) -> None:
    """Somebody who is not there."""


def test_until_somebody_logs_in_it_needs_a_login_and_nobody_is_bothered(desk: Desk):
    source = desk.source()
    done = source.refresh().result(HANG_S)
    assert done.error == "wants a login; run `toolcrib login far`"
    assert source.status().state == "needs_login"
    assert not desk.authority.clients
    assert not desk.authority.asked


def test_a_login_is_kept_for_the_next_start_and_for_nobody_else(desk: Desk):
    source = desk.logged_in()
    assert text(call(source, "echo", text="hi")) == "hi"
    assert stat.S_IMODE(desk.login.stat().st_mode) == 0o600
    assert stat.S_IMODE(desk.login.parent.stat().st_mode) == 0o700
    assert text(call(desk.restarted(), "echo", text="again")) == "again"
    assert desk.authority.asked == 1


def test_no_token_is_anywhere_but_in_its_file(desk: Desk, caplog: pytest.LogCaptureFixture):
    source = desk.logged_in()
    tokens = desk.stored()["tokens"]
    desk.authority.access.clear()
    desk.authority.refreshes.clear()
    refused = error(call(source, "echo", text="hi"))
    others = [path for path in desk.state.rglob("*") if path.is_file() and path != desk.login]
    written = b"".join(path.read_bytes() for path in others).decode(errors="replace")
    for said in (written, repr(refused), repr(source.status()), caplog.text):
        assert tokens["access_token"] not in said
        assert tokens["refresh_token"] not in said


def test_a_token_that_is_over_is_renewed_and_the_new_one_kept(desk: Desk):
    desk.logged_in()
    desk.close()
    before = desk.stored()["tokens"]
    desk.authority.access.clear()
    desk.store(expires_at=1_000_000_000)
    assert text(call(desk.restarted(), "echo", text="hi")) == "hi"
    after = desk.stored()["tokens"]
    assert desk.authority.refreshed == 1
    assert after["access_token"] != before["access_token"]
    assert after["refresh_token"] != before["refresh_token"]
    assert desk.authority.asked == 1


def test_a_token_that_is_refused_before_its_time_is_renewed_too(desk: Desk):
    source = desk.logged_in()
    desk.authority.access.clear()
    assert text(call(source, "echo", text="hi")) == "hi"
    assert desk.authority.refreshed == 1


def test_what_another_process_has_renewed_is_taken_up(desk: Desk):
    first, second = desk.logged_in(), desk.source()
    assert text(call(second, "echo", text="hi")) == "hi"
    desk.authority.access.clear()
    assert text(call(second, "echo", text="hi")) == "hi"
    assert text(call(first, "echo", text="hi")) == "hi"
    assert desk.authority.refreshed == 1


def test_when_no_token_is_left_a_call_is_refused_with_the_remedy(desk: Desk):
    source = desk.logged_in()
    desk.authority.access.clear()
    desk.authority.refreshes.clear()
    refused = error(call(source, "echo", text="hi"))
    assert (refused.code, refused.effect, refused.retryable) == ("needs_login", "not_sent", False)
    assert "`toolcrib login far`" in refused.message
    assert source.state("echo") == "needs_login"
    assert desk.restarted().state("echo") == "needs_login"
    assert desk.authority.asked == 1


def test_a_login_elsewhere_lets_the_next_call_through(desk: Desk, monkeypatch: Any):
    desk.logged_in()
    settings = Settings(store=":memory:", mcp_config=(desk.file,), builtin_tools=False)
    monkeypatch.setattr(Settings, "state_folder", desk.state)
    desk.authority.access.clear()
    desk.authority.refreshes.clear()
    with Crib.from_settings(settings) as crib:
        name, arguments, yes = "mcp_far_echo", {"text": "hi"}, agree
        first = asyncio.run(crib.call(name, arguments, approver=yes))
        assert error(first).code == "needs_login"
        until(lambda: crib.get(name).state == "needs_login")
        assert "toolcrib login far" in crib.get(name).remedy
        assert error(asyncio.run(crib.call(name, arguments, approver=yes))).phase == "state"
        desk.logged_in()
        assert text(asyncio.run(crib.call(name, arguments, approver=yes))) == "hi"


async def agree(_request: object, /) -> bool:
    return True


def test_a_no_is_told(desk: Desk):
    desk.authority.deny = True
    with pytest.raises(SourceError, match=r"'far' was denied: access_denied not today"):
        desk.source().log_in(browser, HANG_S).result(HANG_S)
    assert not (desk.state / "logins").exists()


def test_nobody_is_waited_for_without_end(desk: Desk):
    with pytest.raises(SourceError, match="in time"):
        desk.source().log_in(nobody, 0.5).result(HANG_S)


def changed(address: str, **parameters: str) -> str:
    parts = urlsplit(address)
    query = {key: values[0] for key, values in parse_qs(parts.query).items()} | parameters
    return urlunsplit(parts._replace(query=urlencode(query)))


def test_an_answer_that_is_not_ours_is_not_taken(desk: Desk):
    seen: list[int] = []

    def meddle(address: str) -> None:
        query = parse_qs(urlsplit(address).query)
        back = query["redirect_uri"][0]
        bad = ("?code=x&state=guessed", "?error=access_denied", "?code=x", "/../x?state=1")
        seen.extend(httpx2.get(back + each).status_code for each in bad)
        evil = {"host": "evil.example"}
        seen.append(httpx2.get(f"{back}?state={query['state'][0]}", headers=evil).status_code)
        browser(address)

    def apart(address: str) -> None:
        threading.Thread(target=meddle, args=(address,)).start()

    source = desk.source()
    source.log_in(apart, HANG_S).result(HANG_S)
    assert seen == [400, 400, 400, 404, 404]
    assert source.refresh().result(HANG_S).tools == 1


def test_an_answer_that_names_another_issuer_is_not_taken(desk: Desk):
    def other(address: str) -> None:
        def go() -> None:
            sent = httpx2.get(address).headers["location"]
            httpx2.get(changed(sent, iss="https://evil.example"))

        threading.Thread(target=go).start()

    with pytest.raises(SourceError, match="iss mismatch"):
        desk.source().log_in(other, HANG_S).result(HANG_S)


def test_another_address_gets_no_token_of_the_old_one(desk: Desk):
    desk.logged_in()
    heard: list[str | None] = []
    with listening(heard) as url:
        desk.configure(url=url)
        assert desk.restarted().refresh().result(HANG_S).error
    assert heard
    assert set(heard) == {None}


class listening:  # noqa: N801 - reads as a context
    """A server that lets nobody in and remembers what they showed."""

    def __init__(self, heard: list[str | None]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                heard.append(self.headers.get("authorization"))
                self.send_response(401)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def test_a_login_that_is_forgotten_is_gone(desk: Desk):
    source = desk.logged_in()
    path = desk.login
    assert source.forget_login()
    assert not path.exists()
    assert not source.forget_login()
    again = desk.restarted()
    assert again.state("echo") == "needs_login"
    assert again.refresh().result(HANG_S).error


def test_a_second_login_needs_no_second_client(desk: Desk):
    desk.logged_in()
    desk.authority.access.clear()
    desk.authority.refreshes.clear()
    desk.close()
    desk.logged_in()
    assert desk.authority.asked == 2
    assert len(desk.authority.clients) == 1


def test_a_login_file_that_is_damaged_counts_as_none(desk: Desk):
    desk.logged_in()
    for damage in ("{", json.dumps(desk.stored() | {"tokens": {}})):
        desk.login.write_text(damage)
        assert "login" in desk.restarted().refresh().result(HANG_S).error


def test_calls_do_not_wait_for_each_other(desk: Desk):
    source = desk.logged_in()

    async def both() -> list[str]:
        first = acall(source, "echo", text="first", after="second")
        outcomes = await asyncio.gather(first, acall(source, "echo", text="second"))
        return [text(each) for each in outcomes]

    assert asyncio.run(both()) == ["first", "second"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"url": "http://example.org/mcp"}, "in the clear"),
        ({"url": "https://x", "headers": {"authorization": "Bearer x"}}, "header"),
        ({"command": "x"}, "needs no login"),
    ],
)
def test_what_cannot_be_logged_in_to_says_why(tmp_path: Path, config: Any, words: str):
    file = own_file()
    file.write_text(json.dumps({"mcpServers": {"far": config}}))
    servers = McpServers.open([file], stores_in(tmp_path / "state"))
    try:
        with pytest.raises(SourceError, match=words):
            servers.sources[0].log_in(nobody, 1).result(HANG_S)
    finally:
        servers.close()


def test_a_program_logs_in_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ROBOT_SECRET", "robot-secret")
    with guarded(programs=True) as server:
        desk = Desk(tmp_path, server)
        issuer = server.url.removesuffix("mcp")
        robot = {"grant": "client_credentials", "client_id": "robot", "issuer": issuer}
        desk.configure(url=server.url, oauth=robot | {"client_secret": "${ROBOT_SECRET}"})
        source = desk.source()
        assert source.refresh().result(HANG_S).error == ""
        assert text(call(source, "echo", text="hi")) == "hi"
        desk.authority.access.clear()
        assert text(call(source, "echo", text="again")) == "again"
        desk.configure(url=server.url, oauth=robot | {"client_secret": "wrong"})
        desk.authority.access.clear()
        refused = desk.restarted().refresh().result(HANG_S).error
        assert "refuses the client that is configured" in refused
        other = robot | {"client_secret": "${ROBOT_SECRET}", "issuer": "https://other.example"}
        desk.configure(url=server.url, oauth=other)
        desk.login.unlink()
        assert "other.example" in desk.restarted().refresh().result(HANG_S).error
        desk.close()
