import pytest

from toolcrib.tools import files
from toolcrib.tools.files import find_files, list_directory, read_file


@pytest.fixture
def numbered(tmp_path):
    path = tmp_path / "numbered.txt"
    path.write_text("".join(f"line {number}\n" for number in range(1, 11)))
    return str(path)


def test_a_file_is_read_whole(numbered):
    part = read_file(numbered)
    assert part["text"].startswith("line 1\n")
    assert (part["first_line"], part["lines"], part["more"]) == (1, 10, False)


def test_a_part_of_a_file_says_whether_there_is_more(numbered):
    assert read_file(numbered, first_line=3, max_lines=2) == {
        "text": "line 3\nline 4\n",
        "first_line": 3,
        "lines": 2,
        "more": True,
    }
    assert read_file(numbered, first_line=9, max_lines=2)["more"] is False


def test_beyond_the_end_there_is_no_text(numbered):
    assert read_file(numbered, first_line=99) == {
        "text": "",
        "first_line": 99,
        "lines": 0,
        "more": False,
    }


def test_a_large_file_is_read_in_whole_lines_up_to_the_limit(numbered, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 20)
    part = read_file(numbered)
    assert (part["text"], part["more"]) == ("line 1\nline 2\n", True)
    assert read_file(numbered, first_line=3)["text"] == "line 3\nline 4\n"


def test_a_line_above_the_limit_is_refused(numbered, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 5)
    with pytest.raises(ValueError, match="line of more than 5 bytes"):
        read_file(numbered)


def test_a_binary_file_is_refused(tmp_path):
    (tmp_path / "image").write_bytes(b"\x89PNG\xff\0")
    with pytest.raises(ValueError, match="not UTF-8"):
        read_file(str(tmp_path / "image"))


def test_a_folder_is_listed_by_name(tmp_path):
    (tmp_path / "b.txt").write_text("four")
    (tmp_path / "a").mkdir()
    (tmp_path / "c").symlink_to(tmp_path / "gone")
    assert [(entry["name"], entry["type"]) for entry in list_directory(str(tmp_path))] == [
        ("a", "folder"),
        ("b.txt", "file"),
        ("c", "other"),
    ]
    assert list_directory(str(tmp_path))[1]["bytes"] == 4


def test_files_are_found_by_pattern(tmp_path):
    for name in ["a.py", "src/b.py", "src/deep/c.py", "src/d.txt", ".git/e.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def found(pattern, **options):
        paths = find_files(pattern, str(tmp_path), **options)["paths"]
        return [path.removeprefix(f"{tmp_path}/") for path in paths]

    assert found("*.py") == ["a.py", "src/b.py", "src/deep/c.py"]
    assert found("src/*.py") == ["src/b.py"]
    assert found("src/**/*.py") == ["src/b.py", "src/deep/c.py"]
    assert found("*.PY", max_results=1) == ["a.py"]
    assert found("nothing*") == []
    assert find_files("*.py", str(tmp_path), max_results=2)["more"] is True
    assert find_files("*.py", str(tmp_path), max_results=3)["more"] is False
