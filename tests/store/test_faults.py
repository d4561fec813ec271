from pathlib import Path

import apsw
import pytest

from toolcrib.store.database import FAULTS, explain_fault, set_aside


@pytest.mark.parametrize("kind", [*FAULTS, PermissionError])
def test_every_fault_has_a_file_a_remedy_and_a_cause(kind: type[Exception]):
    message = explain_fault(Path("catalog.db"), kind("as given"))
    assert message.startswith("catalog.db: ")
    assert message.endswith("(as given)")


def test_a_full_disk_asks_for_space():
    assert "free some space" in explain_fault("catalog.db", apsw.FullError(""))


def test_what_is_set_aside_keeps_all_its_parts_and_takes_no_name_in_use(tmp_path: Path):
    for number in (1, 2):
        for suffix in ("", "-wal", "-shm"):
            (tmp_path / f"catalog.db{suffix}").write_text(f"{number}{suffix}")
        aside = set_aside(tmp_path / "catalog.db")
        assert aside == tmp_path / f"catalog.db.corrupt-{number}"
        for suffix in ("", "-wal", "-shm"):
            assert Path(f"{aside}{suffix}").read_text() == f"{number}{suffix}"
    assert not (tmp_path / "catalog.db").exists()
