"""Clients: what each sees, profiles, keys and conversations, with a gateway and without."""

import asyncio
import re
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.asking import Asked, FakeGateway
from tests.dashboard.eventful import call, listed, search, write
from tests.dashboard.test_screens import Elements, view
from tests.gateway.clients import ANN, connected
from tests.gateway.daemons import files_in, serving
from tests.gateway.test_client_events import many_tools
from toolcrib.dashboard import Operations
from toolcrib.dashboard.client_queries import ClientQueries, ProfileTools
from toolcrib.dashboard.login import ACT_S
from toolcrib.dashboard.operations import Overview
from toolcrib.dashboard.screens.clients import clients_screen, profile_screen
from toolcrib.errors import ConfigError
from toolcrib.gateway import KeyTerms, ask_daemon, is_daemon_running, keys_in
from toolcrib.gateway.keys import Keys
from toolcrib.gateway.server import GatewayServers
from toolcrib.model import Event, Json
from toolcrib.settings import Settings

NOW = time.time()
CONNECTED: Mapping[str, Any] = {
    "name": "cursor",
    "version": "1.9",
    "protocol": "2025-11-25",
    "mode": "search",
    "principal": "local",
    "profile": "default",
    "requests": 12,
}


def keys() -> Keys:
    return keys_in(Settings().state_folder)


def asked_with(**reads: Any) -> Asked:
    gateway = FakeGateway()
    gateway.reads.update(reads)
    asked = Asked(gateway)
    asked.operations.clients = ClientQueries(asked.operations.events, gateway, keys)
    return asked


def test_each_client_is_told_with_what_it_sees_and_what_that_saves():
    write(
        [
            listed(90_000, 90_000, NOW - 100),
            listed(90_000, 1_800, NOW - 50),
            listed(1_000, 1_000, NOW - 10, client="zed", caller="key:laptop@reading"),
        ]
    )
    other = {**CONNECTED, "name": "vim", "requests": 1}
    asked = asked_with(status={"clients": [CONNECTED, other]})
    seen = asked.operations.clients.look().clients
    assert [(each.name, each.connected) for each in seen] == [
        ("cursor", True),
        ("vim", True),
        ("zed", False),
    ]
    text = Elements(asked.get("/clients", asked.logged_in()).body.decode()).text
    assert "cursor 1.9searchlocal@default5 of 81298%connected, 12 requests" in text
    assert "not listed yet" in text
    assert "key:laptop@reading5 of 8120%" in text


def test_profiles_are_those_of_the_settings_without_a_gateway():
    settings = Settings.model_validate({"gateway": {"profiles": {"reading": {"mode": "reveal"}}}})
    operations = Operations(lambda: settings, lambda _do, /, **_more: None)
    profiles = operations.clients.look().profiles
    assert [tuple(each) for each in profiles] == [
        ("default", "auto", None),
        ("reading", "reveal", None),
    ]
    assert "toolcrib serve" in operations.clients.profile("reading", "").problem
    assert not operations.clients.look().keys
    with pytest.raises(ConfigError, match="no key"):
        operations.clients.remove_key("laptop")


@pytest.mark.plan(96)
def test_a_key_is_taken_back_by_its_own_button_within_minutes():
    keys().add("laptop")
    keys().add("phone", KeyTerms(("default", "reading"), expires_at=NOW + 60))
    keys().note_used({each.id: NOW for each in keys().all() if each.name == "laptop"})
    asked = asked_with(status={"clients": []})
    cookie = asked.logged_in()
    page = asked.get("/clients", cookie).body.decode()
    assert page.count('action="/act/remove_key"') == 2
    secret = [key.secret[:2] for key in keys().all()]
    assert not any(each in page for pair in secret for each in pair)
    seen = {each.name: each[-2:] for each in asked.operations.clients.look().keys}
    assert seen == {"laptop": (NOW, 0.0), "phone": (0.0, NOW + 60)}
    wrong = {**asked.fields("remove_key", ("laptop",), cookie), "subject": "phone"}
    assert asked.post("/act/remove_key", wrong, cookie).status == 403
    done = asked.act("remove_key", ("laptop",), cookie)
    assert done.headers["location"] == "/clients?notice=1"
    assert [each.name for each in keys().all()] == ["phone"]
    again = asked.act("remove_key", ("laptop",), cookie)
    assert b"notice bad" in asked.get(again.headers["location"], cookie).body
    asked.clock.now += ACT_S
    assert asked.act("remove_key", ("phone",), cookie).status == 403
    assert "/act/remove_key" not in asked.get("/clients", cookie).body.decode()
    assert len(keys().all()) == 1


