import pytest

from toolcrib.execute import line_search
from toolcrib.execute.line_search import PIECE, as_grep, find_lines
from toolcrib.text import BadPattern


def numbers(text: str, wanted: str) -> list[int]:
    return [match.number for match in find_lines(text, wanted).matches]


def shown(text: str, wanted: str) -> str:
    return "\n".join(lines for _, lines in as_grep(text, find_lines(text, wanted).matches))


def test_words_fit_in_either_case_and_patterns_stand_between_slashes():
    text = "one\nTwo two\nthree\n"
    assert numbers(text, "TWO") == [2]
    assert numbers(text, "/t(wo|hree)$/") == [2, 3]
    assert numbers(text, "/") == numbers(text, "four") == numbers("", "x") == []


@pytest.mark.parametrize("pattern", [r"/(a)\1/", "/(/", "/(a{99}){99}/"])
def test_what_could_hang_is_refused(pattern: str):
    with pytest.raises(BadPattern):
        find_lines("a", pattern)


def test_lines_are_shown_with_those_around_them_each_once():
    text = "\n".join(f"line {n}" for n in range(1, 21))
    assert shown(text, "/line (4|6|15)$/") == (
        "2-line 2\n3-line 3\n4:line 4\n5-line 5\n6:line 6\n7-line 7\n8-line 8\n"
        "\n13-line 13\n14-line 14\n15:line 15\n16-line 16\n17-line 17"
    )
    assert shown("x\ny\n", "x") == "1:x\n2-y"


def test_of_a_long_line_the_pieces_are_shown_that_fit_each_once():
    text = "a" * 1_000 + "needle" + "b" * 1_000
    [match] = find_lines(text, "needle").matches
    assert match.number == 1
    assert len(match.text) <= PIECE
    assert "needle" in match.text
    for place in range(200, 500):  # wherever the pieces meet
        assert len(find_lines("a" * place + "needle" + "b" * 600, "needle").matches) == 1


def test_so_many_matches_and_no_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_search, "MOST_MATCHES", 3)
    assert find_lines("a\n" * 3, "a").whole
    found = find_lines("a\n" * 4, "a")
    assert (len(found.matches), found.whole) == (3, False)


def test_a_search_ends_in_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_search, "SEARCH_S", -1.0)
    assert find_lines("a", "a") == line_search.LineMatches([], whole=False)
