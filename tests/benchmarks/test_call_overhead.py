"""The benchmark of calls measures both ways, and says what it had to leave out."""

from pathlib import Path

import pytest

from benchmarks import call_overhead
from benchmarks.call_overhead import Unusable

TABLES = ("**A call to a server that is up**", "**A call that starts its server**")


@pytest.fixture(autouse=True)
def _little_warmth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_overhead, "WARM_UP", 1)


def test_both_ways_have_a_column_in_both_tables(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    page = tmp_path / "page.md"
    page.write_text("<!-- call_overhead: begin -->\n<!-- call_overhead: end -->\n")
    options = ["--calls", "3", "--starts", "1", "--fake-only", "--markdown", str(page)]
    call_overhead.main(options)
    told = capfd.readouterr()
    assert all(table in told.out for table in TABLES)
    assert told.out.count("| the SDK's client | through Toolcrib |") == len(TABLES)
    assert told.out.count("| fake, Python |") == len(TABLES)
    assert told.out.strip() in page.read_text()
    assert "start 1 of 1" in told.err


def test_a_real_server_that_cannot_be_had_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def nowhere() -> Path:
        raise OSError("there is no npm")

    monkeypatch.setattr(call_overhead, "install", nowhere)
    call_overhead.main(["--calls", "1", "--starts", "1"])
    assert "it cannot be installed: there is no npm" in capfd.readouterr().out


def test_a_server_that_does_not_start_is_no_result(tmp_path: Path):
    broken = call_overhead.Server("broken", "no-such-command", (), "echo", {})
    with pytest.raises(Unusable, match="broken does not start"):
        call_overhead._learned(broken, tmp_path)
