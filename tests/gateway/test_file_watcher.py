"""The daemon takes what its files say by itself, in place: what did not change runs on."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from mcp import Client
from typer.testing import CliRunner

from tests.gateway.live_daemon import LiveDaemon, entry, listed, pid_of
from tests.sources.mcp.faking import left_of, nothing_left, text
from tests.waiting import let_pass_async, until_async
from toolcrib.cli.app import app
from toolcrib.crib import inventory_of
from toolcrib.gateway.daemon import Daemon
from toolcrib.gateway.file_watcher import FileWatcher
from toolcrib.gateway.principal import LOCAL_USER, Principal, Profile
from toolcrib.gateway.server import GatewayServers
from toolcrib.model import Outcome
from toolcrib.settings import Settings, own_servers_file
from toolcrib.wiring import fit_in_place


@pytest.fixture
def live(tmp_path: Path) -> LiveDaemon:
    return LiveDaemon(tmp_path)


async def known(daemon: Daemon, *names: str) -> None:
    await until_async(
        lambda: set(inventory_of(daemon.serving.crib).servers) == set(names), f"servers: {names}"
    )


def test_servers_come_go_and_change_while_the_others_run_on(live: LiveDaemon):
    live.write({"a": entry(), "b": entry(), "c": entry()})

    async def scenario() -> None:
        async with live.serving() as daemon:
            crib = daemon.serving.crib
            await crib.refresh()
            pids = {name: await pid_of(daemon, name) for name in "abc"}
            live.write({"a": entry(), "c": entry("tool=more"), "d": entry()})
            await known(daemon, "a", "c", "d")
            assert daemon.serving.crib is crib
            assert await asyncio.to_thread(left_of, {pids["b"], pids["c"]}) == {}
            assert not [name for name in crib.entries() if name.startswith("mcp_b_")]
            await crib.refresh("c", "d")
            assert await pid_of(daemon, "a") == pids["a"]
            assert await pid_of(daemon, "d") not in pids.values()

    with nothing_left():
        asyncio.run(scenario())


def test_calls_under_way_go_on_but_those_of_a_server_that_is_gone(live: LiveDaemon):
    live.write({name: entry() for name in ("same", "other", "gone", "off")})

    async def scenario() -> list[Outcome]:
        async with live.serving() as daemon:
            crib = daemon.serving.crib
            await crib.refresh()
            calls = [
                asyncio.create_task(crib.call(f"mcp_{name}_sleep", {"s": 3}))
                for name in ("same", "other", "gone", "off")
            ]
            await until_async(
                lambda: all(
                    inventory_of(crib).servers[n]._supervisor._slots.taken
                    for n in inventory_of(crib).servers
                )
            )
            live.write({"same": entry(), "other": entry("tool=x"), "off": entry(disabled=True)})
            await known(daemon, "same", "other", "off")
            return await asyncio.gather(*calls)

    with nothing_left():
        same, other, gone, off = asyncio.run(scenario())
    assert (text(same), text(other)) == ("slept", "slept")
    assert gone.error
    assert off.error


def test_clients_stay_and_are_told(live: LiveDaemon):
    live.write({"a": entry()})
    live.write_settings(tables='[gateway]\nmode = "direct"\n')
    told: list[object] = []

    async def hear(message: object) -> None:
        told.append(message)

    async def scenario() -> tuple[set[str], set[str]]:
        async with live.serving(servers=GatewayServers) as daemon:
            await daemon.serving.crib.refresh()
            server = daemon.serving.servers.of(Principal(LOCAL_USER, Profile(mode="direct")))
            async with Client(server.mcp_server, mode="legacy", message_handler=hear) as client:
                before = {tool.name for tool in (await client.list_tools()).tools}
                live.write({})
                await until_async(lambda: told)
                after = {tool.name for tool in (await client.list_tools()).tools}
            return before, after

    before, after = asyncio.run(scenario())
    assert "mcp_a_echo" in before
    assert "mcp_a_echo" not in after
    assert "list_changed" in str(told[0])


def test_a_file_by_another_name_a_link_and_one_that_comes_late_are_followed(
    live: LiveDaemon, tmp_path: Path
):
    linked = [tmp_path / "1.json", tmp_path / "2.json"]
    live.write({"one": entry()}, linked[0])
    live.write({"two": entry()}, linked[1])
    link = tmp_path / "link.json"
    link.symlink_to(linked[0])
    live.write_settings(f'mcp_config = ["{link}"]')

    async def scenario() -> None:
        async with live.serving() as daemon:
            await known(daemon, "one")
            crib = daemon.serving.crib
            swapped = tmp_path / "swapped"
            swapped.symlink_to(linked[1])
            swapped.replace(link)
            await known(daemon, "two")
            live.write({"two": entry(), "three": entry()}, tmp_path / "new")
            (tmp_path / "new").replace(linked[1])
            await known(daemon, "two", "three")
            live.write({"late": entry()})
            await known(daemon, "two", "three", "late")
            live.write_settings()
            await known(daemon, "late")
            live.write_settings('tool_search = "off"')
            await until_async(lambda: crib.settings.tool_search == "off")
            assert daemon.serving.crib is crib

    asyncio.run(scenario())


def test_what_others_write_into_a_file_waits_for_a_yes_and_then_comes(
    live: LiveDaemon, tmp_path: Path
):
    theirs = tmp_path / ".mcp.json"
    live.write({}, theirs)
    live.write_settings(f'mcp_config = ["{theirs}"]')

    async def scenario() -> None:
        async with live.serving() as daemon:
            live.write({"new": entry()}, theirs)
            await known(daemon, "new")
            source = inventory_of(daemon.serving.crib).servers["new"]
            await until_async(lambda: source.status().failure is not None)
            failure = source.status().failure
            assert failure
            assert (failure.code, source.status().seen) == ("unreviewed", 0.0)
            await asyncio.to_thread(CliRunner().invoke, app, ["review", "--approve", "new"])
            await listed(daemon, "new")

    with nothing_left():
        asyncio.run(scenario())


def test_only_settings_that_need_it_begin_anew(live: LiveDaemon):
    live.write({"a": entry()})
    rule = '[[approval.rules]]\npattern = "a/*"\nverdict = "deny"\n'

    async def scenario() -> None:
        async with live.serving() as daemon:
            crib, house = daemon.serving.crib, daemon.serving
            await crib.refresh()
            pid = await pid_of(daemon, "a")
            live.write_settings(tables=rule)
            await until_async(lambda: crib.settings.approval.rules)
            denied = await crib.call("mcp_a_echo", {})
            assert denied.error
            assert denied.error.code == "approval_denied"
            live.write_settings(tables="[gateway.profiles.new]\n")
            await until_async(lambda: daemon.serving is not house)
            assert daemon.serving.crib is crib
            assert await pid_of(daemon, "a") == pid
            live.write_settings(tables="[call]\ntimeout_s = 7.0\n")
            await until_async(lambda: daemon.serving.crib is not crib)
            assert await asyncio.to_thread(left_of, {pid}) == {}

    with nothing_left():
        asyncio.run(scenario())


def test_clients_connect_again_where_other_tools_wait_than_before(live: LiveDaemon):
    async def scenario() -> None:
        async with live.serving() as daemon:
            crib, house = daemon.serving.crib, daemon.serving
            live.write_settings(tables="[session]\nanswer_tokens = 900\n")
            await until_async(lambda: crib.settings.session.answer_tokens == 900)
            assert daemon.serving is house
            live.write_settings('tool_search = "off"')
            await until_async(lambda: daemon.serving is not house)
            assert daemon.serving.crib is crib

    asyncio.run(scenario())


def test_a_hundred_changes_in_a_moment_end_in_the_last_one(live: LiveDaemon):
    async def scenario() -> None:
        async with live.serving() as daemon:
            for number in range(100):
                live.write({f"s{number}": entry()})
                await asyncio.sleep(0)
            await known(daemon, "s99")
            assert not daemon.broken

    asyncio.run(scenario())


def test_a_file_that_is_gone_for_a_moment_costs_nothing(live: LiveDaemon):
    live.write({"a": entry()})

    async def scenario() -> None:
        async with live.serving() as daemon:
            (before,) = inventory_of(daemon.serving.crib).servers.values()
            content = live.servers.read_text()
            live.servers.unlink()
            await let_pass_async(0.4)
            live.servers.write_text(content)
            await let_pass_async(1.5)
            assert inventory_of(daemon.serving.crib).servers == {"a": before}
            live.servers.unlink()
            await known(daemon)

    asyncio.run(scenario())


def test_two_daemons_take_the_same_change(live: LiveDaemon, tmp_path: Path):
    (tmp_path / "two").mkdir()
    live.write({"a": entry()})

    async def scenario() -> None:
        async with live.serving() as one:
            live.folder = tmp_path / "two"
            async with live.serving() as two:
                live.write({"a": entry(), "b": entry()})
                await known(one, "a", "b")
                await known(two, "a", "b")
                live.break_off()
                await until_async(lambda: one.broken and two.broken)
                assert (
                    set(inventory_of(one.serving.crib).servers)
                    == set(inventory_of(two.serving.crib).servers)
                    == {"a", "b"}
                )

    asyncio.run(scenario())


def test_a_touch_is_no_change_of_a_server(live: LiveDaemon):
    live.write({"a": entry()})

    async def scenario() -> None:
        async with live.serving() as daemon:
            before = inventory_of(daemon.serving.crib).servers["a"]
            os.utime(live.servers)
            live.servers.write_text(json.dumps(json.loads(live.servers.read_text())))
            await live.ask("changed")
            assert inventory_of(daemon.serving.crib).servers["a"] is before

    asyncio.run(scenario())


def test_what_is_written_without_end_is_read_all_the_same(tmp_path: Path):
    file = tmp_path / "log"

    async def scenario() -> None:
        async def write() -> None:
            while True:
                file.write_text(str(asyncio.get_running_loop().time()))
                await let_pass_async(0.01)

        watcher = FileWatcher(lambda: [file])
        watcher.look()
        writing = asyncio.create_task(write())
        await watcher.changed()
        writing.cancel()

    asyncio.run(scenario())


def test_a_new_file_with_servers_is_kept_from_file_tools_which_know_those_of_their_start():
    old = Settings(builtin_tools=True, mcp_config=(Path("/a.json"), own_servers_file()))
    more = old.model_copy(update={"mcp_config": (Path("/a.json"), Path("/b.json"))})
    fewer = old.model_copy(update={"mcp_config": ()})
    assert not fit_in_place(old, more)
    assert fit_in_place(old, fewer)
    assert fit_in_place(fewer, fewer.model_copy(update={"mcp_config": (own_servers_file(),)}))
    without = {"builtin_tools": False}
    assert fit_in_place(old.model_copy(update=without), more.model_copy(update=without))
