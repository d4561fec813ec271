from hypothesis import given
from hypothesis import strategies as st

from toolcrib.index.fuzzy_match import Vocabulary

SOME = Vocabulary(["file", "filesystem", "文件", "profile", "search"])
WORDS = st.text(st.sampled_from("abc文"), min_size=1, max_size=5)


@given(words=st.sets(WORDS), part=WORDS)
def test_it_finds_every_word_that_has_a_part_once_and_in_order(words: set[str], part: str):
    some = sorted(words)
    assert list(Vocabulary(some).containing(part)) == [word for word in some if part in word]


def test_a_word_stands_for_itself_for_longer_ones_and_for_its_typos():
    assert list(SOME.stands_for("file")) == ["filesystem", "profile", "file"]
    assert list(SOME.stands_for("serach")) == ["search"]
    assert list(SOME.stands_for("文件")) == ["文件"]
    assert not SOME.stands_for("fi")


def test_without_words_nothing_stands_for_anything():
    assert not Vocabulary([]).stands_for("file")
