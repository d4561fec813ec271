"""The quality benchmark measures every set, and says so when there is none."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks import quality, quality_rows
from toolcrib.evaluate.cases import EvalTool


class WriteFile:
    """In place of MiniLM: whatever is asked, it finds one tool alone."""

    def __init__(
        self, _folder: Path, _cache: object, tools: Mapping[str, EvalTool], _asked: object
    ):
        self.found = [id for id in tools if id == "disk::write_file"]

    def search(self, _text: str, limit: int) -> Sequence[str]:
        return self.found[:limit]


def measure(bench: Path, *options: str) -> None:
    quality.main(["--bench-dir", str(bench), "--workers", "1", "--embedder", "none", *options])


def cells(table: str, name: str, part: str) -> list[str]:
    """The cells of one row; a part's row is below that of its set."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    start = next(number for number, row in enumerate(rows) if row[:1] == [name])
    return next(row for row in rows[start:] if row[1] == part)


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
def test_every_set_has_a_row_and_so_have_its_parts(
    bench: Path, capsys: pytest.CaptureFixture[str], engine: str
):
    measure(bench, "--engine", engine)
    out = capsys.readouterr().out
    assert cells(out, "mcp_big_names", "all")[2:4] == ["4", "4"]
    assert cells(out, "mcp_big_names", "exact")[9] == "100.0"
    assert cells(out, "mcp_big", "chinese")[4:6] == ["100.0", "100.0"]
    assert cells(out, "mcp_big", "plain")[-1] == "100.0 of 1"
    assert "mean of 2 sets" in out
    assert "R@5 against BM25: " in out


def test_what_is_no_set_is_named(bench: Path, capsys: pytest.CaptureFixture[str]):
    measure(bench)
    assert "pairs: skipped" in capsys.readouterr().err


def test_some_sets_can_be_chosen(bench: Path, capsys: pytest.CaptureFixture[str]):
    measure(bench, "--sets", "mcp_big_names")
    out = capsys.readouterr().out
    assert "mean of 1 sets" in out
    assert "| mcp_big |" not in out


def test_sets_are_measured_by_several_workers_alike(
    bench: Path, capsys: pytest.CaptureFixture[str]
):
    measure(bench)
    alone = capsys.readouterr().out
    measure(bench, "--workers", "2")
    assert capsys.readouterr().out == alone


def test_the_bundled_model_is_an_arm_of_its_own(bench: Path, capsys: pytest.CaptureFixture[str]):
    measure(bench, "--sets", "mcp_big", "--embedder", "bundled")
    assert "| like | bm25 | vector | words alone |" in capsys.readouterr().out


def test_each_arm_is_measured_alone(bench: Path, capsys: pytest.CaptureFixture[str]):
    measure(bench)
    _, arms = capsys.readouterr().out.split("| like | bm25 | words alone |")
    assert cells(arms, "mcp_big_names", "exact")[2:] == ["100.0"] * 5


def test_what_is_measured_is_kept_and_taken_again(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    cache = tmp_path / "cache"
    measure(bench, "--cache", str(cache))
    first = capsys.readouterr().out
    (bench / "mcp_big" / "queries.jsonl").write_text("{}\n", encoding="utf-8")
    measure(bench, "--cache", str(cache), "--resume")
    assert capsys.readouterr().out == first
    assert (cache / "vectors.db").exists()


def test_what_the_baselines_scored_can_be_taken_again_alone(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    cache = tmp_path / "cache"
    measure(bench, "--cache", str(cache))
    first = capsys.readouterr().out
    (cache / "mcp_big.ours.json").write_text("[]", encoding="utf-8")
    monkeypatch.delattr(quality_rows, "PlainFts5")
    measure(bench, "--cache", str(cache), "--resume", "baselines")
    assert capsys.readouterr().out == first


def test_what_was_taken_is_not_mixed_with_what_was_measured_on_other_queries(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    cache = str(tmp_path / "cache")
    measure(bench, "--cache", cache)
    with pytest.raises(SystemExit):
        measure(bench, "--cache", cache, "--most", "2", "--resume", "baselines")
    assert "mcp_big: the results in the cache are of other queries" in capsys.readouterr().err


def test_minilm_is_measured_beside_bm25_and_fused_with_it(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    cache = str(tmp_path / "cache")
    measure(bench, "--cache", cache)
    assert cells(capsys.readouterr().out, "mcp_big", "plain")[6:8] == ["–", "–"]
    (tmp_path / "model.safetensors").touch()
    monkeypatch.setattr(quality_rows, "MiniLm", WriteFile)
    measure(bench, "--cache", cache, "--minilm", str(tmp_path), "--resume")
    out = capsys.readouterr().out
    assert cells(out, "mcp_big", "chinese")[6:8] == ["0.0", "100.0"]
    assert "R@5 against MiniLM: " in out
    measure(bench, "--cache", cache, "--resume")
    assert capsys.readouterr().out == out


def test_minilm_has_to_be_where_it_is_said_to_be(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as exit_:
        measure(bench, "--minilm", str(tmp_path))
    assert exit_.value.code == 2
    assert "run: pip install" in capsys.readouterr().err


def test_a_case_with_an_instruction_is_measured_by_it_too(
    bench: Path, capsys: pytest.CaptureFixture[str]
):
    queries = bench / "mcp_big" / "queries.jsonl"
    line = '{"id": "4", "query": "zzz", "relevant": ["disk::read_file"], "instruction": "read"}\n'
    queries.write_text(queries.read_text(encoding="utf-8") + line, encoding="utf-8")
    measure(bench, "--sets", "mcp_big")
    assert cells(capsys.readouterr().out, "mcp_big", "by instruction")[3:5] == ["1", "100.0"]


def test_a_set_that_cannot_be_used_is_named_and_the_others_are_measured(
    bench: Path, capsys: pytest.CaptureFixture[str]
):
    (bench / "mcp_big" / "queries.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as exit_:
        measure(bench)
    said = capsys.readouterr()
    assert exit_.value.code == 1
    assert "mean of 1 sets" in said.out
    assert "Not measured, for their files cannot be used: mcp_big." in said.out
    assert "mcp_big: " in said.err


def test_the_table_can_go_into_a_page(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page = tmp_path / "page.md"
    page.write_text("<!-- quality: begin -->\n<!-- quality: end -->\n", encoding="utf-8")
    measure(bench, "--markdown", str(page))
    assert capsys.readouterr().out.strip() in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "name their folder by --bench-dir or TOOLCRIB_BENCH_DIR"),
        (["--bench-dir", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_without_the_folder_it_says_so_and_exits_with_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
):
    with pytest.raises(SystemExit) as exit_:
        quality.main(arguments)
    assert exit_.value.code == 2
    assert complaint in capsys.readouterr().err
