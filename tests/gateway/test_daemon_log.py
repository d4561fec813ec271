import logging
from pathlib import Path

import pytest

from toolcrib.gateway import log_file
from toolcrib.gateway.daemon_log import MOST_BYTES, log_to_file
from toolcrib.sources.mcp.server_log import ServerLog

pytestmark = pytest.mark.usefixtures("unlogged")


def test_the_file_is_ours_alone_and_has_an_end(tmp_path: Path):
    log_to_file(tmp_path / "state")
    path = log_file(tmp_path / "state")
    log = logging.getLogger("toolcrib.gateway.test")
    log.info("a line of ours")
    logging.getLogger("another").info("chatter")
    said = path.read_text(encoding="utf-8")
    assert "a line of ours" in said
    assert "chatter" not in said
    assert path.stat().st_mode & 0o777 == 0o600
    for _ in range(3 * MOST_BYTES // 1000):
        log.info("%s", "x" * 1_000)
    kept = list(path.parent.glob("gateway.log*"))
    assert len(kept) == 2
    assert sum(each.stat().st_size for each in kept) <= 2 * MOST_BYTES
    assert all(each.stat().st_mode & 0o077 == 0 for each in kept)


def test_no_text_of_a_stranger_makes_up_a_line_or_moves_the_cursor(tmp_path: Path):
    log_to_file(tmp_path)
    before = len(log_file(tmp_path).read_text(encoding="utf-8").splitlines())
    hostile = "bad\r\n2026-01-01 INFO toolcrib: all is well\x1b[2J\u202e\u2028x"
    logging.getLogger("toolcrib.gateway.test").warning("%s", hostile)
    said = log_file(tmp_path).read_text(encoding="utf-8")
    assert len(said.splitlines()) == before + 1
    assert "⟨U+001B⟩[2J⟨U+202E⟩⟨U+2028⟩x" in said


def test_what_happens_to_a_server_stands_there_too(tmp_path: Path):
    log_to_file(tmp_path)
    ServerLog("slack").note("crash 1: it ended by itself")
    said = log_file(tmp_path).read_text(encoding="utf-8")
    assert said.count("MCP server 'slack': crash 1: it ended by itself") == 1
