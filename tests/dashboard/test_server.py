"""What a request to the dashboard has to pass, and what it comes to."""

import asyncio
import re

import pytest

from tests.dashboard.asking import CALL, HOST, ORIGIN, OTHER, Asked, FakeGateway
from tests.waiting import until_async
from toolcrib.dashboard.actions import ACTIONS
from toolcrib.dashboard.headers import COOKIE, SECURITY_HEADERS
from toolcrib.dashboard.login import ACT_S, VIEW_S
from toolcrib.dashboard.screens import DATA, SCREENS
from toolcrib.dashboard.server import STATIC
from toolcrib.settings import DashboardSettings

TICKET = str(CALL["id"])
PIN = "1a2b3c4d" * 8
SUBJECTS = {
    name: (TICKET,) if name.endswith("_call") else ("mail", "send", PIN)[: action.fields]
    for name, action in ACTIONS.items()
}
OPEN = ["/login", *(f"/static/{path.name}" for path in STATIC.iterdir())]
CLOSED = [*SCREENS, *DATA, "/pulse", "/stream"]


@pytest.fixture
def asked() -> Asked:
    return Asked()


def asked_of(asked: Asked) -> list[object]:
    assert isinstance(asked.gateway, FakeGateway)
    return [do for do, _ in asked.gateway.asked]


@pytest.mark.plan(92)
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:7700",
        "localhost:7700",
        "tc-0a1b2c3d.localhost",
        "tc-0a1b2c3d.localhost:7701",
        "evil.example:7700",
        f"{HOST}.evil.example",
        f"x.{HOST}",
        HOST.upper(),
        f"{HOST}@evil.example",
        "",
    ],
)
def test_only_its_own_name_is_served(asked: Asked, host: str):
    cookie = asked.logged_in()
    for path in (*OPEN, *CLOSED, "/none"):
        assert asked.get(path, cookie, host=host).status == 421
    assert asked.act("allow_call", (TICKET,), cookie, host=host).status == 421
    assert asked_of(asked) == []


@pytest.mark.plan(93)
@pytest.mark.parametrize("path", CLOSED)
def test_nothing_but_the_login_is_shown_without_a_cookie(asked: Asked, path: str):
    asked.logged_in()
    forged = {"origin": ORIGIN, "sec_fetch_site": "same-origin", "sec_fetch_mode": "navigate"}
    for cookie in ("", "x", asked.logins.new_link()):
        answer = asked.get(path, cookie, **forged)
        assert answer.status == 401
        assert b"mcp_mail_send" not in answer.body
        assert b"toolcrib dashboard" in answer.body


@pytest.mark.plan(93)
@pytest.mark.parametrize("action", ACTIONS)
def test_no_forged_header_stands_for_a_cookie(asked: Asked, action: str):
    cookie = asked.logged_in()
    fields = asked.fields(action, SUBJECTS[action], cookie)
    for forged in ("", "x", cookie[:-1], f"{cookie}; {COOKIE}={cookie}"):
        assert asked.post(f"/act/{action}", fields, forged).status == 401
    assert asked_of(asked) == []


@pytest.mark.plan(91)
@pytest.mark.parametrize("action", ACTIONS)
def test_only_a_page_of_ours_may_act(asked: Asked, action: str):
    cookie = asked.logged_in()
    for headers in (
        {"origin": OTHER},
        {"origin": "null"},
        {"origin": ""},
        {"origin": f"https://{HOST}"},
        {"origin": "http://localhost:7700"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "none"},
        {"sec_fetch_site": ""},
        {"origin": OTHER, "sec_fetch_site": "cross-site"},
    ):
        assert asked.act(action, SUBJECTS[action], cookie, **headers).status == 403, headers
    assert asked_of(asked) == []


@pytest.mark.plan(91)
@pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data", ""])
def test_what_a_page_elsewhere_could_send_without_asking_is_no_form(asked: Asked, kind: str):
    cookie = asked.logged_in()
    assert asked.act("deny_call", (TICKET,), cookie, content_type=kind).status == 415


@pytest.mark.plan(91)
@pytest.mark.parametrize("path", CLOSED)
def test_another_page_cannot_read_ours(asked: Asked, path: str):
    cookie = asked.logged_in()
    for site in ("cross-site", "same-site"):
        assert asked.get(path, cookie, sec_fetch_site=site).status == 403


