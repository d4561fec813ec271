import json
import os
import re
import signal
import stat
import sys
from pathlib import Path

import pytest

from tests.sources.mcp.faking import below, fake, nothing_left, own_file, processes, stores_in
from tests.waiting import HANG_S, until
from toolcrib.sources.mcp import McpServers, ServerCommand, log_path, server_log
from toolcrib.sources.mcp.server_log import (
    MOST_BYTES,
    ServerLog,
    exit_words,
    forget_log,
    old_log,
)
from toolcrib.text import Redactor


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return log_path(tmp_path, "one")


def said(path: Path) -> list[str]:
    """The lines of a log without their times."""
    return [line.split(" ", 2)[2] for line in path.read_text("utf-8").splitlines()]


def test_each_server_has_a_file_of_its_own_whatever_its_name(tmp_path):
    names = ["a", "A", "a/b", "a_b", "../../etc/passwd", "", "x" * 128, "名" * 128, "a\n"]
    paths = {log_path(tmp_path, name) for name in names}
    assert len(paths) == len(names)
    assert {each.parent for each in paths} == {tmp_path / "logs"}
    assert len({each.name.lower() for each in paths}) == len(names)
    assert max(len(each.name) for each in paths) < 100


def test_the_file_is_ours_alone(path):
    ServerLog("one", path).note("starting")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_link_is_not_followed(path, tmp_path):
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    ServerLog("one", path).note("starting")
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_file_becomes_the_old_one(path):
    log = ServerLog("one", path)
    for number in range(3):
        log.write(f"{number}{'x' * MOST_BYTES}\n")
        log.note(f"after {number}")
    assert said(path) == ["toolcrib: after 2"]
    assert old_log(path).read_text().startswith("2")
    assert stat.S_IMODE(old_log(path).stat().st_mode) == 0o600
    assert len(list(path.parent.glob("[!.]*"))) == 2
    forget_log(path)
    assert not list(path.parent.glob("[!.]*"))


def test_what_happens_is_one_line_with_nothing_hidden(path):
    ServerLog("one", path).note("it said\nnothing\x1b[2J\u202e here")
    [line] = said(path)
    assert line == "toolcrib: it said ⏎ nothing⟨U+001B⟩[2J⟨U+202E⟩ here"


def test_a_line_of_stderr_cannot_be_taken_for_one_of_ours(path):
    heard = ServerLog("one", path).stderr(Redactor())
    heard(b"2026-01-01 00:00:00 toolcrib: up\r2026-01-01\n")
    assert said(path)[0].startswith("stderr: 2026-01-01 00:00:00 toolcrib: up")


def test_stderr_is_kept_in_whole_lines_and_without_secrets(path):
    heard = ServerLog("one", path).stderr(Redactor(["hunter2222", "first line\nsecond line"]))
    for chunk in (
        b"token hun",
        b"ter2222 is bad\n\nfirst",
        b" line\nsecond line\nand th",
        b"e end",
    ):
        heard(chunk)
    heard(b"")
    assert said(path) == [
        "stderr: token *** is bad",
        "stderr: ***",
        "stderr: ***",
        "stderr: and the end",
    ]


def test_a_line_without_end_is_cut_and_shows_no_half_of_a_secret(path):
    heard = ServerLog("one", path).stderr(Redactor(["hunter2222"]))
    for _ in range(10):
        heard(b"x" * 9_995 + b"hunter2222"[:5])
        heard(b"hunter2222"[5:])
    heard(b"\nafter\n")
    text = path.read_text("utf-8")
    assert "hunt" not in text
    assert said(path)[-1] == "stderr: after"
    assert len(text) < 2 * server_log.LONGEST_LOG_LINE


def test_of_a_flood_only_so_much_is_kept(path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(server_log.time, "monotonic", lambda: now[0])
    heard = ServerLog("one", path).stderr(Redactor())
    for number in range(10_000):
        heard(b"%07d %s\n" % (number, b"x" * 1_000))
    kept = path.stat().st_size
    assert kept < 2 * server_log.AT_ONCE
    now[0] = 60.0
    heard(b"half of a line that began before\nand again\n")
    assert path.stat().st_size < kept + 1_000
    assert "left out" in said(path)[-2]
    assert said(path)[-1] == "stderr: and again"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "exit status 3"),
        (137, "killed by SIGKILL"),
        (250, "exit status 250"),
    ],
)
def test_an_exit_status_in_words(status, words):
    assert exit_words(status) == words


