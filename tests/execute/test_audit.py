"""Every call that came to the door leaves one row, and no argument in it."""

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from tests.defaults import RETENTION
from tests.execute.counting import ANN, Shop, offered
from toolcrib.crib import Crib
from toolcrib.errors import StoreError
from toolcrib.execute import Audit
from toolcrib.execute.audit import LONGEST_NAME, CallRecord
from toolcrib.model import Outcome
from toolcrib.settings import ApprovalRule, ApprovalSettings, AuditSettings, Settings
from toolcrib.store import AuditFile, AuditRow
from toolcrib.strict_json import json_digest

DENY = ApprovalSettings(rules=(ApprovalRule(verdict="deny", pattern="mcp_shop_drop"),))


def crib_at(path: Path, **settings: object) -> Crib:
    given = Settings.model_validate({"store": str(path / "catalog.db"), "approval": DENY})
    crib = Crib(given.model_copy(update=settings))
    crib.add_source(Shop(offered("look"), offered("pay", "write"), offered("drop")).source)
    return crib


def rows(path: Path) -> list[AuditRow]:
    file = AuditFile(path / "audit.db", RETENTION)
    try:
        return list(reversed(file.newest(99)))
    finally:
        file.close()


def test_each_call_leaves_a_row_however_it_ended(tmp_path: Path):
    secret = {"word": "hunter2222"}
    with crib_at(tmp_path) as crib:
        pin = crib.get("look").capability.pin
        for name in ("look", "pay", "drop", "no_such\x1b"):
            asyncio.run(crib.call(name, secret, caller=ANN))
    found = rows(tmp_path)
    assert [(each.tool, each.verdict, each.code, each.effect) for each in found] == [
        ("mcp_shop_look", "allow", "", ""),
        ("mcp_shop_pay", "ask", "approval_needed", "not_sent"),
        ("mcp_shop_drop", "deny", "approval_denied", "not_sent"),
        ("no_such\\x1b", "", "unknown_tool", "not_sent"),
    ]
    assert {each.caller for each in found} == {"ann"}
    assert (found[0].pin, found[0].arguments) == (pin, json_digest(secret))
    assert all(0 <= each.seconds < 60 for each in found)
    written = b"".join(path.read_bytes() for path in tmp_path.glob("audit.db*"))
    assert b"hunter" not in written


def test_nothing_is_opened_before_the_first_call(tmp_path: Path):
    before = {*threading.enumerate()}
    crib_at(tmp_path).close()
    assert not (tmp_path / "audit.db").exists()
    assert {*threading.enumerate()} <= before


@pytest.mark.parametrize(
    "settings", [{"store": ":memory:"}, {"audit": AuditSettings(enabled=False)}]
)
def test_where_nothing_is_to_be_left_nothing_is(settings: dict[str, object], tmp_path: Path):
    with crib_at(tmp_path, **settings) as crib:
        assert asyncio.run(crib.call("look")).ok
    assert not (tmp_path / "audit.db").exists()


def test_what_waits_is_written_when_it_closes(tmp_path: Path):
    audit = Audit(lambda: AuditFile(tmp_path / "audit.db", RETENTION))
    for number in range(500):
        audit.note(CallRecord("ann", str(number)), Outcome())
    audit.note(CallRecord("ann", "x" * 999), Outcome())
    audit.close()
    file = AuditFile(tmp_path / "audit.db", RETENTION)
    assert len(file.newest(999)) == 501
    assert file.newest(1)[0].tool == "x" * LONGEST_NAME
    file.close()


def test_a_log_that_cannot_be_written_costs_no_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "audit.db").mkdir()
    with caplog.at_level(logging.WARNING), crib_at(tmp_path) as crib:
        assert asyncio.run(crib.call("look")).ok
        assert asyncio.run(crib.call("look")).ok
    assert "calls are not logged" in caplog.text


def test_rows_that_cannot_be_written_are_told_of_and_the_next_are_tried(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(AuditFile, "write", full)
    audit = Audit(lambda: AuditFile(tmp_path / "audit.db", RETENTION))
    with caplog.at_level(logging.WARNING):
        audit.note(CallRecord("ann", "look"), Outcome())
        audit.close()
    assert "1 calls are not logged: the disk is full" in caplog.text
