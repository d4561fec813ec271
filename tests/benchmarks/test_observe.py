"""The benchmark of events: it measures, and fails above its bounds."""

import time
from argparse import Namespace
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import observe
from benchmarks.observe import DaemonCost, event_cost
from benchmarks.observe_world import made_up_queries, made_up_tools, write_events
from toolcrib.dashboard.screens import SCREENS
from toolcrib.store import EventFile, EventFilter, Retention


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observe, "TOOLS", 20)
    monkeypatch.setattr(observe, "ROUNDS", 1)


def test_what_is_made_up_is_the_same_each_time():
    assert made_up_tools(20) == made_up_tools(20)
    assert len({each["name"] for each in made_up_tools(500)}) == 500
    assert len({*made_up_queries(300)}) == 300


def test_a_log_is_filled_with_a_month_of_all_that_screens_show(tmp_path: Path):
    path = tmp_path / "events.db"
    write_events(path, 3_000, time.time())
    with closing(EventFile(path, Retention(3_000, 31.0, 30.0))) as file:
        assert len(file.newest(9_999)) == 3_000
        for kind in ("search", "call", "reveal", "list", "client", "server"):
            assert file.newest(1, EventFilter((kind,)))
        assert len(file.conversations(999)) == 120


def test_an_event_is_measured_beside_a_search_without(tmp_path: Path):
    cost = event_cost(tmp_path, 6)
    assert cost.search > 0
    assert cost.written > 0
    assert cost.share > 0


@pytest.mark.parametrize(
    ("share", "page_s", "code"), [(9.0, 9.0, 0), (-1.0, 9.0, 1), (9.0, 0.0, 1)]
)
def test_it_fails_above_its_bounds(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    share: float,
    page_s: float,
    code: int,
):
    async def daemons(
        homes: Mapping[str, object], _said: Namespace
    ) -> tuple[Mapping[str, DaemonCost], Mapping[str, float]]:
        return {name: DaemonCost([0.004, 0.005], 0.002) for name in homes}, dict.fromkeys(
            SCREENS, 0.01
        )

    monkeypatch.setattr(observe, "WRITTEN_S", 0.01)
    monkeypatch.setattr(observe, "MOST_SHARE", share)
    monkeypatch.setattr(observe, "MOST_PAGE_S", page_s)
    monkeypatch.setattr(observe, "new_home", lambda folder, _tools, **_: observe.Home(folder))
    monkeypatch.setattr(observe, "_daemons", daemons)
    with pytest.raises(SystemExit) as ended:
        observe.main(["--pairs", "4", "--events", "50"])
    assert ended.value.code == code
    text = capsys.readouterr().out
    assert "| its event, in the search |" in text
    for path in SCREENS:
        assert f"| `{path}` | 10 |" in text
    assert "| with events, a dashboard open on Live | 4.50 | " in text
