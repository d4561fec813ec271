"""The door that apps come in by: who is refused, and what the rest may register."""

import stat
from dataclasses import replace

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.defaults import APP_RULES
from tests.sources.apps.joining import raw
from tests.waiting import until
from toolcrib.errors import SourceError
from toolcrib.sources.apps import AppRegistry, public_file, read_address, server

TOOL = {"name": "add", "description": "Add"}


@pytest.fixture
def listening(apps, folder):
    apps.listen()
    return folder


def test_the_address_is_for_nobody_else_to_read_and_goes_with_us(folder):
    apps = AppRegistry(folder, APP_RULES)
    with pytest.raises(SourceError, match="start `toolcrib serve`"):
        read_address(public_file(folder))
    apps.listen()
    assert len(read_address(public_file(folder)).token) >= 32
    assert stat.S_IMODE(public_file(folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    apps.close()
    assert [path.name for path in folder.iterdir()] == [".apps.json.lock"]


def test_only_one_process_lets_apps_join(apps, listening):
    other = AppRegistry(listening, APP_RULES)
    with pytest.raises(SourceError, match="another Toolcrib"):
        other.listen()
    other.close()
    apps.close()
    third = AppRegistry(listening, APP_RULES)
    third.listen()
    third.close()


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {"Origin": "http://evil.example"}),
        ("/", {"Origin": "null"}),
        ("/", {"Origin": "http://127.0.0.1"}),
        ("/other", {}),
    ],
)
def test_web_pages_and_other_paths_are_refused(listening, path, headers):
    with pytest.raises(InvalidStatus), raw(listening, path, **headers):
        pass


def test_another_host_name_is_refused(listening):
    port = read_address(public_file(listening)).port
    with pytest.raises(InvalidStatus):
        connect(f"ws://evil.example:{port}/", sock=_connected(port), proxy=None)


def _connected(port):
    import socket  # noqa: PLC0415 - for this one

    return socket.create_connection(("127.0.0.1", port))


def test_a_wrong_token_opens_nothing(apps, listening):
    with raw(listening) as app:
        assert app.hello(token="x")["error"]["code"] == -32001
        assert app.ask("register", tools=[TOOL])["error"]["code"] == -32001
    assert apps.sources == ()


def test_who_says_no_hello_has_to_go(listening, monkeypatch):
    monkeypatch.setattr(server, "HELLO_S", 0.1)
    with raw(listening) as app, pytest.raises(ConnectionClosed):
        app.hear()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"jsonrpc":"2.0","method":"a","method":"b"}'])
def test_what_is_no_message_ends_the_connection(listening, text):
    with raw(listening) as app:
        app.hello()
        app.socket.send(text)
        assert app.hear()["error"]["code"] in (-32700, -32600)
        with pytest.raises(ConnectionClosed):
            app.hear()


def test_a_message_that_is_too_large_ends_the_connection(listening):
    with raw(listening) as app:
        app.hello()
        app.socket.send("x" * 5_000_000)
        with pytest.raises(ConnectionClosed):
            app.hear()


def test_a_method_that_is_none_is_answered(listening):
    with raw(listening) as app:
        assert app.ask("launch", command=["x"])["error"]["code"] == -32601


def test_the_first_register_replaces_and_the_next_add(apps, listening):
    for _ in range(2):
        with raw(listening) as app:
            assert app.hello()["result"] == {"protocol": 1, "launch": []}
            first = app.ask("register", tools=[TOOL, {"name": "b"}])["result"]
            assert first == {"registered": ["add", "b"], "refused": {}}
            assert app.ask("register", tools=[{"name": "c"}])["result"]["registered"] == [
                "add",
                "b",
                "c",
            ]
            assert app.ask("unregister", names=["b", "z"])["result"]["registered"] == ["add", "c"]
        (source,) = apps.sources
        until(lambda source=source: not source.connected)
        assert [tool.name for tool in source.capabilities()] == ["add", "c"]
        assert source.state("add") == "asleep"


def test_one_bad_tool_hides_no_other(apps, listening):
    with raw(listening) as app:
        app.hello()
        told = app.ask("register", tools=[{"name": "a b"}, TOOL, TOOL])["result"]
        assert told["registered"] == ["add"]
        assert set(told["refused"]) == {"a b", "add"}
        assert app.ask("register", tools=[1])["error"]["code"] == -32602
        assert app.ask("register")["error"]["code"] == -32602
        assert len(apps.sources[0].problems) == 2


def test_a_name_is_one_apps_at_a_time(listening):
    with raw(listening) as first, raw(listening) as second:
        assert "result" in first.hello()
        assert second.hello()["error"]["code"] == -32002
        assert "result" in second.hello(name="other")
        assert second.hello(name="third")["error"]["code"] == -32600


def test_the_first_launch_command_stays_until_the_operator_says_otherwise(apps, listening):
    with raw(listening) as app:
        app.hello(launch=["/bin/first"])
        app.ask("register", tools=[TOOL])
    (source,) = apps.sources
    until(lambda: not source.connected)
    with raw(listening) as app:
        assert app.hello(launch=["/bin/evil"])["result"]["launch"] == ["/bin/first"]
        app.ask("register", tools=[TOOL])
        assert source.launch == ("/bin/first",)
        assert "/bin/evil" in source.problems[0]
    apps.close()
    (again,) = AppRegistry(listening, APP_RULES).sources
    assert again.launch == ("/bin/first",)
    (set_by_hand,) = AppRegistry(
        listening, replace(APP_RULES, launch={"raw": ["/bin/mine"]})
    ).sources
    assert set_by_hand.launch == ("/bin/mine",)
