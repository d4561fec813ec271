import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from toolcrib.cli.screen import console, counts, print_json, safe, table, warn


@dataclass
class Noun:
    name: str
    parts: tuple[str, ...] = ()


@given(st.text())
def test_a_safe_text_has_nothing_in_it_that_a_terminal_obeys(text: str):
    shown = safe(text).plain
    assert len(shown) == len(text)
    assert all(character.isprintable() or character == "\n" for character in shown)


def test_what_can_be_shown_is_shown():
    assert safe("[bold]读取 a file\n[/]").plain == "[bold]读取 a file\n[/]"
    assert safe(7).plain == "7"


@given(st.text())
def test_json_comes_back_as_it_was_and_is_safe_on_a_terminal(text: str):
    with pytest.MonkeyPatch.context() as patched:
        written: list[str] = []
        patched.setattr("sys.stdout.write", written.append)
        print_json({"text": text})
    assert json.loads("".join(written)) == {"text": text}
    assert all(character.isprintable() or character == "\n" for character in "".join(written))


def test_json_has_dataclasses_as_objects_wherever_they_are(capsys: pytest.CaptureFixture[str]):
    print_json({"one": Noun("x", ("y",)), "many": [Noun("z")], "none": None})
    assert json.loads(capsys.readouterr().out) == {
        "one": {"name": "x", "parts": ["y"]},
        "many": [{"name": "z", "parts": []}],
        "none": None,
    }


def test_json_keeps_chinese_readable(capsys: pytest.CaptureFixture[str]):
    print_json("读取文件")
    assert capsys.readouterr().out == '"读取文件"\n'


def test_a_warning_goes_to_standard_error(capsys: pytest.CaptureFixture[str]):
    warn("no room\x1b[2J")
    assert capsys.readouterr() == ("", "toolcrib: warning: no room [2J\n")


def test_numbers_are_on_the_right(capsys: pytest.CaptureFixture[str]):
    Console(width=40).print(table("", ["name", ">count"], [("read", 7), ("w[/]", 123)]))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["name  count", "read      7", "w[/]    123"]


def test_numbers_by_name_are_on_one_line():
    assert counts({"tools": 3, "skills": 1}) == "tools 3, skills 1"
    assert counts({}) == ""


def test_in_a_pipe_a_row_is_a_line_however_long_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "40")
    name, text = "mcp_github_" + "create_issue_" * 20, "Create an issue, " * 200
    console().print(table("", ["name", "description"], [(name, text), ("short", "two\nlines")]))
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "description"]
    assert first.rstrip() == f"{name}  {text}".rstrip()
    assert second.split() == ["short", "two", "lines"]


def test_a_terminal_is_not_written_beyond_its_width(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert console().width == 40
