from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import EvalError
from toolcrib.evaluate import load_cases
from toolcrib.evaluate.case_file import write_cases
from toolcrib.evaluate.draft import DraftCase

CASE = DraftCase("make a list", ("a_list",), "guess", "Lists: all of it # and more")


def test_what_is_written_is_read(tmp_path: Path):
    file = tmp_path / "cases.yaml"
    none = DraftCase("order a pizza", (), "none", "")
    write_cases(file, [CASE, none])
    cases = load_cases(file).cases
    assert list(cases) == ["make a list", "order a pizza"]
    assert (cases["make a list"].relevant, cases["make a list"].split) == (["a_list"], "guess")
    assert cases["order a pizza"].relevant == []
    text = file.read_text(encoding="utf-8")
    assert "# Lists: all of it # and more\n- query: make a list\n" in text
    assert "toolcrib eval run cases.yaml" in text


def test_a_file_that_is_there_stays(tmp_path: Path):
    file = tmp_path / "cases.yaml"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(EvalError, match="--force"):
        write_cases(file, [CASE])
    assert file.read_text(encoding="utf-8") == "mine"
    write_cases(file, [CASE], force=True)
    assert "make a list" in file.read_text(encoding="utf-8")


def test_a_place_that_cannot_be_written_to_is_an_error(tmp_path: Path):
    with pytest.raises(EvalError, match="cannot be written"):
        write_cases(tmp_path / "no" / "cases.yaml", [CASE])


def test_one_of_several_tools_is_enough(tmp_path: Path):
    file = tmp_path / "cases.yaml"
    write_cases(file, [DraftCase("send", ("a_send", "b,send"), "guess", "")])
    [case] = load_cases(file).cases.values()
    assert (case.relevant, case.relevance) == (["a_send", "b,send"], "any")


ODD = [
    "yes",
    "null",
    "12:30",
    "a: b",
    "- x",
    "#x",
    "'x",
    '"x',
    "[x",
    "{x",
    "x #y",
    "&a",
    "*a",
    "!x",
]
TEXTS = st.one_of(
    st.sampled_from([*ODD, "\u2028", "a\nb", "\x85", "\ufeff", "\ud800", "\U000e0001", " x "]),
    st.text(min_size=1),
)


@given(query=TEXTS, name=TEXTS, note=st.text())
def test_any_text_is_read_back_as_it_was(
    query: str, name: str, note: str, tmp_path_factory: pytest.TempPathFactory
):
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    write_cases(file, [DraftCase(query, (name,), "guess", note)], force=True)
    [case] = load_cases(file).cases.values()
    assert (case.query, case.relevant) == (query, [name])
