import json
from dataclasses import replace

import pytest

from toolcrib.sources.mcp import ServerAddress, ServerCommand, ServerConfig, read_servers
from toolcrib.sources.mcp.config.server import OAuth
from toolcrib.sources.mcp.identity import config_hash


@pytest.fixture
def read(tmp_path):
    def read(servers, table="mcpServers"):
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({table: servers}))
        return read_servers([file])

    return read


def test_a_command_and_an_address_are_read_as_clients_write_them(read):
    found = read(
        {
            "git": {
                "command": "uvx",
                "args": ["mcp-server-git"],
                "env": {"A": "1"},
                "type": "stdio",
            },
            "docs": {"type": "http", "url": "https://example.org/mcp", "headers": {"X": "${T}"}},
            "bare": {"url": "http://localhost:1/mcp"},
        }
    )
    assert found.problems == ()
    git, docs, bare = found.servers
    assert replace(git, is_own=True) == ServerConfig(
        "git", ServerCommand("uvx", ("mcp-server-git",), {"A": "1"})
    )
    assert docs.transport == ServerAddress("https://example.org/mcp", {"X": "${T}"})
    assert bare.transport == ServerAddress("http://localhost:1/mcp")


def test_the_word_of_vs_code_is_understood(read):
    assert [one.id for one in read({"a": {"command": "x"}}, table="servers").servers] == ["a"]


def test_our_own_keys(read, tmp_path):
    (server,) = read(
        {
            "github": {
                "command": "gh-mcp",
                "cwd": "work",
                "disabled": True,
                "tool_prefix": "gh",
                "idle_timeout_s": 5,
                "start_timeout_s": 6.5,
                "call_timeout_s": 7,
                "env_from": ["TOKEN"],
                "permission": {"delete_*": "dangerous", "*": "network"},
                "defer": "always",
                "always_load": ["search"],
                "trust": "strict",
                "believe_annotations": False,
            }
        }
    ).servers
    assert isinstance(server.transport, ServerCommand)
    assert server.transport.cwd == str(tmp_path / "work")
    assert server.transport.env_from == {"TOKEN": "TOKEN"}
    assert (server.prefix, server.disabled, server.trust) == ("gh", True, "strict")
    assert not server.believe_annotations
    assert (server.idle_timeout_s, server.start_timeout_s, server.call_timeout_s) == (5, 6.5, 7)
    assert server.permission_of("delete_repo") == "dangerous"
    assert server.permission_of("list_repos") == "network"
    assert (server.defer, server.always_loads("search"), server.always_loads("x")) == (
        "always",
        True,
        False,
    )


def test_a_server_elsewhere_gets_more_calls_at_once(read):
    near, far, set_so = read(
        {
            "near": {"command": "x"},
            "far": {"url": "https://far.example/mcp"},
            "set": {"command": "x", "calls_at_once": 1, "calls_waiting": 2},
        }
    ).servers
    assert near.calls_at_once < far.calls_at_once
    assert (set_so.calls_at_once, set_so.calls_waiting) == (1, 2)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "8"])
def test_a_count_that_is_none_is_a_problem(read, value):
    found = read({"a": {"command": "x", "calls_at_once": value}})
    assert "'calls_at_once' has to be a whole number above 0" in found.problems[0]
    assert found.servers[0].calls_at_once == ServerCommand.CALLS_AT_ONCE


def test_always_load_true_means_every_tool_and_env_from_may_rename(read):
    (server,) = read(
        {"a": {"command": "x", "always_load": True, "env_from": {"IN": "OUT"}}}
    ).servers
    assert server.always_loads("anything")
    assert isinstance(server.transport, ServerCommand)
    assert server.transport.env_from == {"IN": "OUT"}


def test_an_unknown_key_is_reported_with_the_nearest_and_costs_nothing(read):
    found = read({"a": {"command": "x", "comand": "y", "autoApprove": []}})
    assert len(found.servers) == 1
    (problem,) = found.problems
    assert "'comand'; the nearest is 'command'" in problem


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({}, "needs a `command`"),
        ({"command": "x", "type": "http"}, "needs a `command`"),
        ({"url": "ftp://x"}, "http://"),
        ({"url": "https://x", "type": "ws"}, "type http, or sse"),
        ({"command": "x", "type": "sse"}, "type http, or sse"),
        ("text", "has to be an object"),
    ],
)
def test_a_server_that_cannot_be_used_costs_no_other(read, server, words):
    found = read({"bad": server, "good": {"command": "x"}})
    assert [one.id for one in found.servers] == ["good"]
    assert words in found.problems[0]
    assert "'bad'" in found.problems[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("args", "text"),
        ("args", [1]),
        ("env", {"A": 1}),
        ("disabled", "yes"),
        ("idle_timeout_s", 0),
        ("idle_timeout_s", True),
        ("permission", {"a": "everything"}),
        ("permission", ["read"]),
        ("defer", "later"),
        ("trust", "blind"),
        ("always_load", "a"),
        ("env_from", "A"),
        ("env_from", True),
        ("tool_prefix", 3),
    ],
)
def test_a_value_that_does_not_fit_is_a_problem_and_leaves_the_default(read, key, value):
    found = read({"a": {"command": "x", key: value}})
    assert found.servers == (ServerConfig("a", ServerCommand("x"), is_own=False),)
    assert f"{key!r} has to be" in found.problems[0]


