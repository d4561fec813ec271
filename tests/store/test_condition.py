from pathlib import Path

import apsw
import pytest

from toolcrib.errors import StoreError
from toolcrib.store import SqliteStore, catalog_condition


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.db"
    SqliteStore.open(path).close()
    return path


def test_a_sound_file_is_sound_and_stays_as_it_is(path: Path):
    before = path.read_bytes()
    found = catalog_condition(path)
    assert (found.version, found.damage) == (found.newest, "")
    assert path.read_bytes() == before


def test_a_damaged_file_is_told_and_left_in_its_place(path: Path):
    for content in (b"this is no database at all" * 100, path.read_bytes()[:5000]):
        path.write_bytes(content)
        assert catalog_condition(path).damage
        assert path.read_bytes() == content


def test_files_of_others_are_refused(path: Path):
    db = apsw.Connection(str(path))
    db.pragma("user_version", 99)
    db.close()
    with pytest.raises(StoreError, match="newer"):
        catalog_condition(path)
    db = apsw.Connection(str(path))
    db.pragma("application_id", 7)
    db.close()
    with pytest.raises(StoreError, match="another program"):
        catalog_condition(path)
