from dataclasses import fields, replace

import pytest

from toolcrib.access import Scope
from toolcrib.uses.advice import MOST_WORDS, NO_RIGHTS, content_words, rights_hash
from toolcrib.uses.counts import word_hashes

VALUES = (frozenset[str](), frozenset({"read"}), frozenset({"read", "write"}))


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
    (one,), (same,), (other,) = (word_hashes(["mail·"], key) for key in (b"k", b"k", b"l"))
    assert one == same != other
    assert len(one) == 8
    assert b"mail" not in one
    assert word_hashes(["\udcff"], b"k")


def test_what_a_caller_has_already_is_no_right():
    assert rights_hash(Scope()) == rights_hash(Scope(bound=frozenset({"x"})))


@pytest.mark.parametrize("field", [field.name for field in fields(Scope)])
def test_every_right_tells_profiles_apart(field: str):
    """A field that is added to the scope is a right until it is said to be none."""
    scopes = [Scope(), *(replace(Scope(), **{field: value}) for value in VALUES)]
    told_apart = len({rights_hash(scope) for scope in scopes})
    assert told_apart == (1 if field in NO_RIGHTS else len(set(scopes)))


def test_the_order_of_names_is_none_of_rights():
    names = [f"tool_{number}" for number in range(50)]
    one, other = Scope(allowed=frozenset(names)), Scope(allowed=frozenset(reversed(names)))
    assert rights_hash(one) == rights_hash(other)


def test_a_right_is_not_taken_for_another():
    names = frozenset({"read"})
    rights = ["internal", "excluded", "allowed", "sources", "permissions"]
    every = {rights_hash(replace(Scope(), **{right: names})) for right in rights}
    assert len(every) == len(rights)