def servers(tmp_path: Path, **entries: object):
    file = own_file()
    file.write_text(json.dumps({"mcpServers": entries}))
    return McpServers.open([file], stores_in(tmp_path / "state"))


def entry(*modes: str, **others: object) -> dict[str, object]:
    command = fake(*modes).transport
    assert isinstance(command, ServerCommand)
    return {"command": command.command, "args": list(command.args), **others}


def test_the_log_tells_of_starts_lists_crashes_and_stderr(tmp_path, caplog):
    caplog.set_level("INFO", logger="toolcrib.sources.mcp.server_log")
    found = servers(tmp_path, fake=entry("stderr"), bad=entry("exit-at-once"))
    path, bad = (log_path(tmp_path / "state", name) for name in ("fake", "bad"))
    with nothing_left():
        good, failing = found.sources
        assert not good.refresh().result(HANG_S).error
        assert failing.refresh().result(HANG_S).error
        os.kill(_server(good), signal.SIGSEGV)
        until(lambda: any("crash" in line for line in said(path)))
        assert not good.refresh().result(HANG_S).error
        found.close()
    told = said(path)
    assert told[0] == "toolcrib: starting"
    assert any(line.startswith("stderr: ") for line in told)
    [crash] = [line for line in told if "crash" in line]
    assert crash.startswith(
        "toolcrib: crash 1: it ended by itself (killed by SIGSEGV); it was up for"
    )
    assert [line.split(" s: ")[1] for line in told if "up after" in line] == [
        "speaks 2025-06-18, lists 12 tools"
    ] * 2
    # One that has much to say may not be through with it when its input ends: then we end it.
    assert re.fullmatch(r"toolcrib: stopped( \(exit status 0\))?; it was up for .*", told[-1])
    assert "stderr: no licence found" in said(bad)
    assert said(bad)[-1].endswith("exit status 3. It said: no licence found (start_failed)")
    events = [record.getMessage() for record in caplog.records]
    assert [each.split(": ")[1].split()[0].rstrip(";") for each in events if "'fake'" in each] == [
        "up",
        "crash",
        "up",
        "stopped",
    ]
    assert not any("stderr: " in event for event in events)


def _server(source) -> int:
    """The process of the server itself, below its launchers."""
    every = processes()
    lines = {pid: every[pid][1] for pid in below(source._supervisor.pid, every)}
    [pid] = [pid for pid, line in lines.items() if "launcher" not in line]
    return pid


def test_the_same_failure_is_said_aloud_once(tmp_path, caplog):
    caplog.set_level("INFO", logger="toolcrib.sources.mcp.server_log")
    found = servers(tmp_path, bad=entry("exit-at-once"))
    with nothing_left():
        for _ in range(3):
            assert found.sources[0].refresh().result(HANG_S).error
        found.close()
    assert len([each for each in caplog.records if "no licence" in each.getMessage()]) == 1
    written = said(log_path(tmp_path / "state", "bad"))
    assert len([line for line in written if "(start_failed)" in line]) == 3


def test_secrets_of_a_server_do_not_reach_its_log(tmp_path):
    code = "import os, sys; sys.exit('bad token ' + os.environ['API_TOKEN'])"
    found = servers(
        tmp_path,
        one={
            "command": sys.executable,
            "args": ["-S", "-c", code],
            "env": {"API_TOKEN": "hunter2222"},
        },
    )
    with nothing_left():
        assert found.sources[0].refresh().result(HANG_S).error
        found.close()
    text = log_path(tmp_path / "state", "one").read_text("utf-8")
    assert "stderr: bad token ***" in text
    assert "hunter" not in text


def test_a_log_that_cannot_be_written_costs_no_call(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "logs").write_text("in the way")
    found = servers(tmp_path, fake=entry())
    with nothing_left():
        assert not found.sources[0].refresh().result(HANG_S).error
        found.close()
