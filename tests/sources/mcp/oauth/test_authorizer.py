import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider

from tests.waiting import let_pass_async
from toolcrib.sources.mcp.config.server import OAuth, ServerAddress
from toolcrib.sources.mcp.http_client import CONNECT_TO, PEER, bounded_http_client
from toolcrib.sources.mcp.oauth.authorizer import (
    Authorizer,
    LocalUrl,
    LoginStorage,
    PlaintextUrl,
    client_metadata,
    login_authorizer,
)
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.store import Login, LoginFiles

URL = "https://far.example/mcp"
PUBLIC = "93.184.215.14"
HOSTS = {
    "far.example": [PUBLIC],
    "login.example": [PUBLIC],
    "both.example": [PUBLIC, "10.0.0.1"],
    "inside.example": ["10.0.0.1"],
    "next.example": ["10.0.0.2"],
}


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What the names of the tests stand for: they may be changed on the way."""
    known = {name: [*addresses] for name, addresses in HOSTS.items()}

    async def resolve(_loop: object, host: str, *_: object, **__: object) -> list[Any]:
        return [(2, 1, 6, "", (address, 0)) for address in known.get(host, [host])]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)
    return known


def login(token_endpoint: str) -> Login:
    base = "https://login.example"
    return Login(
        url=URL,
        tokens={"access_token": "old", "refresh_token": "secret"},
        client={"client_id": "us", "redirect_uris": ["http://127.0.0.1:1/callback"]},
        expires_at=1.0,
        authority={
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": token_endpoint,
        },
    )


@pytest.fixture
def file(tmp_path: Path) -> ServerLogin:
    return ServerLogin(LoginFiles(tmp_path), "far")


def authorizer(file: ServerLogin) -> Authorizer:
    oauth = OAuth()
    metadata = client_metadata(oauth, "http://127.0.0.1:1/callback")
    provider = OAuthClientProvider(URL, metadata, LoginStorage(file, URL, oauth))
    return Authorizer(provider, file, oauth, asks=False)


async def sent(auth: Authorizer, *replies: httpx2.Response) -> list[httpx2.Request]:
    """What goes out for one request that gets these replies."""
    request = httpx2.Request("POST", URL)
    requests: list[httpx2.Request] = []
    flow = auth.async_auth_flow(request)
    try:
        requests.append(await anext(flow))
        for reply in replies:
            reply.request = requests[-1]
            requests.append(await flow.asend(reply))
    except StopAsyncIteration:
        pass
    finally:
        await flow.aclose()
    return requests


@pytest.mark.anyio
async def test_a_token_is_renewed_where_it_came_from(file: ServerLogin):
    file.write(login("https://login.example/here"))
    new = httpx2.Response(200, json={"access_token": "new", "expires_in": 60})
    auth = authorizer(file)
    requests = await sent(auth, new, httpx2.Response(200))
    assert [str(each.url) for each in requests] == ["https://login.example/here", URL]
    assert requests[1].headers["authorization"] == "Bearer new"
    kept = file.read(URL)
    assert kept
    assert (kept.tokens["access_token"], kept.tokens["refresh_token"]) == ("new", "secret")
    assert not auth.refused


@pytest.mark.anyio
async def test_whoever_hides_secrets_knows_a_token_before_it_is_sent(file: ServerLogin):
    file.write(login("https://login.example/here"))
    new = httpx2.Response(200, json={"access_token": "token-2", "refresh_token": "refresh-2"})
    auth = authorizer(file)
    assert auth.redactor.text("token-2") == "token-2"
    await sent(auth, new, httpx2.Response(200))
    assert auth.redactor.text("token-2 refresh-2") == "*** ***"


@pytest.mark.anyio
async def test_of_two_processes_one_refreshes_and_the_other_takes_what_it_got(file: ServerLogin):
    file.write(login("https://login.example/here"))
    flows = [authorizer(file).async_auth_flow(httpx2.Request("POST", URL)) for _ in range(2)]
    refresh = await anext(flows[0])
    assert str(refresh.url) == "https://login.example/here"
    waiting = asyncio.ensure_future(anext(flows[1]))
    await let_pass_async()
    assert not waiting.done()
    new = httpx2.Response(200, json={"access_token": "new", "expires_in": 60}, request=refresh)
    ours, theirs = await flows[0].asend(new), await waiting
    assert str(theirs.url) == URL
    assert [each.headers["authorization"] for each in (ours, theirs)] == ["Bearer new"] * 2
    for flow in flows:
        await flow.aclose()


@pytest.mark.anyio
async def test_whoever_gives_up_waiting_for_a_refresh_keeps_nobody_out(file: ServerLogin):
    file.write(login("https://login.example/here"))
    flows = [authorizer(file).async_auth_flow(httpx2.Request("POST", URL)) for _ in range(3)]
    await anext(flows[0])
    waiting = asyncio.ensure_future(anext(flows[1]))
    await let_pass_async()
    waiting.cancel()
    await asyncio.wait([waiting])
    await flows[0].aclose()
    refresh = await anext(flows[2])
    assert str(refresh.url) == "https://login.example/here"
    await flows[2].aclose()


@pytest.mark.anyio
async def test_no_secret_is_sent_in_the_clear(file: ServerLogin):
    file.write(login("http://login.example/token"))
    auth = authorizer(file)
    requests = await sent(auth, httpx2.Response(401))
    assert [str(each.url) for each in requests] == [URL]
    assert auth.refused
    assert isinstance(auth.error, PlaintextUrl)


def metadata(base: str, **others: str) -> httpx2.Response:
    """What an authorization server says of itself; all goes well until it leads elsewhere."""
    about = {
        "issuer": base,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "registration_endpoint": f"{base}/register",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": False,
    }
    return httpx2.Response(200, json={**about, **others})


def challenge(where: str) -> httpx2.Response:
    return httpx2.Response(
        401, headers={"www-authenticate": f'Bearer resource_metadata="{where}/meta"'}
    )


def resource(server: str, issuer: str) -> httpx2.Response:
    return httpx2.Response(200, json={"resource": server, "authorization_servers": [issuer]})


OURS, LOGIN = "https://far.example", "https://login.example"
REGISTERED = httpx2.Response(
    201, json={"client_id": "us", "redirect_uris": ["http://127.0.0.1:1/callback"]}
)


def replies_of(hop: str, bad: str) -> list[httpx2.Response]:
    """What a server says that leads a login to a bad address at one hop, and well before it."""
    well = [challenge(OURS), resource(URL, LOGIN)]
    match hop:
        case "resource metadata":
            return [challenge(bad)]
        case "authorization server":
            return [challenge(OURS), resource(URL, bad)]
        case "registration":
            return [*well, metadata(LOGIN, registration_endpoint=f"{bad}/register")]
        case "login page":
            return [*well, metadata(LOGIN, authorization_endpoint=f"{bad}/a"), REGISTERED]
        case _:
            return [*well, metadata(LOGIN, token_endpoint=f"{bad}/token"), REGISTERED]


def login_of(
    file: ServerLogin, address: ServerAddress, shown: list[str]
) -> tuple[Authorizer, list[str]]:
    states: list[str] = []

    async def show(page: str) -> None:
        shown.append(page)
        states.append(httpx2.URL(page).params["state"])

    async def wait() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code="c", state=states[-1])

    redirect = "http://127.0.0.1:1/callback"
    return login_authorizer(file, address, redirect, show=show, wait=wait), shown


HOPS = ["resource metadata", "authorization server", "registration", "login page", "token"]


@pytest.mark.anyio
@pytest.mark.parametrize("hop", HOPS)
@pytest.mark.parametrize(
    "bad",
    [
        "http://127.0.0.1:1",
        "http://localhost:1",
        "https://169.254.169.254",
        "https://inside.example",
        "https://both.example",
        "https://[fec0::1]",
        "https://192.0.0.192",
    ],
)
async def test_a_server_elsewhere_leads_no_login_to_this_machine_or_a_private_network(
    file: ServerLogin, names: dict[str, list[str]], hop: str, bad: str
):
    names["localhost"] = ["127.0.0.1"]
    auth, shown = login_of(file, ServerAddress(URL), [])
    requests = await sent(auth, *replies_of(hop, bad), httpx2.Response(200, json={}))
    host = httpx2.URL(bad).host
    assert host not in {each.url.host for each in requests}
    assert not any(httpx2.URL(page).host == host for page in shown)
    assert isinstance(auth.error, LocalUrl)
    assert host in str(auth.error)
    assert {each.extensions[CONNECT_TO] for each in requests[1:] if str(each.url) != URL} <= {
        PUBLIC
    }


@pytest.mark.anyio
@pytest.mark.parametrize("hop", HOPS[2:])
async def test_a_name_that_stands_for_another_address_by_then_is_looked_at_again(
    file: ServerLogin, names: dict[str, list[str]], hop: str
):
    """Also that of the server itself: it is judged by where it has answered from."""
    auth, _ = login_of(file, ServerAddress(URL), [])
    replies = replies_of(hop, OURS)
    replies[0].extensions[PEER] = PUBLIC
    flow = auth.async_auth_flow(httpx2.Request("POST", URL))
    try:
        outgoing = await anext(flow)
        for reply in replies:
            if reply is replies[-1]:
                names["far.example"] = ["127.0.0.1"]
            reply.request = outgoing
            outgoing = await flow.asend(reply)
            assert outgoing.extensions.get(CONNECT_TO, "") in (PUBLIC, "")
    except StopAsyncIteration:
        pass
    assert isinstance(auth.error, LocalUrl)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("url", "issuer"), [("https://inside.example/mcp", ""), (URL, "https://next.example")]
)
async def test_a_local_server_may_lead_to_another_and_so_may_one_whose_issuer_is_named(
    file: ServerLogin, url: str, issuer: str
):
    oauth = OAuth(issuer=issuer)
    auth, shown = login_of(file, ServerAddress(url, oauth=oauth), [])
    base = "https://next.example"
    ours = url.removesuffix("/mcp")
    replies = [challenge(ours), resource(url, base), metadata(base), REGISTERED]
    token = httpx2.Response(200, json={"access_token": "new", "token_type": "Bearer"})
    requests = await sent(auth, *replies, token, httpx2.Response(200))
    assert auth.error is None
    assert [httpx2.URL(page).host for page in shown] == ["next.example"]
    assert requests[-1].headers["authorization"] == "Bearer new"


@pytest.mark.anyio
async def test_a_request_goes_to_the_address_that_was_looked_at(file: ServerLogin):
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with bounded_http_client({}) as client:
            url = f"http://far.example:{port}/x"
            response = await client.get(url, extensions={CONNECT_TO: "127.0.0.1"})
    assert (response.text, response.extensions[PEER]) == ("ok", "127.0.0.1")
    assert f"host: far.example:{port}".encode() in seen[0].lower()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "challenge", "refused"),
    [
        (401, "", True),
        (403, 'Bearer error="insufficient_scope"', True),
        (403, "Bearer", False),
        (500, "", False),
    ],
)
async def test_what_counts_as_not_let_in(
    file: ServerLogin, status: int, challenge: str, refused: bool
):
    auth = authorizer(file)
    reply = httpx2.Response(status, headers={"www-authenticate": challenge})
    assert len(await sent(auth, reply)) == 1
    assert auth.refused == refused


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
