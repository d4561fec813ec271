import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.errors import DeclarationError
from toolcrib.sources.declaration_file import MAX_DEPTH, parse_yaml

FILE = Path("tools.yaml")


def test_every_part_has_its_line():
    file = parse_yaml("a:\n  b: 1\n  c:\n    - x\n    - y\n", FILE)
    assert file.data == {"a": {"b": 1, "c": ["x", "y"]}}
    assert [file.lines[place] for place in [("a",), ("a", "b"), ("a", "c", 1)]] == [1, 2, 5]


def test_an_error_names_file_line_and_key():
    file = parse_yaml("a:\n  b: 1\n", FILE, first_line=10)
    assert str(file.error(("a", "b"), "is wrong")) == "tools.yaml:11: a.b: is wrong"


def test_an_error_about_a_part_that_is_not_there_has_the_line_around_it():
    file = parse_yaml("a:\n  b: 1\n", FILE)
    assert str(file.error(("a", "name"), "is missing")) == "tools.yaml:1: a.name: is missing"
    assert str(file.error((), "is wrong")) == "tools.yaml:1: is wrong"


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", None),
        ("a: yes\nb: off", {"a": True, "b": False}),
        ("no: Norsk\n1: one", {"no": "Norsk", "1": "one"}),
        ("a: 2026-03-01", {"a": "2026-03-01"}),
        ("a: 1\nb: 1.5\nc: ~\nd: '1'", {"a": 1, "b": 1.5, "c": None, "d": "1"}),
        ("zh-CN: 网页搜索", {"zh-CN": "网页搜索"}),
    ],
)
def test_values_are_plain_and_keys_are_as_written(text, data):
    assert parse_yaml(text, FILE).data == data


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", "yaml:2: 'a' is here a second time"),
        ("a: &x 1\nb: *x", "yaml:1: .*anchor"),
        ("b: *x", "yaml:1: .*undefined alias"),
        ("a: !!python/object:os.system {}", "yaml:1: .*tag.*python/object"),
        ("a: !mine 1", "yaml:1: .*tag '!mine'"),
        ("a: 1\n? [b]\n: 2", "yaml:2: a key is a list"),
        ("a: b: c", "yaml:1: mapping values .*quotes"),
        ("a: !!bool maybe", "yaml:1: 'maybe' is no bool"),
        ("a: [1", "yaml:1: "),
        ("a: 1\n---\nb: 2", "yaml:2: .*document"),
        ("a: \x07", "yaml:1: there is a character"),
        ("[" * (MAX_DEPTH + 1), "levels deep; flatten"),
        ("{" * 50_000, "levels deep; flatten"),
        ("a: " + "9" * 5000, "yaml:1: a number has at most 64 signs; put it in quotes"),
    ],
)
def test_what_is_not_plain_is_refused_with_its_line(text, message):
    with pytest.raises(DeclarationError, match=message):
        parse_yaml(text, FILE)


@settings(deadline=None)
@given(st.text(alphabet="ab: \n-[]{}&*!'\"#|>?,~%@`1\t文\0"))
def test_any_text_is_yaml_or_a_declaration_error(text):
    with contextlib.suppress(DeclarationError):
        parse_yaml(text, FILE)


@pytest.mark.parametrize("text", ["12:30", "1:2:3", "-190:20:30", "1:30.5", "1" + ":1" * 200_000])
def test_a_time_is_no_number_to_the_base_of_sixty(text):
    assert parse_yaml(f"at: {text}", Path("x.yaml")).data == {"at": text}


@pytest.mark.parametrize("number", ["9" * 65, "0x" + "f" * 100_000, "1" * 5000, "0.0" + "1" * 99])
def test_a_number_without_measure_is_refused(number):
    with pytest.raises(DeclarationError, match=r"x\.yaml:1: a number has at most 64 signs"):
        parse_yaml(f"at: {number}", Path("x.yaml"))
