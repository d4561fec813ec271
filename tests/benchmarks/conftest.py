from pathlib import Path

import pytest

from benchmarks.folder import VARIABLE
from tests.benchmarks.tiny_bench import make_bench


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return make_bench(tmp_path / "bench")


@pytest.fixture(autouse=True)
def _no_bench_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
