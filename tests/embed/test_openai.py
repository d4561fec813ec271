from hypothesis import given
from hypothesis import strategies as st

from toolcrib.embed.openai import batches


def test_a_batch_ends_at_either_bound():
    assert list(batches(["a", "b", "c"], most=2, most_characters=9)) == [["a", "b"], ["c"]]
    assert list(batches(["aa", "bb", "c"], most=9, most_characters=3)) == [["aa"], ["bb", "c"]]


def test_a_text_beyond_the_sum_goes_alone():
    assert list(batches(["a", "bbbb", "c"], most=9, most_characters=3)) == [["a"], ["bbbb"], ["c"]]


@given(st.lists(st.text(max_size=9)), st.integers(1, 5), st.integers(1, 20))
def test_nothing_is_lost_and_no_bound_is_passed(texts, most, most_characters):
    found = list(batches(texts, most=most, most_characters=most_characters))
    assert [text for batch in found for text in batch] == texts
    assert all(0 < len(batch) <= most for batch in found)
    assert all(sum(map(len, batch)) <= most_characters for batch in found if len(batch) > 1)