def test_a_file_of_others_makes_nothing_more_open(read):
    keys = {"trust": "open", "sampling": True, "elicitation": False, "believe_annotations": False}
    found = read({"a": {"command": "x", **keys}, "b": {"command": "x", "trust": "strict"}})
    first, second = found.servers
    assert (first.trust, first.sampling, second.trust) == ("pinned", False, "strict")
    assert not first.elicitation
    assert not first.believe_annotations
    assert "'a'" in found.problems[0]
    assert "`trust: open` and `sampling` do not count" in found.problems[0]
    assert "`toolcrib import`" in found.problems[0]


def test_broken_json_names_file_and_line_and_costs_no_other_file(tmp_path):
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text('{\n "mcpServers": {,}\n}')
    good.write_text('{"mcpServers": {"a": {"command": "x"}}}')
    found = read_servers([bad, tmp_path / "gone.json", good])
    assert [one.id for one in found.servers] == ["a"]
    assert found.problems[0].startswith(f"{bad}:2: not JSON")
    assert "gone.json" in found.problems[1]


@pytest.mark.parametrize("text", ["[]", "{}", '{"mcpServers": []}', "[" * 100_000])
def test_a_file_of_another_kind_is_a_problem(tmp_path, text):
    file = tmp_path / "mcp.json"
    file.write_text(text)
    found = read_servers([file])
    assert found.servers == ()
    assert f"{file}:1:" in found.problems[0]


def test_an_oversized_file_is_a_problem(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {}}' + " " * 2_000_000)
    assert "larger than" in read_servers([file]).problems[0]


def test_of_two_servers_with_one_name_the_first_counts(tmp_path):
    one, two = tmp_path / "1.json", tmp_path / "2.json"
    one.write_text('{"mcpServers": {"a": {"command": "first"}}}')
    two.write_text('{"mcpServers": {"a": {"command": "second"}}}')
    found = read_servers([one, two])
    assert [one.transport for one in found.servers] == [ServerCommand("first")]
    assert "another server" in found.problems[0]


def test_values_of_the_environment_do_not_show(read):
    (server,) = read({"a": {"command": "x", "env": {"TOKEN": "s3cret"}}}).servers
    assert "s3cret" not in repr(server)


def test_how_to_be_let_in_may_be_said(read):
    said = {"client_id": "us", "client_secret": "s3cret", "redirect_port": 8123, "scope": "a b"}
    (server,) = read({"far": {"url": "https://x", "oauth": said}}).servers
    assert server.transport.oauth == OAuth("authorization_code", "us", "s3cret", "", "a b", 8123)
    assert "s3cret" not in repr(server)
    assert config_hash(server.transport, bytes(32)) != config_hash(
        ServerAddress("https://x"), bytes(32)
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("yes", "'oauth' has to be an object"),
        ({"grant": "magic"}, "oauth: 'grant' has to be one of"),
        ({"redirect_port": 70_000}, "oauth: 'redirect_port' has to be a port"),
        ({"clientid": "us"}, "oauth: there is no key 'clientid'; the nearest is 'client_id'"),
        ({"grant": "client_credentials", "client_id": "us"}, "needs a `client_id`"),
    ],
)
def test_what_is_wrong_with_it_is_a_problem(read, said, words):
    found = read({"far": {"url": "https://x", "oauth": said}})
    assert len(found.servers) == 1
    assert words in found.problems[0]


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"url": "https://x/mcp"}, "http"),
        ({"url": "https://x/mcp", "type": "sse"}, "sse"),
        ({"url": "https://x/sse/?a=b"}, "sse"),
        ({"url": "https://x/sse", "type": "http"}, "http"),
        ({"url": "https://x/essence"}, "http"),
    ],
)
def test_an_old_address_is_known_by_its_type_or_its_path(read, entry, kind):
    (server,) = read({"a": entry}).servers
    assert server.transport.kind == kind
