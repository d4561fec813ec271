import pytest

from toolcrib.errors import DeclarationError
from toolcrib.sources import read_text_file
from toolcrib.sources.text_file import MAX_BYTES


def test_a_mark_at_the_start_and_line_ends_of_windows_are_not_text(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    assert read_text_file(path) == "a\nb\n"


def test_what_is_not_utf8_is_refused_with_its_line(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a\nb\xff\n")
    with pytest.raises(DeclarationError, match=r"file:2: is not UTF-8"):
        read_text_file(path)


def test_a_large_file_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a" * (MAX_BYTES + 1))
    with pytest.raises(DeclarationError, match="larger than"):
        read_text_file(path)
    path.write_bytes(b"a" * MAX_BYTES)
    assert len(read_text_file(path)) == MAX_BYTES


def test_a_missing_file_is_refused_with_its_name(tmp_path):
    with pytest.raises(DeclarationError, match="nowhere:1: cannot be read"):
        read_text_file(tmp_path / "nowhere")
