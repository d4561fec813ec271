from hypothesis import given
from hypothesis import strategies as st

from toolcrib.index.sqlite.lookup import storable


def test_it_keeps_the_order_and_drops_what_no_row_can_hold():
    assert storable(["b", "a\0", "\ud800", "a", "b", "读取", "😀"]) == ["b", "a", "读取", "😀"]


@given(st.lists(st.text(st.characters(codec=None), max_size=4)))
def test_what_it_keeps_is_utf8(texts: list[str]):
    for text in storable(texts):
        assert b"\0" not in text.encode()
