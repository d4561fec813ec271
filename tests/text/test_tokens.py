import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text.tokens import estimate_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("a" * 45, 10), ("读" * 14, 10)])
def test_a_text_costs_by_its_characters(text: str, tokens: int):
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_more_text_never_costs_less(text: str, more: str):
    assert estimate_tokens(text) <= estimate_tokens(text + more)
    assert estimate_tokens(text + more) <= estimate_tokens(text) + estimate_tokens(more)
