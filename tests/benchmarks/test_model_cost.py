"""The cost of the model is told for every size, beside what goes without it."""

from pathlib import Path

import pytest

from benchmarks import model_cost


def test_a_row_a_system_and_what_the_model_takes(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    wheel = tmp_path / "some.whl"
    wheel.write_bytes(b"x" * 1_500_000)
    cache = tmp_path / "cache"
    asked = ["--bench-dir", str(bench), "--cache", str(cache), "--sizes", "2,4"]
    model_cost.main([*asked, "--queries", "2", "--embed", "2", "--wheel", str(wheel)])
    out = capsys.readouterr().out
    assert "| one search, CPU ms, p50 / p95 | 2 tools | 4 tools |" in out
    assert out.count(" / ") == 9
    assert "Vectors of 2 tools: " in out
    assert "The wheel: 1.5 MB." in out


def test_without_the_folder_it_says_so(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        model_cost.main(["--bench-dir", "nowhere"])
    assert "there is no folder nowhere" in capsys.readouterr().err
