import asyncio
import itertools
import json
from pathlib import Path

import pytest

from tests.gateway.daemons import Answer
from tests.gateway.http.guarded import HOST, JSON, PORT, Guarded
from tests.gateway.key_names import named
from toolcrib.errors import StoreAway
from toolcrib.gateway import KeyTerms
from toolcrib.gateway.keys import GoodKey
from toolcrib.gateway.message_streams import MOST_VALUES
from toolcrib.gateway.quotas import Quota
from toolcrib.http import HttpRefusal, Message
from toolcrib.http import request_checks as bodies
from toolcrib.http.request_checks import MOST_HEADERS

ROUTES = [
    "/mcp",
    "/mcp/small",
    "/mcp/nobody",
    "/health",
    "/ready",
    "/",
    "/sse",
    "/operator",
    "/mcp/a/b",
]
METHODS = ["GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD"]


@pytest.fixture
def guarded(tmp_path: Path) -> Guarded:
    return Guarded(tmp_path)


def reached(answer: Answer) -> str:
    return named(answer.json["reached"])


def test_what_is_right_gets_through(guarded: Guarded):
    assert reached(guarded.ask(headers=guarded.right)) == "key:owner@default"
    assert reached(guarded.ask(path="/mcp/small", headers=guarded.right)) == "key:owner@small"
    keyed = guarded.right | {"authorization": f"bearer {guarded.key}"}
    assert reached(guarded.ask(path="/mcp/small", headers=keyed)) == "key:small@small"
    for method in ("GET", "DELETE"):
        assert guarded.ask(method, headers=guarded.right).status == 200


GOOD_HOSTS = [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}", "crib.example"]
BAD_HOSTS = [
    None,
    "",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:1",
    "evil.example",
    f"evil.example:{PORT}",
    f"127.0.0.1.evil.example:{PORT}",
    f"127.0.0.1:{PORT}.evil.example",
    f"127.0.0.1:{PORT}@evil.example",
    f"evil.example@127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT}/mcp",
    f"127.0.0.1:{PORT}?x",
    f"127.0.0.1:{PORT}#x",
    f"127.0.0.1:{PORT}, evil.example",
    f"127.0.0.1 :{PORT}",
    f"127.1:{PORT}",
    f"2130706433:{PORT}",
    f"0.0.0.0:{PORT}",
    f"[::]:{PORT}",
    f"[::ffff:127.0.0.1]:{PORT}",
    f"localhost.:{PORT}",
    "crib.example.evil.example",
    "a" * 300,
]
ORIGINS = [
    "null",
    "http://evil.example",
    f"http://127.0.0.1:{PORT}",
    f"http://localhost:{PORT}",
    "https://page.example.evil.example",
    "https://page.example:444",
    "HTTPS://page.example",
    "file://",
    "",
]
GOOD_ORIGIN = "https://page.example"


@pytest.mark.plan(48)
def test_only_the_listed_hosts_and_origins_get_through_on_any_route(tmp_path: Path):
    guarded = Guarded(tmp_path, hosts=["Crib.Example"], origins=[GOOD_ORIGIN])
    origins = [None, GOOD_ORIGIN, *ORIGINS]
    tried = 0
    for host, origin in itertools.product([*GOOD_HOSTS, *BAD_HOSTS], origins):
        headers = {name: value for name, value in guarded.right.items() if name != "host"}
        headers |= {} if host is None else {"host": host}
        headers |= {} if origin is None else {"origin": origin}
        fine = host in GOOD_HOSTS and origin in (None, GOOD_ORIGIN)
        for route, method in itertools.product(ROUTES, ("GET", "POST")):
            tried += 1
            answer = guarded.ask(method, route, headers)
            if fine:
                assert b"bad_host" not in answer.body, (host, route)
                assert b"bad_origin" not in answer.body, (origin, route)
            else:
                assert answer.code in {"bad_host", "bad_origin"}, (host, origin, route)
    assert tried > 200 * len(ROUTES)


