import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from toolcrib.store import VectorFile, vector_file

HANG_S = 300
WRITER = """
import sys
from pathlib import Path
import numpy as np
from toolcrib.store.vector_file import VectorFile
cache = VectorFile(Path(sys.argv[1]), say=lambda said: sys.exit(said))
for number in range(25):
    key = f"{sys.argv[2]} {number}".encode()
    cache.keep_vectors("m", {key: np.full(4, number, np.float32)})
cache.close()
"""


class Place:
    """A vector file, and what it says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.said: list[str] = []
        self.file = VectorFile(path, say=self.said.append)

    def keep(self, *keys: bytes) -> None:
        self.file.keep_vectors("m", {key: np.ones(4, np.float32) for key in keys})

    def kept(self, *keys: bytes) -> set[bytes]:
        return set(self.file.cached_vectors("m", keys))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path / "cache" / "vectors.db")
    yield place
    place.file.close()


def test_nothing_is_made_before_there_is_something_to_keep(place: Place):
    assert not place.kept(b"a")
    assert not place.path.parent.exists()
    place.keep(b"a")
    assert place.kept(b"a", b"b") == {b"a"}
    assert place.path.stat().st_mode & 0o077 == 0


def test_another_sees_what_was_kept(place: Place):
    place.keep(b"a")
    other = Place(place.path)
    assert other.kept(b"a") == {b"a"}
    other.file.close()


def test_a_place_that_cannot_be_written_costs_the_keeping_and_is_said_once(tmp_path: Path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    place = Place(tmp_path / "cache" / "vectors.db")
    place.keep(b"a")
    place.keep(b"b")
    assert place.kept(b"a", b"b", b"c") == {b"a", b"b"}
    [said] = place.said
    assert said.startswith("vectors are not kept for the next start: ")
    place.file.close()


def test_a_file_that_is_no_database_is_set_aside(place: Place):
    place.path.parent.mkdir()
    place.path.write_text("no database at all, but long enough to be read as one" * 20)
    assert not place.kept(b"a")
    place.keep(b"a")
    assert place.kept(b"a") == {b"a"}
    assert list(place.path.parent.glob("*.corrupt-*"))


def test_it_does_not_grow_for_ever(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(vector_file, "MOST_BYTES", 512 * 1024)
    keys = [f"{number}".encode() for number in range(60)]
    for key in keys:
        place.file.keep_vectors("m", {key: np.ones(4096, np.float32)})
    kept = place.kept(*keys)
    assert 20 < len(kept) < 40
    assert kept == {*keys[-len(kept) :]}  # the oldest went, and only they


def test_what_is_kept_again_is_new_again(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(vector_file, "MOST_BYTES", 512 * 1024)
    for number in range(60):
        for key in (b"often", f"{number}".encode()):
            place.file.keep_vectors("m", {key: np.ones(4096, np.float32)})
    assert place.kept(b"often", b"0") == {b"often"}


def test_what_is_there_is_known_without_reading_it(place: Place):
    assert not place.file.present_vectors("m", [b"a"])
    assert not place.path.parent.exists()
    place.keep(b"a")
    assert place.file.present_vectors("m", [b"a", b"b"]) == {b"a"}
    assert not place.file.present_vectors("another", [b"a"])


def test_rows_share_pages(place: Place):
    """A tool's vector and tokens: 200 of each took 1.6 MB where every row had a page."""
    tools = [f"{number}".encode() for number in range(200)]
    place.file.keep_vectors("m", {key: np.ones(384, np.float32) for key in tools})
    place.file.keep_vectors("m by words", {key: np.ones(27 * 16, np.float32) for key in tools})
    place.file.close()
    assert place.path.stat().st_size < 950_000


def test_several_processes_may_write_at_once(place: Place):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(place.path), name]) for name in "abcd"
    ]
    assert [writer.wait(HANG_S) for writer in writers] == [0] * 4
    every = [f"{name} {number}".encode() for name in "abcd" for number in range(25)]
    assert place.kept(*every) == set(every)
