import pytest

from benchmarks import blas_threads


def test_both_are_measured_side_by_side(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(blas_threads, "TEXTS", 1)
    blas_threads.main(["--rounds", "1"])
    [ours, theirs, ratio] = capsys.readouterr().out.splitlines()[2:]
    assert ours.startswith("| one thread, as Toolcrib runs it | ")
    assert theirs.startswith("| the threads that BLAS takes | ")
    assert ratio.startswith("| ratio | ")
