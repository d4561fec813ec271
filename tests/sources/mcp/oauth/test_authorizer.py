import asyncio
from pathlib import Path

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider

from tests.waiting import let_pass_async
from toolcrib.sources.mcp.config.server import OAuth
from toolcrib.sources.mcp.oauth.authorizer import (
    Authorizer,
    LoginStorage,
    PlaintextUrl,
    client_metadata,
)
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.store import Login, LoginFiles

URL = "https://far.example/mcp"


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
    return Authorizer(provider, file, asks=False, registers=True)


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
