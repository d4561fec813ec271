"""Every call that came to the door is an event, with no argument in it."""

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from tests.defaults import RETENTION
from tests.execute.counting import ANN, Shop, offered
from toolcrib.crib import Crib
from toolcrib.model import Event
from toolcrib.settings import ApprovalRule, ApprovalSettings, ObserveSettings, Settings
from toolcrib.store import EventFile, EventFilter
from toolcrib.strict_json import json_digest

DENY = ApprovalSettings(rules=(ApprovalRule(verdict="deny", pattern="mcp_shop_drop"),))


def crib_at(path: Path, **settings: object) -> Crib:
    given = Settings.model_validate({"store": str(path / "catalog.db"), "approval": DENY})
    crib = Crib(given.model_copy(update=settings))
    crib.add_source(Shop(offered("look"), offered("pay", "write"), offered("drop")).source)
    return crib


def calls(path: Path) -> list[Event]:
    file = EventFile(path / "events.db", RETENTION)
    try:
        return list(file.after(0, 99, EventFilter(("call",))).values())
    finally:
        file.close()


def test_each_call_leaves_an_event_however_it_ended(tmp_path: Path):
    secret = {"word": "hunter2222"}
    with crib_at(tmp_path) as crib:
        pin = crib.get("look").capability.pin
        for name in ("look", "pay", "drop", "no_such\x1b"):
            asyncio.run(crib.call(name, secret, caller=ANN))
    found = calls(tmp_path)
    facts = [each.facts for each in found]
    assert [
        (each.name, each.facts["verdict"], each.code, each.facts["effect"]) for each in found
    ] == [
        ("mcp_shop_look", "allow", "", ""),
        ("mcp_shop_pay", "ask", "approval_needed", "not_sent"),
        ("mcp_shop_drop", "deny", "approval_denied", "not_sent"),
        ("no_such⟨U+001B⟩", "", "unknown_tool", "not_sent"),
    ]
    assert {each.caller for each in found} == {"ann"}
    assert (facts[0]["pin"], facts[0]["arguments"]) == (pin, json_digest(secret))
    assert all(0 <= each.seconds < 60 for each in found)
    written = b"".join(path.read_bytes() for path in tmp_path.glob("events.db*"))
    assert b"hunter" not in written


def test_nothing_is_opened_before_the_first_call(tmp_path: Path):
    before = {*threading.enumerate()}
    crib_at(tmp_path).close()
    assert not (tmp_path / "events.db").exists()
    assert {*threading.enumerate()} <= before


@pytest.mark.parametrize(
    "settings", [{"store": ":memory:"}, {"observe": ObserveSettings(enabled=False)}]
)
def test_where_nothing_is_to_be_left_nothing_is(settings: dict[str, object], tmp_path: Path):
    with crib_at(tmp_path, **settings) as crib:
        assert asyncio.run(crib.call("look")).ok
    assert not (tmp_path / "events.db").exists()


def test_a_log_that_cannot_be_written_costs_no_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "events.db").mkdir()
    with caplog.at_level(logging.WARNING), crib_at(tmp_path) as crib:
        assert asyncio.run(crib.call("look")).ok
        assert asyncio.run(crib.call("look")).ok
    assert "events wait to be logged" in caplog.text
