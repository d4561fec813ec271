import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.tools import text_files
from toolcrib.tools.text_files import MAX_BYTES, read_text, regular_file, write_text

TEXT = st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@settings(deadline=None)
@given(TEXT)
def test_what_is_written_is_read_back_to_the_letter(tmp_path_factory, text):
    place = tmp_path_factory.mktemp("text") / "file"
    write_text(place, text)
    assert read_text(place) == text


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    place = tmp_path / "file"
    place.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(text_files.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_text(place, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert place.read_text() == "old"


def test_a_replaced_file_keeps_its_mode(tmp_path):
    place = tmp_path / "file"
    place.write_text("old")
    place.chmod(0o754)
    write_text(place, "new")
    assert place.read_text() == "new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o754


def test_a_new_file_has_the_mode_that_the_user_is_used_to(tmp_path):
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_files_that_are_no_text_or_too_large_are_refused(tmp_path):
    place = tmp_path / "file"
    for content, message in [
        (b"\xff", "not UTF-8"),
        (b"a\0b", "binary"),
        (b"a" * (MAX_BYTES + 1), "larger"),
    ]:
        place.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            read_text(place)


def test_only_a_regular_file_is_one(tmp_path):
    with pytest.raises(IsADirectoryError, match="list it"):
        regular_file(str(tmp_path))
    with pytest.raises(FileNotFoundError, match="list its folder"):
        regular_file(str(tmp_path / "gone"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="device"):
        regular_file(str(tmp_path / "pipe"))