@pytest.mark.plan(49)
def test_without_a_good_credential_nothing_answers_but_health(guarded: Guarded):
    token, key = guarded.token, guarded.key
    removed = guarded.keys.add("gone", KeyTerms(("default", "small", "large")))
    guarded.keys.remove("gone")
    bad = [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer a",
        f"Basic {token}",
        token,
        f"Bearer {token[:-1]}",
        f"Bearer {token}x",
        f"Bearer {token.swapcase()}",
        f"Bearer {removed}",
        f"Bearer Bearer {token}",
        f"Bearer {token}, Bearer x",
        "Bearer sk-1234",
        "Bearer null",
        "Bearer \xff",
        f"Digest {key}",
    ]
    beside = [
        {},
        {"cookie": f"token={token}"},
        {"x-api-key": token},
        {"mcp-session-id": "forged"},
        {"x-forwarded-for": "127.0.0.1", "x-forwarded-user": "local"},
    ]
    for authorization, more in itertools.product(bad, beside):
        headers = {"host": HOST, "content-type": "application/json", **more}
        headers |= {} if authorization is None else {"authorization": authorization}
        for method, route in itertools.product(METHODS, ROUTES):
            in_url = f"token={token}&access_token={key}".encode()
            answer = guarded.ask(method, route, headers, query_string=in_url)
            open_to_all = method == "GET" and route in {"/health", "/ready"}
            assert (answer.status == 200) is open_to_all, (authorization, method, route)
            if route.startswith("/mcp") and answer.status == 401:
                assert answer.headers["www-authenticate"].startswith("Bearer")
    assert not guarded.reached


@pytest.mark.plan(49)
def test_a_key_is_good_for_its_profiles_alone_and_no_longer_than_it_is_there(guarded: Guarded):
    keyed = guarded.right | {"authorization": f"Bearer {guarded.key}"}
    assert guarded.ask(path="/mcp/small", headers=keyed).status == 200
    refused = guarded.ask(path="/mcp/large", headers=keyed)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert guarded.ask(headers=keyed).status == 403
    unknown = guarded.ask(path="/mcp/smal", headers=guarded.right)
    assert (unknown.status, unknown.code) == (404, "no_profile")
    assert "small" in unknown.json["error"]["message"]
    guarded.keys.remove("small")
    assert guarded.ask(path="/mcp/small", headers=keyed).status == 401
    assert len(guarded.reached) == 1


@pytest.mark.plan(49)
def test_keys_that_cannot_be_read_are_no_keys(guarded: Guarded):
    guarded.credentials.close()
    keyed = guarded.right | {"authorization": f"Bearer {guarded.key}"}
    answer = guarded.ask(path="/mcp/small", headers=keyed)
    assert answer.status == 401
    assert "no key works" in answer.json["error"]["message"]
    assert guarded.ask(headers=guarded.right).status == 401


def test_a_key_that_cannot_be_checked_now_is_not_called_a_bad_one(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
):
    def is_away(_shown: str) -> GoodKey:
        raise StoreAway("the database cannot be reached")

    monkeypatch.setattr(guarded.keys, "good", is_away)
    answer = guarded.ask(headers=guarded.right)
    assert (answer.status, answer.code) == (503, "store_away")
    assert answer.headers["retry-after"] == "1"
    assert "www-authenticate" not in answer.headers
    assert not guarded.reached
    with pytest.raises(HttpRefusal) as refused:
        guarded.edge._scraper(guarded.right)
    assert (refused.value.status, refused.value.code) == (503, "store_away")


def test_health_tells_nothing(guarded: Guarded):
    answer = guarded.ask("GET", "/health", {"host": HOST})
    assert answer.json == {"status": "ok"}
    assert "server" not in answer.headers


@pytest.mark.plan(50)
@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
        "application/json2",
        "application/xml",
        "",
        None,
    ],
)
def test_only_json_is_taken(guarded: Guarded, kind: str | None):
    headers = {name: value for name, value in guarded.right.items() if name != "content-type"}
    answer = guarded.ask(headers=headers | ({} if kind is None else {"content-type": kind}))
    assert (answer.status, answer.code) == (415, "not_json")
    assert not guarded.reached


