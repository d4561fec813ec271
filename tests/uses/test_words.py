import pytest

from toolcrib.search.filters import Scope
from toolcrib.uses.words import MOST_WORDS, content_words, hashed, profile_of


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("Can you please send the emails to my boss?", ["send·", "email·", "boss·"]),
        ("sending an email, email again", ["send·", "email·", "again·"]),
        ("order 4711 of user42 on 2024-01-02", ["order·", "user·"]),
        ("能不能帮我读取文件", ["读取", "取文", "文件"]),
        ("what is this", []),
        ("", []),
        ("select:read_file", []),
        ("+slack send", []),
        ("/create.*/", []),
    ],
)
def test_what_is_kept_of_a_query(query: str, kept: list[str]):
    assert content_words(query) == kept


def test_of_a_long_query_only_the_first_words_are_kept():
    query = " ".join(f"{a}{b}zzz" for a in "bcdfg" for b in "aeiou")
    assert len(content_words(query)) == MOST_WORDS


def test_hashes_depend_on_word_and_key_and_do_not_show_the_word():
    (one,), (same,), (other,) = (hashed(["mail·"], key) for key in (b"k", b"k", b"l"))
    assert one == same != other
    assert len(one) == 8
    assert b"mail" not in one
    assert hashed(["\udcff"], b"k")


def test_a_profile_is_a_set_of_rights():
    assert profile_of(Scope()) == profile_of(Scope(bound=frozenset({"x"})))
    different = [
        Scope(),
        Scope(allowed=frozenset()),
        Scope(allowed=frozenset({"a", "b"})),
        Scope(excluded=frozenset({"a", "b"})),
    ]
    assert len({profile_of(scope) for scope in different}) == len(different)
