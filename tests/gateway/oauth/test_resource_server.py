"""The gateway in front of a real provider: what it tells clients, and whom it serves."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.gateway.daemons import Reached, bare, call, request, serving
from tests.gateway.key_names import named
from tests.gateway.oauth.provider import SECRET, Provider, free_port
from tests.waiting import HANG_S, until_async
from toolcrib.gateway.daemon import Daemon

GROUPS = {"eng": ["default", "dev"]}
CALLBACK = "http://127.0.0.1:1/callback"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    provider = Provider(tmp_path_factory.mktemp("provider"))
    with provider.running():
        yield provider


class Served:
    """A gateway that takes tokens of a provider."""

    def __init__(self, daemon: Daemon, reached: Reached, provider: Provider) -> None:
        self.daemon, self.port, self.key = daemon, reached.port, reached.token
        self.provider = provider
        self.resource = f"http://127.0.0.1:{reached.port}/mcp"

    async def robot(self, client: str = "robot", path: str = "", scope: str = "tools") -> str:
        where = f"{self.resource}{path}"
        return await asyncio.to_thread(self.provider.robot_token, where, client, scope)


@asynccontextmanager
async def gateway(folder: Path, provider: Provider, **oauth: Any) -> AsyncGenerator[Served]:
    given = {"issuer": provider.issuer, "groups": GROUPS, "scopes": ["tools"], **oauth}
    profiles = {"dev": {}, "secret": {}}
    settings = bare(
        gateway={"profiles": profiles, "oauth": given, "port": free_port()},
        observe={"access_log": True},
    )
    async with asyncio.timeout(HANG_S), serving(folder, settings) as (daemon, reached):
        yield Served(daemon, reached, provider)


def test_metadata_leads_from_each_address_to_the_provider(tmp_path: Path, provider: Provider):
    async def run() -> None:
        async with gateway(tmp_path, provider) as served:
            for suffix, resource in {
                "": served.resource,
                "/mcp": served.resource,
                "/mcp/dev": f"{served.resource}/dev",
            }.items():
                answer = await request(served.port, "GET", f"{WELL_KNOWN}{suffix}")
                assert answer.status == 200
                assert answer.json == {
                    "resource": resource,
                    "authorization_servers": [provider.issuer],
                    "bearer_methods_supported": ["header"],
                    "resource_name": "Toolcrib",
                    "scopes_supported": ["tools"],
                }
            for suffix in ("/", "/other", "/mcp/", "/mcp/a/b", "/mcpx", "x"):
                assert (await request(served.port, "GET", f"{WELL_KNOWN}{suffix}")).status == 404
            assert (await request(served.port, "POST", WELL_KNOWN)).status == 405

    asyncio.run(run())


def test_without_a_provider_there_is_no_metadata_and_no_token_is_good(
    tmp_path: Path, provider: Provider
):
    async def run() -> None:
        async with gateway(tmp_path, provider, issuer="") as served:
            assert (await request(served.port, "GET", WELL_KNOWN)).status == 404
            refused = await call(served.port, await served.robot(), "echo")
            assert refused.status == 401
            assert refused.headers["www-authenticate"] == 'Bearer realm="toolcrib"'

    asyncio.run(run())


@pytest.mark.plan(105)
def test_a_refusal_says_what_is_missing_and_where_to_get_it(tmp_path: Path, provider: Provider):
    async def run() -> None:
        async with gateway(tmp_path, provider) as served:
            port = served.port
            at = f'resource_metadata="http://127.0.0.1:{port}{WELL_KNOWN}/mcp"'
            nobody = await request(port, body=b"{}")
            assert nobody.status == 401
            assert nobody.headers["www-authenticate"] == f'Bearer scope="tools", {at}'
            bad = await call(port, "e30.e30.x", "echo")
            assert (bad.status, bad.code) == (401, "unauthorized")
            assert 'error="invalid_token"' in bad.headers["www-authenticate"]
            assert "e30" not in bad.body.decode()
            dev = await request(port, path="/mcp/dev", body=b"{}")
            assert at.replace("/mcp", "/mcp/dev") in dev.headers["www-authenticate"]
            poor = provider.signed(aud=served.resource, scope="openid")
            less = await call(port, poor, "echo")
            assert (less.status, less.code) == (403, "insufficient_scope")
            assert 'error="insufficient_scope", scope="tools"' in less.headers["www-authenticate"]
            secret = await call(port, await served.robot(), "echo", "/mcp/secret")
            assert (secret.status, secret.code) == (403, "forbidden")
            stranger = await call(port, await served.robot("stranger"), "echo")
            assert (stranger.status, stranger.code) == (403, "forbidden")
            unknown = await call(port, await served.robot(), "echo", "/mcp/nothing")
            assert unknown.status == 403  # whoever may not have it does not learn whether it is

    asyncio.run(run())


def test_keys_go_on_beside_tokens_and_each_is_somebody_else(tmp_path: Path, provider: Provider):
    async def run() -> None:
        async with gateway(tmp_path, provider) as served:
            by_key = await call(served.port, served.key, "echo", text="x")
            by_token = await call(served.port, await served.robot(), "echo", text="x")
            alice = provider.signed(aud=served.resource)
            by_alice = await call(served.port, alice, "echo", "/mcp/dev", text="x")
            texts = [
                named(each.json["result"]["content"][0]["text"])
                for each in (by_key, by_token, by_alice)
            ]
            issuer = texts[1].split(":")[1]
            assert texts == [
                "key:owner@default: x",
                f"oidc:{issuer}:robot@default: x",
                f"oidc:{issuer}:alice@dev: x",
            ]

    asyncio.run(run())


def test_a_session_ends_with_the_last_token_and_not_before(tmp_path: Path, provider: Provider):
    async def run() -> None:
        async with gateway(tmp_path, provider) as served:
            check = served.daemon.serving.authenticator
            sessions = served.daemon.serving.sessions
            token = provider.signed(aud=served.resource)
            assert (await call(served.port, token, "echo")).status == 200
            (principal,) = check._people
            check._people[principal] = 1.0  # as if it had run out
            check._first_end = 1.0
            assert not check.is_good(principal)
            await until_async(lambda: not sessions.principals(), "its session has ended")
            assert (await call(served.port, token, "echo")).status == 200

    asyncio.run(run())


def test_a_provider_that_is_down_is_told_from_a_bad_token(tmp_path: Path):
    provider = Provider(tmp_path)

    async def run() -> None:
        async with gateway(tmp_path, provider) as served:
            answer = await call(served.port, provider.signed(aud=served.resource), "echo")
            assert (answer.status, answer.code) == (503, "issuer_unreachable")
            assert int(answer.headers["retry-after"]) >= 1
            assert (await call(served.port, served.key, "echo")).status == 200

    asyncio.run(run())


class Storage:
    """Where the client of the SDK keeps what it has."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Form(HTMLParser):
    """The first form of a page: where it goes, and what is filled in already."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action, self.fields = "", dict[str, str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form" and not self.action:
            self.action = given.get("action") or ""
        if tag == "input" and given.get("name"):
            self.fields[given["name"] or ""] = given.get("value") or ""


class Browser:
    """Somebody who logs in at the provider by its own pages, and comes back with a code."""

    def __init__(self, login: str) -> None:
        self._login = login
        self._came_back = ""

    async def open(self, url: str) -> None:
        async with httpx2.AsyncClient() as http:
            page = await http.get(url)
            while not self._came_back:
                while "location" in page.headers and not self._came_back:
                    url = urljoin(url, page.headers["location"])
                    if url.startswith(CALLBACK):
                        self._came_back = url
                    else:
                        page = await http.get(url)
                if not self._came_back:
                    form = Form(page.text)
                    assert form.action, page.text
                    known = {"login": self._login, "password": "any"}
                    filled = {name: known.get(name, value) for name, value in form.fields.items()}
                    url = urljoin(url, form.action)
                    page = await http.post(url, data=filled)

    async def result(self) -> AuthorizationCodeResult:
        found = parse_qs(urlsplit(self._came_back).query)
        return AuthorizationCodeResult.model_validate({key: some[0] for key, some in found.items()})


async def echoed(url: str, auth: httpx2.Auth) -> str:
    """What a tool says to a client of the SDK that logs in so."""
    async with (
        httpx2.AsyncClient(auth=auth, timeout=HANG_S) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        result = await client.call_tool("echo", {"text": "hello"})
        (block,) = result.content
        assert block.type == "text"
        return block.text


@pytest.mark.parametrize("path", ["", "/dev"])
def test_a_person_logs_in_by_the_browser_and_calls_a_tool(
    tmp_path: Path, provider: Provider, path: str, caplog: pytest.LogCaptureFixture
):
    tokens: list[str] = []

    async def run() -> None:
        async with gateway(tmp_path, provider) as served:
            browser, storage = Browser("alice"), Storage()
            url = f"{served.resource}{path}"
            metadata = OAuthClientMetadata.model_validate(
                {"redirect_uris": [CALLBACK], "client_name": "a client of the SDK"}
            )
            auth = OAuthClientProvider(url, metadata, storage, browser.open, browser.result)
            said = await echoed(url, auth)
            assert said.startswith("oidc:")
            assert said.endswith(f":alice@{path.removeprefix('/') or 'default'}: hello")
            assert storage.client
            assert storage.client.client_id, "it has registered by itself"
            assert storage.tokens
            tokens.append(storage.tokens.access_token)

    with caplog.at_level("DEBUG", "toolcrib"):
        asyncio.run(run())
    ours = [each.getMessage() for each in caplog.records if each.name.startswith("toolcrib")]
    assert any("who=oidc:" in each for each in ours), "who came is in the log"
    assert not any(part in each for part in tokens[0].split(".") for each in ours)


def test_a_program_logs_in_by_its_own_credentials_and_calls_a_tool(
    tmp_path: Path, provider: Provider
):
    async def run() -> None:
        async with gateway(tmp_path, provider) as served:
            auth = ClientCredentialsOAuthProvider(
                served.resource, Storage(), "robot", SECRET, issuer=provider.issuer
            )
            assert (await echoed(served.resource, auth)).endswith(":robot@default: hello")

    asyncio.run(run())
