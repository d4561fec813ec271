"""Starts that are installs: they have minutes, are told of, and are never cut in the middle."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.sources.mcp.conftest import Shop, acall, call
from tests.sources.mcp.faking import FAKE, below, error, left_of, text
from tests.waiting import HANG_S, let_pass, let_pass_async, until, until_async
from toolcrib.model import Call, CallContext, Deadline
from toolcrib.sources.mcp import McpSource, ServerCommand, ServerConfig
from toolcrib.sources.mcp.lifecycle import startup

RUNNER = FAKE.with_name("fake_npx.py")


class Package:
    """A package that is installed once `arrive` was called."""

    def __init__(self, folder: Path, name: str = "npx") -> None:
        folder.mkdir(exist_ok=True)
        self._runner = folder / name
        self._runner.write_text(f"#!{sys.executable} -S\n{RUNNER.read_text()}")
        self._runner.chmod(0o700)
        self.go, self.whole = folder / "go", folder / "whole"

    def arrive(self) -> None:
        self.go.touch()

    def starts(self) -> int:
        path = Path(f"{self.go}.starts")
        return len(path.read_text().splitlines()) if path.exists() else 0

    def config(self, *modes: str, id: str = "fake", **others: float) -> ServerConfig:
        words = (str(self.go), str(self.whole), sys.executable, "-S", str(FAKE), *modes)
        return ServerConfig(id, ServerCommand(str(self._runner), words), **others)  # type: ignore[arg-type]


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path / "package")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOOK_EVERY_S", "QUICK_INSTALL_S", "ASIDE_S"):
        monkeypatch.setattr(startup, name, 0.05)
    for name in ("FIRST_PROGRESS_S", "PROGRESS_EVERY_S"):
        monkeypatch.setattr(startup, name, 0.05)


def known(shop: Shop, package: Package, config: ServerConfig) -> McpSource:
    """A source whose tools are known, and whose package is not there any more."""
    package.arrive()
    source = shop.listed(config)
    package.go.unlink()
    package.whole.unlink()
    return source


def test_an_install_takes_longer_than_a_start_may_and_the_next_call_finds_it(shop, package):
    source = known(shop, package, package.config(start_timeout_s=3.0))
    before = package.starts()
    gave_up = error(call(source, "echo", within=3.5, text="a"))
    assert gave_up.code == "start_timeout"
    assert "installing by npx" in gave_up.message
    assert source.status().starting.startswith("installing by npx (")
    package.arrive()
    assert text(call(source, "echo", text="b")) == "b"
    assert source.status().starting == ""
    assert package.starts() == before + 1


def test_the_time_of_a_start_begins_when_its_server_runs(shop, package):
    package.arrive()
    source = shop.source(package.config("hang-initialize", "hang-discover", start_timeout_s=1.0))
    done = source.refresh().result(HANG_S)
    assert "did not start in time" in done.error
    until(lambda: not shop.processes())  # nothing that runs is left to finish


def test_an_install_has_its_bound_and_is_not_killed_at_it(shop, package):
    bounds = {"start_timeout_s": 0.2, "install_timeout_s": 0.6}
    source = shop.source(package.config(**bounds))
    done = source.refresh().result(HANG_S)
    assert "still being installed by npx" in done.error
    assert shop.processes()
    package.arrive()
    until(package.whole.exists)


def test_who_stops_leaves_an_install_to_finish_and_does_not_wait_for_it(shop, package):
    source = shop.source(package.config())
    waiting = source.refresh()
    until(lambda: source.status().starting.startswith("installing"))
    before = shop.processes()
    shop.reopen()
    assert "closed" in str(waiting.result(HANG_S).error)
    assert left_alone(before)
    package.arrive()
    until(package.whole.exists)
    assert left_of(before) == {}


def left_alone(pids: set[int]) -> bool:
    let_pass()
    return bool(pids & below(os.getpid()))


def test_a_caller_hears_how_far_an_install_is(shop, package):
    """And its clock stands still meanwhile."""
    source = known(shop, package, package.config())
    heard: list[tuple[float, str]] = []
    said: list[object] = []
    limit_s = 4.0  # for the call alone, once its server is up

    async def patient():
        running = CallContext(
            Deadline(limit_s),
            lambda done, _all, message: heard.append((done, message)),
            log=lambda message: said.append(message["data"]),
            patient=True,
        )
        calling = asyncio.ensure_future(source.call(Call("progress", {"steps": 2}), running))
        await until_async(lambda: len(heard) > 3)
        await let_pass_async(limit_s)
        package.arrive()
        return await calling

    assert text(asyncio.run(patient())) == "done"
    told = [message for _, message in heard if "MCP server 'fake': installing by npx" in message]
    assert told
    assert any("installing by npx" in str(words) for words in said)
    steps = [done for done, _ in heard]
    assert steps == sorted(set(steps))
    assert [done for done, message in heard if message == "on"] == [1, 2]


def test_two_servers_of_one_package_do_not_install_it_at_once(shop, package):
    sources = [shop.source(package.config(id=name)) for name in ("one", "two")]
    waiting = [source.refresh() for source in sources]
    until(package.starts)
    let_pass()
    assert package.starts() == 1
    package.arrive()
    assert [each.result(HANG_S).error for each in waiting] == ["", ""]


def test_installs_take_no_place_from_those_that_only_start(shop, tmp_path):
    packages = [Package(tmp_path / f"p{n}") for n in range(4)]
    installing = [shop.source(each.config(id=f"p{n}")).refresh() for n, each in enumerate(packages)]
    until(lambda: all(each.starts() for each in packages))
    quick = Package(tmp_path / "quick", "server")
    quick.arrive()
    done = shop.source(quick.config(id="quick")).refresh().result(HANG_S)
    assert not done.error
    for each in packages:
        each.arrive()
    assert [each.result(HANG_S).error for each in installing] == [""] * 4


def test_a_server_that_was_fetched_is_ended_like_any_other(shop, package):
    package.arrive()
    source = shop.listed(package.config())

    async def used():
        await acall(source, "echo", text="a")

    asyncio.run(used())
    pids = shop.processes()
    shop.reopen()
    assert left_of(pids) == {}
