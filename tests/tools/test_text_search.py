import pytest

from toolcrib.tools.text_search import LONGEST_LINE, search_text


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.md").write_text("# Tools\nsearch tools\n")
    (tmp_path / "b.txt").write_text("no\nTOOLS here\n你好 工具\n")
    (tmp_path / "image.png").write_bytes(b"tools\0\xff")
    (tmp_path / ".hidden").write_text("tools")
    return tmp_path


def lines(folder, text, **options):
    found = search_text(text, str(folder), **options)["matches"]
    return [(match["path"].removeprefix(f"{folder}/"), match["line"]) for match in found]


def test_lines_are_found_whatever_the_case(folder):
    assert lines(folder, "tools") == [("a.md", 1), ("a.md", 2), ("b.txt", 2)]
    assert lines(folder, "工具") == [("b.txt", 3)]


def test_only_the_named_files_are_searched(folder):
    assert lines(folder, "tools", files="*.txt") == [("b.txt", 2)]


def test_a_pattern_is_one_only_when_the_call_says_so(folder):
    assert lines(folder, "^search") == []
    assert lines(folder, "^search", regex=True) == [("a.md", 2)]


def test_a_pattern_that_the_engine_refuses_says_why(folder):
    with pytest.raises(ValueError, match="look-around"):
        lines(folder, "(?=a)", regex=True)


def test_a_hostile_pattern_comes_to_an_end(tmp_path):
    (tmp_path / "a").write_text("a" * 5000 + "!")
    assert lines(tmp_path, "^(a+)+$", regex=True) == []


def test_more_lines_than_asked_for_are_announced(folder):
    assert search_text("tools", str(folder), max_results=3)["more"] is False
    found = search_text("tools", str(folder), max_results=2)
    assert (len(found["matches"]), found["more"]) == (2, True)


def test_a_long_line_is_shown_by_its_beginning(tmp_path):
    (tmp_path / "a").write_text("x" * 1000)
    (match,) = search_text("xx", str(tmp_path))["matches"]
    assert match["text"] == "x" * LONGEST_LINE
