"""A crib with MCP servers: added in one line, refreshed, warmed up."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources.mcp.faking import FAKE, nothing_left, own_file, text
from tests.waiting import let_pass, until
from toolcrib import Crib, Settings
from toolcrib.crib import inventory_of
from toolcrib.errors import ConfigError, NameTaken
from toolcrib.settings import ApprovalSettings, McpSettings

COMMAND = [sys.executable, "-S", str(FAKE)]
ENTRY = {"command": COMMAND[0], "args": COMMAND[1:]}


@pytest.fixture
def crib() -> Iterator[Crib]:
    with nothing_left(), Crib(Settings(store=":memory:", mcp=McpSettings(warm_up=True))) as crib:
        yield crib


def test_a_server_is_one_line_and_its_tools_are_found_once_it_was_listed(crib: Crib):
    crib.add_mcp("fake", command=COMMAND, permission={"*": "read"})
    assert "refresh" in crib.problems[0]
    assert not crib.search("echo")
    (done,) = asyncio.run(crib.refresh())
    assert (done.server, done.tools, done.error) == ("fake", 12, "")
    assert not crib.problems
    assert crib.search("select:echo")[0].name == "mcp_fake_echo"
    assert text(asyncio.run(crib.call("echo", {"text": "hi"}))) == "hi"
    with Crib() as another:
        another.add_mcp("fake", command=COMMAND[0], args=COMMAND[1:])
        assert another.get("mcp_fake_echo").state == "asleep"


def test_an_approval_for_one_entry_is_none_for_another_of_its_program():
    settings = Settings(store=":memory:", approval=ApprovalSettings(servers="ask"))
    with nothing_left(), Crib(settings) as crib:
        for name in ("test", "live"):
            crib.add_mcp(name, command=[*COMMAND, f"--{name}"])
        asyncio.run(crib.refresh())
        call = lambda name: asyncio.run(crib.call(name, {"text": "hi"}))  # noqa: E731
        waits = call("mcp_test_echo").error
        assert waits
        assert crib.operator.tickets.approve(waits.ticket)
        other = call("mcp_live_echo").error
        assert other
        assert (other.code, other.ticket != waits.ticket) == ("approval_needed", True)
        assert not getattr(call("mcp_test_echo").error, "ticket", "")


def test_what_a_program_says_of_trust_counts(crib: Crib):
    crib.add_mcp("fake", command=COMMAND, trust="open", sampling=True)
    config = inventory_of(crib).servers["fake"].config
    assert (config.trust, config.sampling, config.is_own) == ("open", True, True)


def test_files_and_mappings_are_taken_whole(crib: Crib, tmp_path: Path):
    file = own_file()
    file.write_text(json.dumps({"mcpServers": {"a": ENTRY}}))
    crib.add_mcp(file)
    crib.add_mcp({"mcpServers": {"b": ENTRY, "c": ENTRY}})
    crib.add_mcp({"d": ENTRY})
    done = asyncio.run(crib.refresh("a", "d"))
    assert [(each.server, each.error) for each in done] == [("a", ""), ("d", "")]
    with pytest.raises(ConfigError, match="nearest: a"):
        asyncio.run(crib.refresh("aa"))


def test_one_that_fails_costs_no_other(crib: Crib):
    crib.add_mcp("good", command=COMMAND)
    crib.add_mcp("bad", command="there-is-no-such-command")
    good, bad = asyncio.run(crib.refresh())
    assert good.tools == 12
    assert "cannot be started" in bad.error


def test_what_is_wrong_with_an_entry_is_raised(crib: Crib):
    with pytest.raises(ConfigError, match="`command`"):
        crib.add_mcp("a")
    with pytest.raises(ConfigError, match="nearest is 'args'"):
        crib.add_mcp({"a": {"command": "x", "argz": []}})
    with pytest.raises(ConfigError, match="come with its name"):
        crib.add_mcp({"a": {"command": "x"}}, url="http://x")
    crib.add_mcp("a", url="http://x")
    with pytest.raises(NameTaken, match="'a'"):
        crib.add_mcp("a", command="x")


def asleep() -> None:
    """See to it that the server `fake` is known and no more."""
    with Crib() as crib:
        crib.add_mcp("fake", command=COMMAND)
        asyncio.run(crib.refresh())


def test_a_search_starts_the_server_of_its_best_hit(crib: Crib):
    asleep()
    crib.add_mcp("fake", command=COMMAND)
    assert crib.search("select:echo")[0].state == "asleep"
    assert until(lambda: crib.get("echo").state == "ready")


def test_a_search_starts_nothing_unless_it_is_told_to():
    asleep()
    with Crib() as crib:
        crib.add_mcp("fake", command=COMMAND)
        assert crib.search("select:echo")[0].state == "asleep"
        (source,) = inventory_of(crib).servers.values()
        assert source._supervisor._starting is None
        assert source._loop._thread is None


def test_a_server_that_fails_is_not_warmed_up_again_and_again(crib: Crib):
    asleep()
    crib.add_mcp("fake", command=COMMAND)
    (source,) = inventory_of(crib).servers.values()
    tried: list[float] = []

    async def start() -> None:
        tried.append(time.monotonic())
        raise AssertionError

    source._supervisor._breaker.failed(time.monotonic(), was_up=False)
    source._supervisor._awake = start  # pyright: ignore[reportAttributeAccessIssue]
    for _ in range(3):
        assert crib.search("select:echo")
    let_pass()
    assert not tried


def test_the_memory_of_a_server_that_runs_is_told(crib: Crib):
    crib.add_mcp("fake", command=COMMAND)
    (source,) = inventory_of(crib).servers.values()
    assert source.status().memory_bytes is None
    asyncio.run(crib.refresh())
    if Path("/proc").is_dir():
        assert (source.status().memory_bytes or 0) > 1_000_000


@pytest.mark.plan(29)
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "object", "title": "x" * 70_000}, "larger than 64 KiB"),
        ({"type": "object", "title": "x" * 2_000_000}, "not an object"),
        (json.loads('{"properties": {"a": ' * 20 + "{}" + "}}" * 20), "deeper than 32"),
        (json.loads('{"properties": {"a": ' * 90 + "{}" + "}}" * 90), "not an object"),
        (["type"], "not an object"),
        (False, "not an object"),
    ],
    ids=["large", "vast", "deep", "abysmal", "list", "false"],
)
def test_a_tool_whose_schema_cannot_be_kept_is_found_and_not_called(
    crib: Crib, tmp_path: Path, schema: object, why: str
):
    file = tmp_path / "rug.json"
    file.write_text(json.dumps({"echo": {"inputSchema": schema}}))
    crib.add_mcp("fake", command=[*COMMAND, f"rug={file}"], permission={"*": "read"})
    (done,) = asyncio.run(crib.refresh())
    assert (done.tools, done.error) == (12, "")
    assert crib.search("select:echo")[0].name == "mcp_fake_echo"
    outcome = asyncio.run(crib.call("echo", {"text": "hi"}))
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("schema_refused", "not_sent")
    assert why in outcome.error.message
    assert asyncio.run(crib.call("progress", {"steps": 1})).ok


@pytest.mark.parametrize("code", [-32000, -32001, -32603, 7])
def test_an_error_that_a_server_answers_with_is_that_servers(crib: Crib, code: int):
    crib.add_mcp("fake", command=COMMAND, permission={"*": "read"})
    asyncio.run(crib.refresh())
    before = text(asyncio.run(crib.call("pid")))
    outcome = asyncio.run(crib.call("error", {"code": code}))
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("server_error", "failed")
    assert "out of paper" in outcome.error.message
    assert outcome.meta == {"code": code}
    assert text(asyncio.run(crib.call("pid"))) == before
    gone = asyncio.run(crib.call("crash"))
    assert gone.error
    assert gone.error.code == "connection_lost"