def test_keys_that_cannot_be_read_are_a_problem_and_no_empty_list():
    folder = Settings().state_folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "keys.db").write_text("nonsense, and no database")
    asked = asked_with(status={"clients": []})
    text = Elements(asked.get("/clients", asked.logged_in()).body.decode()).text
    assert "keys.db" in text
    assert "There are no keys" not in text


def test_a_gateway_that_fails_is_told_of():
    def broken(do: str, /, **_more: Json) -> Json:
        raise ConfigError(f"the gateway does not answer {do}")

    operations = Operations(Settings, broken)
    assert operations.clients.look().problems == ("the gateway does not answer status",)
    assert operations.clients.profile("x", "").problem == "the gateway does not answer profiles"
    write([search("x")])
    assert operations.clients.conversation("c1").events


def test_conversations_are_paged_and_lead_to_what_was_shown():
    events = [call(at=NOW + number, conversation=f"c{number:03}") for number in range(60)]
    shown = Event(NOW, "reveal", "local@default", "cursor", "c000")
    facts = {"tools": ["send_invoice", "send_mail"], "set": "m4rk", "tokens": 310}
    write(
        [search("mail an invoice", NOW, conversation="c000"), shown._replace(facts=facts), *events]
    )
    sets = [
        {"set": "m4rk", "caller": "local@default", "tools": ["send_invoice"], "unused_s": 5.0},
        {"set": "other", "caller": "local@default", "tools": ["nothing_of_ours"], "unused_s": 5.0},
    ]
    asked = asked_with(status={"clients": []}, sets=sets)
    cookie = asked.logged_in()
    seen: list[str] = []
    address = "/clients"
    for _ in range(3):
        page = asked.get(address, cookie).body.decode()
        seen += re.findall(r'"/conversation\?mark=(\w+)"', page)
        address = next(iter(re.findall(r'"(/clients\?before=\d+)#conversations"', page)), "")
    assert seen == [f"c{number:03}" for number in reversed(range(60))]
    assert not address
    text = Elements(asked.get("/conversation?mark=c000", cookie).body.decode()).text
    for words in ("send_invoice, send_mail", "Tokens310", "Searches1", "Calls1", "m4rk"):
        assert words in text
    assert "Sets that it may still call from" in text
    assert "nothing_of_ours" not in text
    for gone in ("", "nix"):
        missing = asked.get(f"/conversation?mark={gone}", cookie).body
        assert b"No such conversation" in missing


def test_a_profile_is_shown_page_by_page():
    quiet = view(Overview(has_gateway=True))
    names = [f"tool_{number:03}" for number in range(100)]
    page = str(profile_screen(quiet, ProfileTools("a&b", names, 250, before=100)))
    assert "101 to 200 of 250 tools" in Elements(page).text
    assert 'href="/profile?name=a%26b&amp;after=tool_099"' in page
    last = str(profile_screen(quiet, ProfileTools("x", names[:50], 250, before=200)))
    assert "after=" not in last


def test_at_a_real_gateway_it_is_what_its_clients_see(tmp_path: Path):
    async def scenario() -> None:
        place = files_in(tmp_path)

        def ask(do: str, /, **more: Json) -> Json:
            return ask_daemon(place, do, **more) if is_daemon_running(place) else None

        async with serving(tmp_path, crib=many_tools, servers=GatewayServers) as (daemon, _):
            clients = Operations(Settings, ask).clients
            async with connected(daemon.serving.servers.of(ANN), name="cursor") as client:
                await client.call_tool("tool_search", {"query": "mail an invoice"})
            look = partial(asyncio.to_thread, clients.look)
            assert [tuple(each) for each in (await look()).profiles] == [("default", "auto", 41)]
            tools = await asyncio.to_thread(clients.profile, "default", "count_sheep_8")
            assert list(tools.names) == ["count_sheep_9", "send_invoice"]
            unknown = await asyncio.to_thread(clients.profile, "nix", "")
            assert "no profile" in unknown.problem
            (shown,) = await asyncio.to_thread(clients._sets)
            assert shown.tools[0] == "send_invoice"

    asyncio.run(scenario())


def test_nobody_yet_is_no_failure():
    seen = asked_with().operations.clients.look()
    assert "No client yet" in Elements(str(clients_screen(view(Overview(True)), seen))).text
