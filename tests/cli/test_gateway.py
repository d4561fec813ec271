import asyncio
import socket
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Run
from tests.gateway.daemons import bare, serving
from tests.gateway.live_daemon import LiveDaemon, entry
from tests.waiting import until_async
from toolcrib.cli.global_options import GlobalOptions, daemon_place
from toolcrib.connect import DaemonInfo
from toolcrib.crib import Crib
from toolcrib.errors import ConfigError
from toolcrib.execute import Caller
from toolcrib.gateway import ask_daemon, operator_client
from toolcrib.gateway.daemon import Daemon
from toolcrib.gateway.daemon_lock import DaemonLock
from toolcrib.system import RUN_FOLDER_VARIABLE

Command = Callable[..., Coroutine[Any, Any, Ran]]


def with_a_tool() -> Crib:
    crib = Crib.from_settings(bare())

    def send_mail(to: str) -> str:
        """Send a mail."""
        return f"sent to {to}"

    crib.add(send_mail, permission_kind="network", approval="ask")
    return crib


@pytest.fixture
def beside(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs a scenario beside a daemon, with the command line at hand."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path / "run"))

    async def command(*words: str) -> Ran:
        return await asyncio.to_thread(run, *words)

    async def served(scenario: Callable[[Daemon, Command], Coroutine[Any, Any, None]]) -> None:
        async with serving(tmp_path, crib=with_a_tool) as (daemon, _):
            await scenario(daemon, command)

    return lambda scenario: asyncio.run(served(scenario))


def test_status_is_shown(beside: Any):
    async def scenario(daemon: Daemon, command: Command) -> None:
        shown = (await command("gateway", "status")).out
        assert f"http://127.0.0.1:{daemon.port}/mcp" in shown
        assert "1 capabilities" in shown
        assert "No client" in shown
        assert (await command("gateway", "status", "--json")).json["clients"] == []

    beside(scenario)


def test_it_is_reloaded_and_stopped(beside: Any):
    async def scenario(daemon: Daemon, command: Command) -> None:
        before = daemon.serving
        assert "read again" in (await command("gateway", "reload")).out
        assert daemon.serving is not before
        assert "stops" in (await command("gateway", "stop")).out
        assert daemon._stopping.is_set()

    beside(scenario)


def test_calls_that_wait_are_shown_and_decided(beside: Any):
    async def scenario(daemon: Daemon, command: Command) -> None:
        async def made() -> bool:
            crib, mine = daemon.serving.crib, Caller("key:x@default")
            return (await crib.call("send_mail", {"to": "a@b"}, caller=mine)).error is None

        assert not await made()
        shown = (await command("approvals", "list")).out
        assert "send_mail (network) for key:x@default" in shown
        assert '{"to": "a@b"}' in shown
        (ticket,) = (await command("approvals", "list", "--json")).json
        assert "No call waits" in (await command("approvals", "allow", ticket["id"])).out
        assert await made()
        assert not await made()
        (ticket,) = (await command("approvals", "list", "--json")).json
        assert (await command("approvals", "deny", ticket["id"], "--json")).json == []
        assert not await made()
        refused = await command("approvals", "allow", ticket["id"])
        assert isinstance(refused.error, ConfigError)
        unsaid = await command("approvals", "allow")
        assert "Missing argument 'ID'" in unsaid.err

    beside(scenario)


@pytest.mark.parametrize(
    "words", [("gateway", "status"), ("gateway", "stop"), ("approvals", "list")]
)
def test_without_a_gateway_one_is_told_how_to_start_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path / "run"))
    ran = run(*words)
    assert isinstance(ran.error, ConfigError)
    assert "toolcrib serve" in str(ran.error)


def test_a_file_that_is_broken_is_shown_by_the_commands(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path / "run"))
    live = LiveDaemon(tmp_path)
    live.write({"a": entry()})

    async def scenario() -> None:
        async with live.serving() as daemon:
            live.break_off()
            await until_async(lambda: daemon.broken)
            for words in (("gateway", "status"), ("servers",)):
                ran = await asyncio.to_thread(run, *words)
                assert "servers.json:" in ran.err + ran.out, words
                assert "\na  " in ran.out or words[0] == "gateway"
            ran = await asyncio.to_thread(run, "doctor")
            assert ran.code == 1
            assert "what it said before holds" in ran.out

    asyncio.run(scenario())


def test_one_that_was_stopped_by_a_signal_is_named_soon(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path / "run"))
    monkeypatch.setattr(operator_client, "AT_ONCE_S", 0.2)
    files = daemon_place(GlobalOptions())
    with closing(DaemonLock(files)) as lock, socket.socket(socket.AF_UNIX) as silent:
        silent.bind(files.operator)
        silent.listen()  # who connects waits, as for a process that does not run on
        lock.publish(DaemonInfo(4711, files.socket, files.operator, 1, "", "", ""))
        with pytest.raises(ConfigError, match="kill -CONT 4711"):
            ask_daemon(files, "status")


def test_one_that_starts_is_not_taken_for_none(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path / "run"))
    with closing(DaemonLock(daemon_place(GlobalOptions()))):
        assert "is starting; ask again in a moment" in str(run("gateway", "status").error)
    assert "start it with `toolcrib serve`" in str(run("gateway", "status").error)
