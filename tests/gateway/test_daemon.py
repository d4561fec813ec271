import asyncio
import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.gateway.daemons import (
    Answer,
    bare,
    call,
    environ,
    files_in,
    new_key,
    opened,
    request,
    serving,
)
from tests.gateway.key_names import named
from tests.waiting import HANG_S, until_async
from toolcrib.connect import DaemonFiles, DaemonInfo
from toolcrib.connect.daemon_connection import DaemonRefused, connect_to_daemon
from toolcrib.crib import Crib, stores_in
from toolcrib.errors import ConfigError, StoreAway
from toolcrib.gateway import ask_daemon
from toolcrib.gateway.daemon import Daemon
from toolcrib.gateway.daemon_lock import DaemonLock
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServers
from toolcrib.store import RevealSetStore


def text_of(answer: Answer) -> str:
    return json.loads(answer.body)["result"]["content"][0]["text"]


def test_it_serves_over_http_and_says_where(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, runtime):
            told = files_in(tmp_path).read_info()
            assert told
            assert (told.pid, told.port) == (os.getpid(), runtime.port)
            answer = await call(daemon.port, runtime.token, "echo", text="hello")
            assert answer.status == 200
            assert named(text_of(answer)) == "key:owner@default: hello"
            assert (await request(daemon.port, "GET", "/health")).json == {"status": "ok"}

    asyncio.run(scenario())


def rights(path: str) -> int:
    return Path(path).stat().st_mode & 0o777


def test_its_files_are_ours_alone_and_gone_when_it_ends(tmp_path: Path):
    place = files_in(tmp_path)

    async def scenario() -> None:
        async with serving(tmp_path):
            assert rights(place.folder) == 0o700
            assert [rights(path) for path in (place.info, place.socket, place.operator)] == [
                0o600
            ] * 3

    asyncio.run(scenario())
    left = {path.suffix for path in (tmp_path / "run").iterdir()}
    assert left == {".held"}


def test_a_second_one_is_told_who_holds_the_place(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, _):
            with pytest.raises(ConfigError, match=rf"process {os.getpid()}.*:{daemon.port}.*stop"):
                DaemonLock(files_in(tmp_path))

    asyncio.run(scenario())


def test_a_daemon_that_was_killed_leaves_the_place_free(tmp_path: Path):
    place = files_in(tmp_path)
    Path(place.folder).mkdir(mode=0o700)
    Path(place.socket).write_text("of one that is gone", encoding="utf-8")
    Path(place.info).write_text("{}", encoding="utf-8")

    async def scenario() -> None:
        async with serving(tmp_path):
            pass

    asyncio.run(scenario())


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(tmp_path: Path, ending: signal.Signals):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, _):
            os.kill(os.getpid(), ending)
            async with asyncio.timeout(HANG_S):
                await daemon._stopping.wait()

    asyncio.run(scenario())


def test_it_ends_by_itself_when_nobody_comes(tmp_path: Path):
    lock = DaemonLock(files_in(tmp_path))

    async def scenario() -> None:
        settings = bare(gateway={"idle_exit_s": 0.1})
        daemon = Daemon(opened(settings), lock, ends_when_idle=True)
        async with asyncio.timeout(HANG_S):
            await daemon.run(lambda _runtime: None)

    asyncio.run(scenario())
    lock.close()


def test_a_port_that_is_taken_is_an_error_that_helps(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path / "one") as (daemon, _):
            with pytest.raises(ConfigError, match=r"gateway\.port"):
                async with serving(tmp_path / "two", bare(gateway={"port": daemon.port})):
                    pass

    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    asyncio.run(scenario())


def test_a_shim_may_ask_for_a_profile_that_there_is(tmp_path: Path):
    settings = bare(gateway={"profiles": {"small": {"kinds": ["read"]}}})

    async def scenario() -> None:
        async with serving(tmp_path, settings):
            place, env = files_in(tmp_path), environ(tmp_path)
            welcome = await asyncio.to_thread(connect_to_daemon, place, "small", env)
            assert welcome
            welcome.close()
            with pytest.raises(DaemonRefused, match="no profile 'smal'; nearest: small"):
                await asyncio.to_thread(connect_to_daemon, place, "smal", env)
            wrong = env | {"TOOLCRIB_KEY": "tc_wrong"}
            with pytest.raises(DaemonRefused, match="key is not known"):
                await asyncio.to_thread(connect_to_daemon, place, "small", wrong)

    asyncio.run(scenario())


