"""File tools keep to their roots, and never touch what is Toolcrib's own."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolcrib.tools import OwnFiles, Roots, working_in
from toolcrib.tools.edits import delete_file, edit_file, move_file, write_file
from toolcrib.tools.files import find_files, list_directory, read_file
from toolcrib.tools.roots import roots
from toolcrib.tools.text_search import search_text

SECRET = "s3cret"
PROC = "/proc/self"

TOUCHING: dict[str, Callable[[str], object]] = {
    "read_file": read_file,
    "list_directory": list_directory,
    "find_files": lambda path: find_files("*", path),
    "search_text": lambda path: search_text("", path),
    "write_file": lambda path: write_file(path, "x", overwrite=True),
    "edit_file": lambda path: edit_file(path, SECRET, "x"),
    "move_from": lambda path: move_file(path, "moved"),
    "move_to": lambda path: move_file("mine", path, overwrite=True),
    "delete_file": delete_file,
}
touching = pytest.mark.parametrize("touch", TOUCHING.values(), ids=TOUCHING)


@pytest.fixture
def ground(tmp_path: Path) -> Path:
    """A root `in`, which holds `own`, and beside it a folder `out`, each with a secret."""
    for folder in ("in/own", "in/sub", "out"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "secret").write_text(SECRET)
    (tmp_path / "in" / "mine").write_text("mine")
    (tmp_path / "in" / "catalog.db").write_text(SECRET)
    (tmp_path / "in" / "catalog.db-wal").write_text(SECRET)
    return tmp_path


@pytest.fixture(autouse=True)
def _confined(ground: Path, _within: None) -> Iterator[None]:
    own = OwnFiles((ground / "in" / "own",), (ground / "in" / "catalog.db",))
    with working_in(Roots([ground / "in"], own)):
        yield


def untouched(ground: Path) -> bool:
    secrets = [path.read_text() for path in (ground / "out" / "secret", ground / "in/own/secret")]
    return secrets == [SECRET, SECRET] and len(list((ground / "out").iterdir())) == 1


@touching
def test_nothing_outside_the_roots_is_touched_by_any_path(
    ground: Path, touch: Callable[[str], object]
):
    inside, outside = ground / "in", ground / "out"
    (inside / "to_folder").symlink_to(outside)
    (inside / "to_file").symlink_to(outside / "secret")
    (inside / "to_link").symlink_to(inside / "to_folder")
    (inside / "to_nothing").symlink_to(outside / "not" / "there")
    for path in (
        str(outside),
        str(outside / "secret"),
        str(outside / "new"),
        "../out/secret",
        "sub/../../out/secret",
        "to_folder/secret",
        "to_link/secret",
        "to_folder/new/deeper",
        "to_folder/..",
        str(ground),
        "/",
        "~root",
        "/etc/passwd",
        PROC + "/root" + "/etc/passwd",
        f"{PROC}/cwd/{os.path.relpath(outside)}",
    ):
        with pytest.raises((PermissionError, RuntimeError)):
            touch(path)
    assert untouched(ground)


@pytest.mark.parametrize("name", ["read_file", "list_directory", "search_text", "edit_file"])
@pytest.mark.parametrize("link", ["to_file", "to_nothing"])
def test_a_link_is_judged_by_what_it_leads_to(ground: Path, name: str, link: str):
    target = {"to_file": "secret", "to_nothing": "not/there"}[link]
    (ground / "in" / link).symlink_to(ground / "out" / target)
    with pytest.raises(PermissionError, match="outside the folders"):
        TOUCHING[name](link)
    with pytest.raises(PermissionError, match="outside the folders"):
        write_file(link, "x", overwrite=True)
    assert untouched(ground)


@touching
def test_what_is_toolcribs_own_is_refused_within_the_roots_too(
    ground: Path, touch: Callable[[str], object]
):
    inside = ground / "in"
    (inside / "by_link").symlink_to(inside / "own")
    paths = ["own", "own/secret", "own/new", "own/a/b", "by_link/secret", "sub/../own/secret"]
    for path in (*paths, "catalog.db", "catalog.db-wal", "catalog.db-journal"):
        with pytest.raises(PermissionError, match="Toolcrib itself"):
            touch(path)
    assert untouched(ground)
    assert (inside / "catalog.db").read_text() == SECRET


def test_own_files_are_known_by_other_names_of_theirs(ground: Path):
    os.link(ground / "in" / "own" / "secret", ground / "in" / "copy")
    os.link(ground / "in" / "catalog.db-wal", ground / "in" / "journal")
    (ground / "in" / "plain").write_text("plain")
    os.link(ground / "in" / "plain", ground / "in" / "plain too")
    for name in ("copy", "journal"):
        with pytest.raises(PermissionError, match="Toolcrib itself"):
            read_file(name)
    assert read_file("plain too")["text"] == "plain"
    found = {Path(match["path"]).name for match in search_text(SECRET)["matches"]}
    assert found == {"secret"}


def test_a_folder_that_holds_what_is_own_stays_where_it_is(ground: Path):
    with working_in(Roots([ground], OwnFiles((ground / "in" / "own", ground / "later" / "own")))):
        for path, to in (("in", "elsewhere"), ("out", "later"), ("in/own", "elsewhere")):
            with pytest.raises(PermissionError, match="Toolcrib itself"):
                move_file(path, to)
        move_file("in/sub/secret", "in")  # into it is another matter
    assert untouched(ground)


def test_a_search_leaves_out_what_it_may_not_read(ground: Path):
    (ground / "in" / "to_file").symlink_to(ground / "out" / "secret")
    (ground / "in" / "to_folder").symlink_to(ground / "out")
    found = {match["path"] for match in search_text(SECRET)["matches"]}
    assert found == {str(ground / "in" / "sub" / "secret")}
    named = find_files("secret")["paths"]
    assert named == [str(ground / "in" / "sub" / "secret")]


def test_a_folder_that_is_swapped_for_a_link_after_the_check_is_noticed(ground: Path):
    place = roots().resolve("sub/secret")
    (ground / "in" / "sub").rename(ground / "in" / "away")
    (ground / "in" / "sub").symlink_to(ground / "out")
    with pytest.raises(PermissionError, match="outside the folders"):
        roots().open(place)
    (ground / "in" / "away" / "secret").unlink()
    (ground / "in" / "away" / "secret").symlink_to(ground / "out" / "secret")
    with pytest.raises(OSError, match=r"symbolic links|secret"):
        roots().open(ground / "in" / "away" / "secret")


def test_relative_paths_begin_in_the_first_root(ground: Path):
    with working_in(Roots([ground / "in" / "sub", ground / "out"])):
        assert read_file("secret")["text"] == SECRET
        assert [entry["name"] for entry in list_directory()] == ["secret"]
        assert read_file(str(ground / "out" / "secret"))["text"] == SECRET
        write_file("new/file", "x")
    assert (ground / "in" / "sub" / "new" / "file").read_text() == "x"


def test_the_home_folder_has_a_sign(home: Path):
    (home / "note").write_text("at home")
    with working_in(Roots([home])):
        assert read_file("~/note")["text"] == "at home"
    with pytest.raises(PermissionError, match="outside"):
        read_file("~/note")


def test_an_error_names_the_remedy_and_not_where_a_link_leads(ground: Path):
    (ground / "in" / "to_file").symlink_to(ground / "out" / "secret")
    with pytest.raises(PermissionError) as refused:
        read_file("to_file")
    assert "`file_roots`" in str(refused.value)
    assert str(ground / "in") in str(refused.value)
    assert "out" not in str(refused.value).replace("outside", "")


def test_without_roots_there_is_nothing_to_touch(ground: Path):
    with working_in(Roots(())), pytest.raises(PermissionError, match=r"no folder here.*file_roots"):
        read_file(str(ground / "in" / "mine"))
