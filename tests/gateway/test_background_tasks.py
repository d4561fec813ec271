"""What was never listed is listed in the background, and a search says that it is not yet."""

import asyncio
import logging
from pathlib import Path

import pytest

from tests.gateway.live_daemon import LiveDaemon, entry, listed, pid_of
from tests.sources.mcp.faking import nothing_left
from tests.waiting import let_pass_async, until_async
from toolcrib.access import Scope
from toolcrib.crib import inventory_of
from toolcrib.gateway import background_tasks
from toolcrib.model import ToolInfo

HANGS = entry("hang-initialize", start_timeout_s=60)


@pytest.fixture
def live(tmp_path: Path) -> LiveDaemon:
    return LiveDaemon(tmp_path)


def test_servers_that_nobody_has_listed_are_listed_at_the_start_and_when_they_come(
    live: LiveDaemon, caplog: pytest.LogCaptureFixture
):
    live.write({"a": entry(), "off": entry(disabled=True)})

    async def scenario() -> None:
        async with live.serving() as daemon:
            await until_async(lambda: "mcp_a_echo" in daemon.serving.crib.entries())
            live.write({"a": entry(), "b": entry()})
            await listed(daemon, "a", "b")
            (b, *_) = [each for each in (await live.ask("servers"))["servers"] if each["seen"]]
            assert not b["listing"]

    with caplog.at_level(logging.INFO, "toolcrib"), nothing_left():
        asyncio.run(scenario())
    told = [each.getMessage() for each in caplog.records]
    assert len([each for each in told if "'a': up after" in each and "lists 12" in each]) == 1
    assert "'off'" not in caplog.text
    assert "run `toolcrib refresh`" not in caplog.text


def test_what_is_known_is_not_started_again(live: LiveDaemon):
    live.write({"a": entry()})

    async def first() -> None:
        async with live.serving() as daemon:
            await listed(daemon, "a")

    async def again() -> None:
        async with live.serving() as daemon:
            await let_pass_async()
            assert not inventory_of(daemon.serving.crib).servers["a"]._supervisor.up

    asyncio.run(first())
    asyncio.run(again())


def test_a_failure_is_kept_with_its_reason_and_tried_again_more_and_more_rarely(
    live: LiveDaemon, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(background_tasks, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(background_tasks, "LONGEST_PAUSE_S", 0.02)
    late = live.folder / "late"
    live.write({"late": {"command": str(late)}, "poor": entry(env_from=["NOBODY_HAS_THIS"])})

    async def scenario() -> None:
        async with live.serving() as daemon:
            servers = inventory_of(daemon.serving.crib).servers
            poor = await until_async(lambda: servers["poor"].status().failure)
            first = await until_async(lambda: servers["late"].status().failure)
            assert poor
            assert first
            assert "NOBODY_HAS_THIS" in poor.message
            assert poor.code == "not_configured"
            await until_async(lambda: (servers["late"].status().failure or first).at > first.at)
            assert not any(each.listing for each in servers.values())  # between tries and in them
            assert "listed" not in daemon.serving.crib.search("echo a text").note

            async def remedy() -> str:  # between two tries: while one is under way there is none
                said = {each["server"]: each for each in (await live.ask("servers"))["servers"]}
                return said["late"]["remedy"]

            assert (await until_async(remedy)).endswith("then run toolcrib refresh late")
            fake = entry()
            words = " ".join([fake["command"], *fake["args"]])
            late.write_text(f"#!/bin/sh\nexec {words}\n")
            late.chmod(0o700)
            await until_async(lambda: "mcp_late_echo" in daemon.serving.crib.entries())
            assert servers["poor"].status().failure == poor  # nobody has tried again

    with caplog.at_level(logging.INFO, "toolcrib"):
        asyncio.run(scenario())
    assert caplog.text.count("'late' cannot be started") + caplog.text.count("/late' cannot") == 1


def test_a_search_says_that_servers_are_still_being_listed_to_those_who_may_know(
    live: LiveDaemon,
):
    live.write({"a": entry(), "slow": HANGS})

    async def scenario() -> None:
        async with live.serving() as daemon:
            crib = daemon.serving.crib
            await until_async(lambda: "mcp_a_echo" in crib.entries())
            assert inventory_of(crib).servers["slow"].listing
            said = crib.search("echo a text").note
            assert "1 server is still being listed (slow)" in said
            others = Scope(sources=frozenset({"a"}))
            assert "listed" not in crib.search("echo a text", scope=others).note
            live.write({"a": entry()})
            await until_async(lambda: "slow" not in inventory_of(crib).servers)
            assert "listed" not in crib.search("echo a text").note

    with nothing_left():
        asyncio.run(scenario())


def test_a_server_that_changes_while_it_is_listed_is_listed_as_it_is_then(live: LiveDaemon):
    live.write({"a": HANGS})

    async def scenario() -> None:
        async with live.serving() as daemon:
            await until_async(lambda: inventory_of(daemon.serving.crib).servers["a"].listing)
            live.write({"a": entry()})
            await listed(daemon, "a")

    with nothing_left():
        asyncio.run(scenario())


def test_our_own_view_of_a_server_changes_without_ending_its_process(live: LiveDaemon):
    live.write({"a": entry()})

    async def scenario() -> None:
        async with live.serving() as daemon:
            await listed(daemon, "a")
            crib, pid = daemon.serving.crib, await pid_of(daemon, "a")

            def kind() -> str:
                tool = crib.get("mcp_a_echo").capability
                return tool.permission_kind if isinstance(tool, ToolInfo) else ""

            assert kind() == "read"
            source = inventory_of(crib).servers["a"]
            live.write({"a": entry() | {"permission": {"sleep": "read", "echo": "network"}}})
            await until_async(lambda: kind() == "network")
            assert inventory_of(crib).servers["a"] is source
            assert source.status().state == "ready"
            live.write({"a": entry()})
            await until_async(lambda: kind() == "read")
            assert await pid_of(daemon, "a") == pid

    asyncio.run(scenario())
