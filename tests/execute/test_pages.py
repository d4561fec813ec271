from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.execute.pages import line_count, page_at, page_starts, size_in_words
from toolcrib.text import most_tokens


def pages(text: str, tokens: int) -> list[str]:
    starts = [*page_starts(text, tokens), len(text)]
    return [text[start:end] for start, end in pairwise(starts)]


@given(st.text(st.sampled_from("ab \nü中\ud800"), min_size=1, max_size=300), st.integers(1, 40))
def test_the_pages_are_the_whole_text_and_none_is_too_long(text: str, tokens: int):
    cut = pages(text, tokens)
    assert "".join(cut) == text
    assert all(cut)
    assert all(most_tokens(page) <= tokens or len(page) == 1 for page in cut)


def test_a_page_ends_with_a_line_where_there_is_one_in_its_second_half():
    assert pages("aaaa\nbbbb\ncccc", 4) == ["aaaa\nbbbb\n", "cccc"]
    assert pages("a\n" + "b" * 20, 4) == ["a\n" + "b" * 10, "b" * 10]


def test_the_page_of_a_character():
    assert [page_at([0, 10, 20], offset) for offset in (0, 9, 10, 25)] == [1, 1, 2, 3]


def test_sizes_in_words():
    shown = [size_in_words("x" * size) for size in (0, 999, 1_000, 41_540, 999_949, 3_000_000)]
    assert shown == ["0 bytes", "999 bytes", "1.0 KB", "41.5 KB", "999.9 KB", "3.0 MB"]
    assert [line_count(text) for text in ("a", "a\n", "a\nb")] == [1, 1, 2]
