"""Every message is measured with a search first and with prefetch, on the same catalog."""

from pathlib import Path

import pytest

from benchmarks import prefetch
from tests.benchmarks.tiny_bench import add_everyday
from toolcrib.settings import EmbedSettings, SessionSettings, Settings

REQUESTS = [
    {"id": "1", "query": "get_forecast", "relevant": ["sky::get_forecast"], "split": "single"},
    {"id": "2", "query": "zzzqqq", "relevant": ["disk::read_file"], "split": "single"},
    {"id": "3", "query": "qqqzzz", "relevant": [], "split": "none"},
]


@pytest.fixture
def set_(bench: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    add_everyday(bench, REQUESTS)
    words, at_any_size = EmbedSettings(embedder="none"), SessionSettings(threshold=0)
    settings = Settings(store=":memory:", embed=words, session=at_any_size)
    monkeypatch.setattr(prefetch, "SETTINGS", settings)
    return bench


def test_a_need_that_is_there_takes_no_search(set_: Path, capsys: pytest.CaptureFixture[str]):
    prefetch.main(["--bench-dir", str(set_)])
    overall, by_split = capsys.readouterr().out.strip().split("\n\n")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in overall.splitlines()]
    by_name = {row[0]: row[1:] for row in rows[2:]}
    assert by_name["search first"][:7] == ["0.0", "50.0", "0.0", "0.0", "0.0", "0", "2.00"]
    shown = by_name["prefetch from high (as it comes)"]
    assert shown[:5] == ["50.0", "50.0", "33.3", "0.0", "0.0"]
    assert int(shown[5]) > 0
    assert shown[6] == "1.67"
    assert "| none | 1 |" in by_split