@pytest.mark.plan(91)
def test_no_answer_lets_another_origin_in(asked: Asked):
    cookie = asked.logged_in()
    for answer in (
        *(asked.get(path, cookie) for path in (*OPEN, *CLOSED, "/none")),
        asked.get("/inbox"),
        asked.get("/inbox", cookie, host="evil"),
        asked.act("deny_call", (TICKET,), cookie),
        asked.post("/login", {"secret": "x"}),
        asked.post("/login", {"secret": asked.logins.new_link()}),
    ):
        assert {name: answer.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.plan(97)
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_only_a_post_changes_anything(asked: Asked, method: str):
    cookie = asked.logged_in()
    for action in ACTIONS:
        _, path, headers, body = asked.posted(
            f"/act/{action}", asked.fields(action, SUBJECTS[action], cookie), cookie
        )
        assert asyncio.run(asked.ask(method, path, headers, body)).status == 404
        assert asyncio.run(asked.ask(method, f"{path}?{body.decode()}", headers)).status == 404
    secret = asked.logins.new_link()
    assert asked.get(f"/login?secret={secret}").status == 200
    assert asked.logins.log_in(secret)
    for path in CLOSED:
        asked.get(path, cookie)
    assert asked_of(asked) == []


@pytest.mark.plan(94)
def test_a_link_becomes_a_cookie_once(asked: Asked):
    secret = asked.logins.new_link()
    for headers in ({"origin": OTHER}, {"sec_fetch_site": "cross-site"}, {"origin": ""}):
        assert asked.post("/login", {"secret": secret}, **headers).status == 403
    answer = asked.post("/login", {"secret": secret})
    assert answer.status == 204
    match = re.fullmatch(rf"{COOKIE}=([\w-]+); (.*)", answer.headers["set-cookie"])
    assert match
    assert match[2] == "Secure; HttpOnly; SameSite=Strict; Path=/"
    assert asked.get("/", match[1]).status == 200
    again = asked.post("/login", {"secret": secret})
    assert again.status == 403
    assert b"was used" in again.body


@pytest.mark.plan(94)
def test_after_some_minutes_one_may_look_and_not_act(asked: Asked):
    cookie = asked.logged_in()
    assert asked.act("allow_call", (TICKET,), cookie).status == 303
    fields = asked.fields("allow_call", (TICKET,), cookie)
    asked.clock.now += ACT_S
    for action in ACTIONS:
        assert asked.act(action, SUBJECTS[action], cookie).status == 403
    page = asked.get("/inbox", cookie).body.decode()
    assert "View only" in page
    assert str(fields["token"]) not in page
    assert "<form" not in page
    assert asked_of(asked) == ["decide"]
    asked.clock.now += VIEW_S
    assert asked.get("/inbox", cookie).status == 401


@pytest.mark.plan(96)
def test_a_button_does_what_it_says_and_to_nothing_else(asked: Asked):
    cookie, other = asked.logged_in(), asked.logged_in()
    good = asked.fields("deny_call", (TICKET,), cookie)
    for path, fields, whose in (
        ("/act/allow_call", good, cookie),
        ("/act/deny_call", {**good, "subject": "f" * 16}, cookie),
        ("/act/deny_call", {**good, "subject": [TICKET, TICKET]}, cookie),
        ("/act/deny_call", {"token": good["token"]}, cookie),
        ("/act/deny_call", {"subject": TICKET}, cookie),
        ("/act/deny_call", {**good, "token": ""}, cookie),
        ("/act/deny_call", good, other),
    ):
        assert asked.post(path, fields, whose).status == 403
    assert asked_of(asked) == []
    assert asked.post("/act/deny_call", good, cookie).status == 303
    assert isinstance(asked.gateway, FakeGateway)
    assert asked.gateway.asked == [("decide", {"id": TICKET, "allowed": False})]


@pytest.mark.plan(96)
def test_there_is_no_button_for_more_than_one(asked: Asked):
    assert isinstance(asked.gateway, FakeGateway)
    asked.gateway.calls = [{**CALL, "id": f"{number:016x}"} for number in range(5)]
    page = asked.get("/inbox", asked.logged_in()).body.decode()
    forms = re.findall(r'<form method="post" action="/act/(\w+)">(.*?)</form>', page)
    assert len(forms) == 10
    assert {action for action, _ in forms} == {"allow_call", "deny_call"}
    assert all(form.count('name="subject"') == 1 for _, form in forms)


def test_the_settings_can_forbid_to_approve():
    asked = Asked(settings=DashboardSettings(approve="never"))
    cookie = asked.logged_in()
    for action in ("allow_call", "approve_definition"):
        assert asked.act(action, SUBJECTS[action], cookie).status == 403
    assert asked.act("deny_call", (TICKET,), cookie).status == 303
    page = asked.get("/inbox", cookie).body.decode()
    assert "/act/allow_call" not in page
    assert "/act/deny_call" in page
    assert "dashboard.approve" in page


def test_a_proxy_that_is_named_is_served_with_its_own_origin():
    asked = Asked(settings=DashboardSettings(hosts=("crib.example",)))
    cookie = asked.logged_in()
    assert asked.get("/", cookie, host="crib.example").status == 200
    act = asked.act
    near = {"host": "crib.example", "origin": "http://crib.example"}
    assert act("deny_call", (TICKET,), cookie, **near).status == 403
    assert act("deny_call", (TICKET,), cookie, host="crib.example").status == 403
    good = {"host": "crib.example", "origin": "https://crib.example"}
    assert act("deny_call", (TICKET,), cookie, **good).status == 303


def test_what_came_of_it_is_told_on_the_next_page(asked: Asked):
    cookie = asked.logged_in()
    answer = asked.act("allow_call", (TICKET,), cookie)
    assert answer.headers["location"] == "/inbox?notice=1"
    assert b"Allowed once" in asked.get("/inbox?notice=1", cookie).body
    assert b"Allowed once" not in asked.get("/inbox?notice=1", asked.logged_in()).body
    failed = asked.act("approve_definition", ("mail", "send", PIN), cookie)
    assert failed.status == 303
    assert b"notice bad" in asked.get(failed.headers["location"], cookie).body


def test_a_pulse_changes_when_the_page_would(asked: Asked):
    assert isinstance(asked.gateway, FakeGateway)
    cookie = asked.logged_in()
    first = asked.get("/pulse", cookie).json
    assert asked.get("/pulse", cookie).json == first
    assert first["waiting"] == 1
    asked.gateway.calls = []
    second = asked.get("/pulse", cookie).json
    assert second["mark"] != first["mark"]
    asked.clock.now += ACT_S
    assert asked.get("/pulse", cookie).json["mark"] != second["mark"]
    assert (
        f'data-mark="{asked.get("/pulse", cookie).json["mark"]}"'
        in asked.get("/", cookie).body.decode()
    )


@pytest.mark.parametrize(
    "path", ["/static/../login.py", "/static/", "/static/..%2f", "/act/none", "/act/", "/none"]
)
def test_there_is_nothing_else(asked: Asked, path: str):
    cookie = asked.logged_in()
    assert asked.get(path, cookie).status == 404
    assert asked.post(path, {}, cookie).status == 404


@pytest.mark.parametrize("body", ["subject=%ff&token=x", "&".join(["a=1"] * 20)])
def test_a_form_that_cannot_be_read_is_refused(asked: Asked, body: str):
    cookie = asked.logged_in()
    _, path, headers, _ = asked.posted("/act/deny_call", {}, cookie)
    assert asyncio.run(asked.ask("POST", path, headers, body.encode())).status == 400
    large = b"subject=" + b"x" * 20_000
    assert asyncio.run(asked.ask("POST", path, headers, large)).status == 413


def test_a_websocket_is_turned_away(asked: Asked):
    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    async def receive() -> dict[str, object]:
        raise AssertionError

    asyncio.run(asked.app({"type": "websocket"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert asked.get("/", asked.logged_in(), upgrade="websocket").status == 400


def test_a_mistake_of_ours_is_a_page_without_a_word_of_it(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken() -> None:
        raise RuntimeError("sesame")

    monkeypatch.setattr(asked.operations, "look", broken)
    answer = asked.get("/", asked.logged_in())
    assert answer.status == 500
    assert b"sesame" not in answer.body
    assert "sesame" in caplog.text
    assert answer.headers["content-security-policy"]


def test_a_start_goes_on_after_the_answer_and_tells_how_it_went(asked: Asked):
    assert isinstance(asked.gateway, FakeGateway)
    gateway, result = asked.gateway, {"server": "mail", "tools": 4, "seconds": 1.0}
    ends = asyncio.Event()

    def ask(do: str, /, **more: object) -> object:
        if do != "refresh":
            return gateway(do, **more)  # type: ignore[arg-type]
        asyncio.run_coroutine_threadsafe(ends.wait(), loop).result()
        return [{**result, "error": "", "waiting": 0, "remedy": "", "cut": ""}]

    async def scenario() -> None:
        nonlocal loop
        loop = asyncio.get_running_loop()
        press = asked.posted("/act/start", asked.fields("start", ("mail",), cookie), cookie)
        assert (await asked.ask(*press)).headers["location"] == "/servers?notice=1"
        headers = {"cookie": f"{COOKIE}={cookie}"}
        assert b"Starting" in (await asked.ask("GET", "/servers", headers)).body
        again = await asked.ask(*press)
        told = await asked.ask("GET", again.headers["location"], headers)
        assert b"under way already" in told.body
        ends.set()

        async def done() -> bool:
            return b"4 tools, listed" in (await asked.ask("GET", "/servers", headers)).body

        await until_async(done, "the start is told of")

    asked.operations._ask = ask  # type: ignore[assignment]
    cookie, loop = asked.logged_in(), asyncio.new_event_loop()
    loop.close()
    asyncio.run(scenario())
