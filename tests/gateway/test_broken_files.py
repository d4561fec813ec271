"""A file that somebody left broken costs nothing: what it said before holds, and it is said."""

import asyncio
import logging
from pathlib import Path

import pytest

from tests.gateway.live_daemon import LiveDaemon, entry, listed
from tests.waiting import until_async
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.crib import inventory_of
from toolcrib.errors import ConfigError
from toolcrib.gateway.daemon import Daemon
from toolcrib.settings import rules_file
from toolcrib.system import LastGoodCopies


@pytest.fixture
def live(tmp_path: Path) -> LiveDaemon:
    return LiveDaemon(tmp_path)


def tools(daemon: Daemon) -> int:
    return len(daemon.serving.crib.entries())


@pytest.mark.parametrize("how", ["reload", "changed"])
def test_a_missing_brace_keeps_what_was_there_and_is_reported(
    live: LiveDaemon, how: str, caplog: pytest.LogCaptureFixture
):
    live.write({"a": entry(), "b": entry()})

    async def scenario() -> None:
        async with live.serving() as daemon:
            await daemon.serving.crib.refresh()
            before = tools(daemon)
            assert before > 20
            live.break_off()
            lines = len(live.servers.read_text().splitlines())
            for _ in range(2):
                with pytest.raises(ConfigError, match=rf"servers.json:{lines}: not JSON.*correct"):
                    await live.ask(how)
            assert tools(daemon) == before
            (told,) = (await live.ask("status"))["broken_files"]
            assert "what it said before holds" in told
            live.write({"a": entry()})
            await live.ask(how)
            assert (await live.ask("status"))["broken_files"] == []
            assert tools(daemon) == before / 2

    with caplog.at_level(logging.INFO):
        asyncio.run(scenario())
    assert caplog.text.count("not JSON") == 1
    assert caplog.text.count("can be used again") == 1


def test_a_file_that_was_broken_meanwhile_is_as_before_at_the_next_start(
    live: LiveDaemon, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    other, never_good = tmp_path / "other.json", tmp_path / "never.json"
    never_good.write_text("{")
    live.write({"a": entry()})
    live.write({"b": entry()}, other)
    live.write_settings(f'mcp_config = ["{other}", "{never_good}"]')

    async def scenario() -> set[str]:
        async with live.serving() as daemon:
            return set(inventory_of(daemon.serving.crib).servers)

    assert asyncio.run(scenario()) == {"a", "b"}
    live.break_off()
    caplog.clear()
    assert asyncio.run(scenario()) == {"a", "b"}
    assert caplog.text.count("servers.json:") == 1
    assert caplog.text.count("never.json:1") == 1


def test_settings_that_are_broken_are_as_before_at_the_next_start_and_while_it_runs(
    live: LiveDaemon,
):
    live.write({"a": entry()})
    live.write_settings('tool_search = "off"')

    async def scenario(*, broken: bool) -> None:
        async with live.serving() as daemon:
            assert daemon.serving.crib.settings.tool_search == "off"
            assert bool(daemon.broken) is broken
            live.settings.write_text("[gateway\n")
            with pytest.raises(ConfigError, match=r"config.toml: not readable.*line 1.*correct it"):
                await live.ask("reload")
            assert daemon.serving.crib.settings.tool_search == "off"
            assert set(inventory_of(daemon.serving.crib).servers) == {"a"}

    asyncio.run(scenario(broken=False))
    asyncio.run(scenario(broken=True))


def test_a_setting_that_is_wrong_counts_as_broken_and_nothing_good_means_no_start(
    live: LiveDaemon,
):
    live.settings.write_text("ture = 1")
    with pytest.raises(ConfigError, match="no setting 'ture'"):
        GlobalOptions().lasting_settings()
    live.write_settings()
    assert GlobalOptions().lasting_settings()[1] == ""
    live.settings.write_text("ture = 1")
    assert "no setting 'ture'" in GlobalOptions().lasting_settings()[1]


def test_a_file_that_was_taken_away_is_not_broken(live: LiveDaemon, tmp_path: Path):
    live.write({"a": entry()})

    async def scenario() -> None:
        async with live.serving() as daemon:
            live.servers.unlink()
            await live.ask("changed")
            assert not inventory_of(daemon.serving.crib).servers
            assert not daemon.broken

    asyncio.run(scenario())
    copies = LastGoodCopies(tmp_path)
    copies.keep(live.servers, b"x")
    copies.forget(live.servers)
    assert copies.read(live.servers) is None


def test_the_copies_are_for_our_eyes_only(live: LiveDaemon, home: Path):
    live.write({"a": entry(env={"TOKEN": "s3cret"})})
    with GlobalOptions().mcp():
        pass
    copies = list((home / ".local/state/toolcrib/last_good").iterdir())
    assert copies
    assert [path.stat().st_mode & 0o077 for path in copies] == [0] * len(copies)


def test_rules_that_are_broken_are_as_before_at_the_next_start_too(
    live: LiveDaemon, caplog: pytest.LogCaptureFixture
):
    live.write({"a": entry()})
    rules = rules_file()
    rules.write_text('{"rules": [{"verdict": "deny", "pattern": "a/sleep"}]}')

    async def scenario() -> list[str]:
        async with live.serving() as daemon:
            await listed(daemon, "a")
            rules.write_text('{"rules": [')
            await until_async(lambda: any("rules.json" in each for each in daemon.broken))
            crib = daemon.serving.crib
            called = [await crib.call(f"mcp_a_{name}", {}) for name in ("echo", "sleep")]
            return [each.error.code if each.error else "" for each in called]

    assert asyncio.run(scenario()) == ["", "approval_denied"]
    caplog.clear()
    assert asyncio.run(scenario()) == ["", "approval_denied"]
    assert caplog.text.count("rules.json: not JSON") == 1
