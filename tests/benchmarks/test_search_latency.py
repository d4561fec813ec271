"""The latency benchmark measures what is installed, and says what is not."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from benchmarks import search_latency
from tests.benchmarks.tiny_bench import make_bench

TABLES = ("**One search**", "**Build**", "**One tool more**")


def measure(bench: Path, *options: str) -> None:
    search_latency.main(["--bench-dir", str(bench), "--sizes", "2,10", *options])


@pytest.fixture
def little_warmth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_latency, "WARM_UP", 2)


pytestmark = pytest.mark.usefixtures("little_warmth")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What one run without the peer prints, and the page that it writes into: it takes a while."""
    folder = tmp_path_factory.mktemp("latency")
    page = folder / "page.md"
    page.write_text(
        "<!-- search_latency: begin -->\n<!-- search_latency: end -->\n", encoding="utf-8"
    )
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setattr(search_latency, "peer", None)
        patch.setattr(search_latency, "WARM_UP", 2)
        measure(make_bench(folder / "bench"), "--markdown", str(page))
    return out.getvalue(), page.read_text(encoding="utf-8")


def test_every_system_has_a_row_in_every_table(told: tuple[str, str]):
    out, _ = told
    assert all(table in out for table in TABLES)
    for system in ("Toolcrib, memory", "Toolcrib, sqlite", "plain FTS5, one lookup"):
        assert out.count(f"| {system} |") == len(TABLES)


def test_a_size_beyond_the_catalog_is_all_of_it(told: tuple[str, str]):
    assert "| system | 2 tools | 4 tools |" in told[0]


def test_a_peer_that_is_not_installed_is_left_out_with_the_reason(told: tuple[str, str]):
    assert "fastmcp is not installed, so it is left out" in told[0]


def test_the_tables_can_go_into_a_page(told: tuple[str, str]):
    out, page = told
    assert out.strip() in page


@pytest.mark.extras
@pytest.mark.skipif(search_latency.peer is None, reason="no fastmcp: run `make extras`")
@pytest.mark.filterwarnings("ignore")  # what the peer warns of is its own affair
def test_the_peer_is_measured_where_it_is_installed(
    bench: Path, capsys: pytest.CaptureFixture[str]
):
    measure(bench)
    out = capsys.readouterr().out
    assert "| fastmcp BM25, the function |" in out
    assert "| fastmcp BM25, through a client |" in out


def test_without_the_folder_it_says_so_and_exits_with_2(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as exit_:
        search_latency.main([])
    assert exit_.value.code == 2
    assert "name their folder by --bench-dir or TOOLCRIB_BENCH_DIR" in capsys.readouterr().err


def test_without_the_names_it_says_which_set_is_missing(
    bench: Path, capsys: pytest.CaptureFixture[str]
):
    (bench / "mcp_big_names" / "queries.jsonl").unlink()
    with pytest.raises(SystemExit):
        measure(bench)
    assert "no set 'mcp_big_names'" in capsys.readouterr().err
