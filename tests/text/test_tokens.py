import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import estimate_tokens, most_tokens, token_counter
from toolcrib.text.tokens import EstimatingCounter, Tokenizer


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("a" * 45, 10), ("读" * 14, 10)])
def test_a_text_costs_by_its_characters(text: str, tokens: int):
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_more_text_never_costs_less(text: str, more: str):
    assert estimate_tokens(text) <= estimate_tokens(text + more)
    assert estimate_tokens(text + more) <= estimate_tokens(text) + estimate_tokens(more)


# Counted once with the reference implementation of the vocabulary.
COUNTED = [
    ("", 0),
    ("hello world", 2),
    ("mcp_github_create_issue", 6),
    ("读取文件", 2),
    ("<|endoftext|>", 7),
    ("\ud800", 1),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_a_text_is_counted_with_the_vocabulary(text: str, tokens: int):
    assert Tokenizer().count(text) == tokens


def test_the_counter_is_the_best_there_is(monkeypatch: pytest.MonkeyPatch):
    assert token_counter().how == "counted with o200k_base"
    monkeypatch.setattr("toolcrib.text.tokens._encoder", missing)
    assert token_counter().how == "estimated"
    assert EstimatingCounter().count("a" * 45) == 10


def missing() -> None:
    raise ImportError("no splintr here")


@given(st.text())
def test_the_bound_is_above_the_estimate(text: str):
    assert most_tokens(text) >= estimate_tokens(text)