@pytest.mark.plan(50)
@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_pages_get_nothing_and_no_leave_to_ask(guarded: Guarded, site: str):
    for method, route in itertools.product(METHODS, ROUTES):
        asked = {"access-control-request-method": "POST", "origin": "http://evil.example"}
        for more in ({"sec-fetch-site": site}, asked, {"upgrade": "websocket"}):
            answer = guarded.ask(method, route, guarded.right | more)
            assert answer.status >= 400
            assert not [name for name in answer.headers if name.startswith("access-control")]
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert not guarded.reached


def test_a_websocket_is_closed_before_it_is_open(guarded: Guarded):
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(guarded.edge({"type": "websocket", "path": "/mcp", "headers": []}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.plan(51)
@pytest.mark.parametrize("name", ["host", "authorization", "content-length", "origin"])
def test_two_of_one_header_are_refused(guarded: Guarded, name: str):
    raw = [(key.encode(), value.encode()) for key, value in guarded.right.items()]
    twice = [*raw, (name.encode(), b"1"), (name.upper().encode(), b"1")]
    answer = guarded.ask(headers=None, body=None, path="/mcp")
    assert answer.status == 421  # no Host at all
    assert guarded.ask("POST", "/mcp", None, None).status == 421
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b""}
    answer = asyncio.run(guarded._ask({**scope, "headers": twice}, [JSON]))
    assert answer.status == 400
    assert not guarded.reached


@pytest.mark.plan(51)
def test_too_many_headers_and_two_lengths_are_refused(guarded: Guarded):
    many = {f"x-{number}": "x" for number in range(MOST_HEADERS)}
    assert guarded.ask(headers=guarded.right | many).status == 431
    lengths = {"content-length": "1", "transfer-encoding": "chunked"}
    assert guarded.ask(headers=guarded.right | lengths).status == 400
    assert not guarded.reached


def test_a_body_is_measured_and_not_believed(tmp_path: Path):
    guarded = Guarded(tmp_path, body_bytes=1_000)
    large = guarded.right | {"content-length": "1001"}
    assert guarded.ask(headers=large).code == "too_large"
    lying = guarded.right | {"content-length": "10"}
    for headers in (guarded.right, lying):
        answer = guarded.ask(headers=headers, body=[b" " * 400] * 3)
        assert (answer.status, answer.code) == (413, "too_large")
        assert "gateway.body_bytes" in answer.json["error"]["message"]
    assert not guarded.reached
    assert guarded.ask(headers=guarded.right, body=[JSON[:9], JSON[9:]]).status == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"a": 1, "a": 2}', b"[" * 1_000 + b"]" * 1_000, b"\xff", b"NaN", b'"\\ud800'],
)
def test_what_two_readers_could_read_differently_is_refused(guarded: Guarded, body: bytes):
    answer = guarded.ask(headers=guarded.right, body=[body])
    assert (answer.status, answer.code) == (400, "bad_request")
    assert not guarded.reached


@pytest.mark.parametrize("value", [b"0", b'"x"', b"{}", b'{"a":[0]}'])
def test_a_body_with_too_many_values_is_refused_before_it_is_read(guarded: Guarded, value: bytes):
    body = b"[" + b",".join([value] * (MOST_VALUES + 1)) + b"]"
    answer = guarded.ask(headers=guarded.right, body=[body])
    assert (answer.status, answer.code) == (400, "bad_request")
    assert "send fewer" in answer.json["error"]["message"]
    assert not guarded.reached


def test_a_body_that_does_not_come_is_not_waited_for(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bodies, "BODY_S", 0.01)
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(60)
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(name.encode(), value.encode()) for name, value in guarded.right.items()]
    asked = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    asyncio.run(guarded.edge({**asked, "client": ("127.0.0.1", 1)}, receive, send))
    assert sent[0]["status"] == 408
    assert guarded.request_limiter.running == 0


