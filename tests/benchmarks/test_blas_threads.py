import pytest

from benchmarks.blas_threads import main


def test_both_are_measured_side_by_side(capsys: pytest.CaptureFixture[str]):
    main(["--rounds", "1"])
    [ours, theirs, ratio] = capsys.readouterr().out.splitlines()[2:]
    assert ours.startswith("| one thread, as Toolcrib runs it | ")
    assert theirs.startswith("| the threads that BLAS takes | ")
    assert ratio.startswith("| ratio | ")
