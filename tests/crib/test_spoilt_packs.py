"""Packs that were spoilt, swapped or taken away: never trusted, and never needed."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.crib.packed_crib import WORDS, answers, opened, servers
from tests.store.test_full_disk import room_for
from toolcrib.crib import Crib
from toolcrib.index import Document, document_of
from toolcrib.model import Capability
from toolcrib.store import write_pack

Spoil = Callable[[Path], None]


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where packs are kept, of one program; with a pair."""
    monkeypatch.setattr("toolcrib.crib.stages._program", lambda: "some program")
    with opened() as crib:
        crib.search("anything")
    return WORDS.state_folder / "packs"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the capabilities that are indexed from their definitions."""
    names: list[str] = []

    def spy(capability: Capability, *, id: str = "", bare: str = "") -> Document:
        names.append(id or capability.name)
        return document_of(capability, id=id, bare=bare)

    monkeypatch.setattr("toolcrib.index.catalog.document_of", spy)
    return names


@pytest.fixture(scope="module")
def expected() -> list[tuple[str, float]]:
    """What is found by an index that was made from the definitions."""
    with Crib(WORDS.model_copy(update={"index": "memory"})) as crib:
        crib.add_source(*servers())
        return answers(crib)


def file_of(folder: Path, ending: str) -> Path:
    [path] = folder.glob(f"*.{ending}")
    return path


def test_the_next_start_indexes_nothing(
    folder: Path, made: list[str], expected: list[tuple[str, float]]
):
    assert {path.suffix for path in folder.iterdir()} >= {".pool", ".index"}
    with opened() as crib:
        assert answers(crib) == expected
        assert crib.index.is_stored()
    assert made == []


def test_it_indexes_what_came_since_and_forgets_what_went(folder: Path, made: list[str]):
    with opened(2) as crib:
        assert [hit.name for hit in crib.search("knit a sock")] == [
            "mcp_extra_extra_0",
            "mcp_extra_extra_1",
        ]
    assert sorted(made) == ["mcp_extra_extra_0", "mcp_extra_extra_1"]
    with opened() as crib:
        assert not [hit for hit in crib.search("knit a sock") if "extra" in hit.name]
    assert len(made) == 2


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scratch(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for at in Random(4).sample(range(64, len(content)), 50):
        content[at] ^= 0x41
    path.write_bytes(content)


def blank(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def foreign(path: Path) -> None:
    kind = "index 1 little" if path.suffix == ".index" else "pool 1"
    write_pack(path, kind, {"mark": "", "fingerprint": ""}, {}, b"another installation's key 12345")


def older(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"tcpack01", b"tcpack00"))


def removed(path: Path) -> None:
    path.unlink()


SPOILT = [cut, cut_in_half, scratch, blank, empty, foreign, older, removed]


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("ending", ["index", "pool"])
def test_a_spoilt_file_is_set_aside_and_made_anew(
    folder: Path, expected: list[tuple[str, float]], spoil: Spoil, ending: str
):
    spoil(file_of(folder, ending))
    with opened() as crib:
        assert answers(crib) == expected
    with opened() as crib:
        assert answers(crib) == expected
        assert crib.index.is_stored()
    assert len([*folder.glob("*.bad")]) == (spoil is not removed)


def test_the_index_of_another_pool_is_not_taken(folder: Path, expected: list[tuple[str, float]]):
    ours = file_of(folder, "index").read_bytes()
    with opened(5) as crib:
        crib.search("anything")
    file_of(folder, "index").write_bytes(ours)
    with opened(5) as crib:
        assert "mcp_extra_extra_3" in [hit.name for hit in crib.search("extra 3")]
        assert answers(crib) != []
    with opened() as crib:
        assert answers(crib) == expected


def test_a_search_goes_on_while_the_files_are_replaced_and_removed(
    folder: Path, expected: list[tuple[str, float]]
):
    with opened() as crib:
        assert answers(crib) == expected
        with opened(3) as other:
            other.search("anything")
        assert answers(crib) == expected
        for path in folder.glob("*.*"):
            path.unlink()
        assert answers(crib) == expected


def test_a_folder_that_cannot_be_written_costs_nothing_else(
    home: Path, expected: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toolcrib.crib.stages._program", lambda: "some program")
    assert home
    WORDS.state_folder.mkdir(parents=True)
    (WORDS.state_folder / "packs").write_text("in the way")
    with opened() as crib:
        assert answers(crib) == expected


def test_a_full_disk_costs_nothing_else(
    home: Path, expected: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toolcrib.crib.stages._program", lambda: "some program")
    assert home
    for size in (0, 4_096, 40_000):
        with room_for(size), opened() as crib:
            assert answers(crib) == expected
    with opened() as crib:
        assert answers(crib) == expected