@pytest.mark.plan(13)
def test_beyond_the_bound_one_is_told_to_come_again(guarded: Guarded):
    owner = guarded.credentials.keyed(guarded.token).quotas[:1]
    other = (Quota("somebody else"),)
    small = guarded.right | {"authorization": f"Bearer {guarded.key}"}
    for _ in range(2):
        guarded.request_limiter.enter(owner)
    for path in ("/mcp", "/mcp/small"):  # whatever profile they want
        answer = guarded.ask(path=path, headers=guarded.right)
        assert (answer.status, answer.code) == (429, "too_many_requests")
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json["error"]["data"]["retry_after_s"] >= 1
    assert guarded.ask(path="/mcp/small", headers=small).status == 200
    guarded.request_limiter.enter(other)
    answer = guarded.ask(path="/mcp/small", headers=small)
    assert (answer.status, answer.code) == (503, "overloaded")
    guarded.request_limiter.leave(owner)
    assert guarded.ask(headers=guarded.right).status == 200
    assert guarded.request_limiter.running == 2


def test_every_refusal_is_json_with_a_remedy(guarded: Guarded):
    for headers, path in ((guarded.right, "/x"), ({}, "/mcp"), ({"host": HOST}, "/mcp")):
        answer = guarded.ask(path=path, headers=headers)
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["connection"] == "close"
        error = json.loads(answer.body)["error"]
        assert ";" in error["message"]


@pytest.mark.plan(13)
def test_a_key_has_a_rate_and_so_have_all_of_its_tenant(tmp_path: Path):
    guarded = Guarded(tmp_path, rate=3, tenant_rate=5)
    limited = guarded.keys.add("limited", KeyTerms(rate=1))

    def asked(token: str, method: str = "POST", path: str = "/mcp") -> Answer:
        headers = guarded.right | {"authorization": f"Bearer {token}"}
        return guarded.ask(method, path, headers)

    assert asked(limited).status == 200
    refused = asked(limited)
    assert (refused.status, refused.code) == (429, "too_many_requests")
    assert 30 < int(refused.headers["retry-after"]) <= 60
    assert asked(limited, "GET").status == 429  # a stream is a request too
    assert [asked(guarded.token).status for _ in range(4)] == [200, 200, 200, 429]
    assert asked(guarded.key, path="/mcp/small").status == 200
    over = asked(guarded.key, path="/mcp/small")
    assert over.status == 429
    assert "tenant:default" in over.json["error"]["message"]
    assert asked("tc_wrong").status == 401


@pytest.mark.parametrize("id", ["true", "1.5", "null", "[]", "{}", "false"])
def test_a_request_that_no_answer_can_name_is_told_so(guarded: Guarded, id: str):
    body = f'{{"jsonrpc": "2.0", "id": {id}, "method": "ping"}}'.encode()
    answer = guarded.ask(headers=guarded.right, body=[body])
    assert (answer.status, answer.json["id"]) == (400, None)
    assert answer.json["error"]["code"] == -32600
    assert "a text or a whole number" in answer.json["error"]["message"]
    assert not guarded.reached


def test_a_message_without_an_id_and_one_with_a_good_one_get_through(guarded: Guarded):
    for more in ('"id": 0, ', '"id": "", ', ""):
        body = f'{{"jsonrpc": "2.0", {more}"method": "ping"}}'.encode()
        assert guarded.ask(headers=guarded.right, body=[body]).status == 200
    failed = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "x"}}'
    assert guarded.ask(headers=guarded.right, body=[failed]).status == 200


@pytest.mark.parametrize("body", [JSON, b"[]", b'"subscriptions/listen"', b"1"])
def test_a_header_makes_no_request_one_of_the_streams(guarded: Guarded, body: bytes):
    """Streams have bounds of their own: a call that says it is one would pass those of requests."""
    headers = guarded.right | {"mcp-method": "subscriptions/listen"}
    answer = guarded.ask(headers=headers, body=[body])
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    assert "name different methods" in answer.json["error"]["message"]
    assert not guarded.reached
    listens = b'{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}'
    assert guarded.ask(headers=headers, body=[listens]).status == 200