def test_reloading_keeps_the_address_and_the_keys(tmp_path: Path):
    made: list[str] = []

    def crib():
        made.append("once more")
        profiles = {"gateway": {"profiles": {"new": {}}}} if len(made) > 1 else {}
        return Crib.from_settings(bare(**profiles))

    async def scenario() -> None:
        async with serving(tmp_path, crib=crib) as (daemon, runtime):
            key = new_key(bare(), "laptop", "new")
            assert (await call(daemon.port, key, "echo", "/mcp/new")).status == 404
            await asyncio.to_thread(ask_daemon, files_in(tmp_path), "reload")
            again = await call(runtime.port, key, "echo", "/mcp/new", text="x")
            assert named(text_of(again)) == "key:laptop@new: x"

    asyncio.run(scenario())
    assert len(made) == 2


def test_settings_that_are_wrong_change_nothing(tmp_path: Path):
    made: list[str] = []

    def crib():
        made.append("once more")
        if len(made) > 1:
            raise ConfigError("setting x: no; change it")
        return Crib.from_settings(bare())

    async def scenario() -> None:
        async with serving(tmp_path, crib=crib) as (daemon, runtime):
            with pytest.raises(ConfigError, match="setting x"):
                await asyncio.to_thread(ask_daemon, files_in(tmp_path), "reload")
            assert (await call(daemon.port, runtime.token, "echo")).status == 200

    asyncio.run(scenario())


@pytest.mark.parametrize("at_terminal", [False, True])
def test_a_hangup_reloads_unless_it_is_a_terminal_that_was_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_terminal: bool
):
    monkeypatch.setattr("sys.stderr.isatty", lambda: at_terminal)

    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, _):
            before = daemon.serving
            os.kill(os.getpid(), signal.SIGHUP)
            await until_async(lambda: daemon.serving is not before or daemon._stopping.is_set())
            assert daemon._stopping.is_set() is at_terminal

    asyncio.run(scenario())


def test_files_that_are_removed_are_put_back(tmp_path: Path):
    place = files_in(tmp_path)

    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, _):
            for removed in (place.folder, place.info, place.socket, place.operator, place.lock):
                await asyncio.to_thread(remove, removed)
                await until_async(lambda: is_whole(place), removed)
            hello = await asyncio.to_thread(connect_to_daemon, place, "default", environ(tmp_path))
            assert hello
            hello.close()
            status = await asyncio.to_thread(ask_daemon, place, "status")
            assert status["pid"] == os.getpid()  # type: ignore[index, call-overload]
            with pytest.raises(ConfigError, match="runs already"):
                DaemonLock(place)
            assert not daemon._stopping.is_set()

    asyncio.run(scenario())
    assert not Path(place.info).exists()


def remove(path: str) -> None:
    shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()


def is_whole(place: DaemonFiles) -> bool:
    return all(map(os.path.lexists, (place.info, place.socket, place.operator, place.lock)))


def test_a_daemon_ends_when_another_has_taken_its_place(tmp_path: Path):
    place = files_in(tmp_path)

    async def scenario() -> DaemonLock:
        lock = DaemonLock(place)
        daemon = Daemon(opened(), lock)
        ready = asyncio.Event()
        running = asyncio.create_task(daemon.run(lambda _: ready.set()))
        await ready.wait()
        shutil.rmtree(place.folder)
        another = DaemonLock(place)  # before the first has looked
        another.publish(DaemonInfo(1, place.socket, place.operator, 1, "0"))
        await running
        lock.close()
        return another

    another = asyncio.run(scenario())
    told = place.read_info()
    assert told
    assert told.pid == 1
    another.close()


def test_it_sends_what_was_shown_while_the_store_was_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def is_away(*_: object) -> str:
        raise StoreAway("the database cannot be reached")

    async def scenario() -> None:
        async with serving(tmp_path, servers=GatewayServers) as (daemon, _):
            servers, store = daemon.serving.servers, stores_in(daemon.serving.crib).sets
            sets = servers.of(Principal("ann")).sets
            with monkeypatch.context() as patch:
                patch.setattr(type(store), "add_to_set", is_away)
                handle = sets.add("", {"a": "1"})
            await until_async(lambda: _has(store, sets.owner, handle))

    asyncio.run(scenario())


def _has(store: RevealSetStore, owner: str, handle: str) -> bool:
    return handle in [each.handle for each in store.sets(owner)]
