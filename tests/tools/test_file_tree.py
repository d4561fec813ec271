from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.tools import file_tree as module
from toolcrib.tools import walk_files
from toolcrib.tools.file_tree import glob_filter

NOTHING = frozenset[Path]().__contains__
NAME = st.text(alphabet="ab.[]{}()+^$|\\ -文", min_size=1)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("*.py", "a.pyc", False),
        ("x/*.py", "x/a.py", True),
        ("x/*.py", "x/y/a.py", False),
        ("**/a.py", "a.py", True),
        ("x/**", "x/y/z", True),
        ("?.py", "ab.py", False),
        ("a+b.txt", "a+b.txt", True),
        ("a+b.txt", "aab.txt", False),
        ("README.MD", "docs/readme.md", True),
        ("*.py", "two\nlines/a.py", True),
    ],
)
def test_globs(pattern, path, fits):
    assert glob_filter(pattern)(path) is fits


@settings(deadline=None)
@given(NAME)
def test_a_name_without_wildcards_fits_itself(name):
    assert glob_filter(name)(f"folder/{name}")


def test_a_hostile_glob_comes_to_an_end():
    assert not glob_filter("*a" * 20 + "b")("a" * 10_000)


def test_hidden_files_and_linked_folders_are_left_out(tmp_path):
    for name in ["b", "a/c", ".hidden/d", "a/.e"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [path.name for path in walk_files(tmp_path, NOTHING)] == ["b", "c"]


def test_too_many_files_are_an_error_and_not_a_short_list(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILES", 2)
    for name in "abc":
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match="smaller folder"):
        list(walk_files(tmp_path, NOTHING))


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(NotADirectoryError, match="list its parent"):
        list(walk_files(tmp_path / "gone", NOTHING))
