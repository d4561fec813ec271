import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import fold, is_unspaced, stems, terms, without_stopwords, words
from toolcrib.text.analyzer import LONGEST_WORD

ANY_TEXT = st.text(st.characters(codec=None))  # halves of surrogate pairs too


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getHTTPResponse", "get http response"),
        ("listURLs", "list urls"),
        ("GitHub", "git hub github"),
        ("read_file-list.all", "read file list all"),
        ("__init__", "init"),
        ("base64 s3", "base 64 base64 s3"),
        ("iPhone15Pro", "phone 15 pro iphone15pro"),
        ("ＡＢＣ ﬁle", "abc file"),  # NFKC
        ("café Ünïcode", "cafe unicode"),
        ("the user's files", "the user files"),
        ("the user’s files", "the user files"),
        ("读取file文件", "读取 file 文件"),
        ("カタカナ ひらがな 한국어 ภาษาไทย", "カタカナ ひらがな 한국어 ภาษาไทย"),
        ("поиск слов", "поиск слов"),
        ("\ud800x\0y😀", "x y"),
        ("", ""),
        ("!?… 😀", ""),
    ],
)
def test_a_text_is_its_words(text: str, expected: str):
    assert words(text) == expected.split()


def test_a_word_without_end_is_cut():
    assert words("x" * 1_000_000) == ["x" * LONGEST_WORD]


def test_stop_words_tell_nothing_unless_there_is_nothing_else():
    assert without_stopwords(["what", "is", "the", "weather"]) == ["weather"]
    assert without_stopwords(["who", "is"]) == ["who", "is"]


@pytest.mark.parametrize(
    ("word", "as_terms", "as_stems"),
    [
        ("deployments", ["deployments"], ["deploy·"]),
        ("reading", ["reading"], ["read·"]),
        ("s3", ["s3"], ["s3·"]),
        ("读取文件", ["读取", "取文", "文件"], None),
        ("读", ["读"], None),
    ],
)
def test_a_word_is_stored_as_it_is_and_by_its_stem(
    word: str, as_terms: list[str], as_stems: list[str] | None
):
    assert terms([word]) == as_terms
    if as_stems:
        assert stems([word]) == as_stems


def test_word_forms_meet_in_their_stem():
    assert len({*stems("search searches searched searching".split())}) == 1


@pytest.mark.parametrize(
    "name", ["write_file", "writeFile", "Write File", "WRITE-FILE", "ｗrite.file"]
)
def test_all_spellings_of_a_name_fold_to_one(name: str):
    assert fold(name) == "writefile"


def test_what_is_written_without_spaces_is_known():
    assert is_unspaced("读取文件")
    assert not is_unspaced("file")
    assert not is_unspaced("读file")
    assert not is_unspaced("")


@given(ANY_TEXT)
def test_every_term_is_one_token_of_an_index(text: str):
    """Lower-case ASCII letters, digits, and what lies beyond ASCII: no space, no sign, no NUL."""
    some = words(text)
    for term in (*terms(some), *stems(some)):
        assert re.fullmatch(r"(?:[a-z0-9]|[^\x00-\x7f\ud800-\udfff\s])+", term)


@given(ANY_TEXT)
def test_no_text_is_too_odd(text: str):
    assert len(without_stopwords(words(text))) <= len(words(text))
    assert not re.search(r"[\s_]", fold(text))


@given(st.text(st.sampled_from("aB9_- 读é")))
def test_case_and_signs_do_not_matter_to_a_folded_name(name: str):
    assert fold(name) == fold(name.upper()) == fold(f"`{name}`") == fold(fold(name))
