"""Names of servers, tools and parameters in programs."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.program.identifiers import distinct, group_name, identifier, identifiers


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("create_issue", "create_issue"),
        ("createIssue", "createIssue"),
        ("resolve-library-id", "resolve_library_id"),
        ("a.b/c d", "a_b_c_d"),
        ("class", "class_"),
        ("2fa", "n2fa"),
        ("__class__", "class__"),
        ("_id", "id"),
        ("", "n"),
        ("发送", "n_edecf0"),
        ("café", "caf__850f7d"),
    ],
)
def test_a_name_comes_from_its_text(text: str, name: str):
    assert identifier(text) == name


@given(st.text(max_size=200))
def test_every_text_has_a_legal_name(text: str):
    name = identifier(text)
    assert name.isidentifier()
    assert name.isascii()
    assert not name.startswith("_")
    assert not keyword.iskeyword(name)
    assert len(name) <= 65


@given(st.lists(st.text("aA_-.é", max_size=4), unique=True, max_size=30))
def test_no_two_things_beside_each_other_share_a_name(texts: list[str]):
    assert len(set(identifiers(texts).values())) == len(texts)


def test_who_is_written_so_keeps_the_name_and_others_get_a_hash():
    alone = identifiers(["create-issue"])
    both = identifiers(["create-issue", "create_issue"])
    assert alone["create-issue"] == both["create_issue"] == "create_issue"
    assert both["create-issue"] == "create_issue_48c08e"


def test_a_name_that_several_have_letter_by_letter_is_nobodys():
    assert "x" not in distinct({("mcp", "x"): ("x", "x"), ("sdk", "x"): ("x", "x")}).values()


@pytest.mark.parametrize("id", ["time", "print", "tools", "json", "asyncio"])
def test_a_group_hides_nothing_that_a_program_needs(id: str):
    assert group_name(id) == f"{id}_"
