"""Commands and screens show the log of a shared store: no file of this machine stands for it."""

import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.dashboard.eventful import call, search
from tests.postgres import KEY
from toolcrib import Crib, Settings
from toolcrib.cli.eval import _calls
from toolcrib.dashboard.backends import watch_nothing
from toolcrib.dashboard.event_queries import EventQueries
from toolcrib.dashboard.tool_catalog import ToolCatalog
from toolcrib.settings import load_settings
from toolcrib.store import EventFilter
from toolcrib.store.postgres import DatabaseAddress
from toolcrib.wiring import opened_events


@pytest.fixture
def shared(
    new_address: DatabaseAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """The settings of a gateway whose log has a call and a search."""
    monkeypatch.setenv("TOOLCRIB_STORE", new_address.text)
    monkeypatch.setenv("TOOLCRIB_INSTALL_KEY_ENV", "KEY_OF_ALL")
    monkeypatch.setenv("KEY_OF_ALL", KEY.hex())
    settings = load_settings(
        {"TOOLCRIB_STORE": new_address.text, "TOOLCRIB_INSTALL_KEY_ENV": "KEY_OF_ALL"}
    )
    assert settings.events_path
    assert not settings.events_path.exists()
    with opened_events(settings, make=True) as log:
        assert log
        log.write([call("send_mail"), search("post a letter")])
    return settings


def test_the_commands_show_it(shared: Settings, run: Run):
    assert [each["tool"] for each in run("calls", "--json").json] == ["send_mail"]
    assert [each["kind"] for each in run("events", "--json").json] == ["call", "search"]
    assert _calls(shared) == {"send_mail": 1}


def test_the_screens_show_it(shared: Settings):
    queries = EventQueries(lambda: shared, lambda _do, **_more: None, watch_nothing)
    day = queries.day()
    assert (day.log, day.searches, day.calls) == ("on", 1, 1)
    assert len(queries.page(EventFilter()).events) == 2
    assert queries.gaps()[0] == "on"
    with Crib(shared) as crib:
        crib.add(send_mail)
        tool = ToolCatalog(lambda: nullcontext(crib), now=time.time).tool("send_mail")
    assert tool
    assert tool.use
    assert tool.use.calls == 1


def send_mail(to: str) -> str:
    """Send a mail to somebody."""
    return f"sent to {to}"
