import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from toolcrib.cli.screen import (
    Footnote,
    Screen,
    console,
    counts,
    print_footnotes,
    print_json,
    safe,
    table,
    warn,
)


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


ROWS = [
    ("mcp_github_create_issue", "asleep", 231, "stdio", "Create an issue. " * 40),
    ("mcp_a_server_with_a_rather_long_name_" + "x" * 60, "ready", 7, "http", "读取 文件 " * 60),
    ("short", "failed", 0, "stdio", ""),
]
COLUMNS = ["name", "state", ">tokens", "?by", "/description"]


def laid_out(columns: int, rows: Sequence[Sequence[object]] = ROWS) -> list[str]:
    screen = Screen(width=columns, file=StringIO())
    with screen.capture() as shown:
        screen.print(table("", COLUMNS, rows))
    return [line.rstrip() for line in shown.get().splitlines()]


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_no_name_is_folded_or_cut_however_narrow_the_terminal(columns: int):
    lines = laid_out(columns)
    for name, *_ in ROWS:
        assert any(line.split()[:1] == [name] for line in lines)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_all_but_the_names_fits_the_terminal(columns: int):
    names = {str(name) for name, *_ in ROWS}
    assert all(cell_len(line) <= columns for line in laid_out(columns) if line not in names)


@pytest.mark.parametrize("columns", [40, 80])
def test_a_description_stands_below_its_name_in_two_lines_at_most(columns: int):
    first, *rest = (line for line in laid_out(columns) if "issue" in line.lower())
    assert first.startswith("mcp_github_create_issue")
    assert len(rest) == 2
    assert rest[0].startswith("    Create an issue.")
    assert rest[1].endswith("…")


def test_what_says_little_is_left_out_where_there_is_no_room():
    assert laid_out(200)[0].split() == ["name", "state", "tokens", "by"]
    assert laid_out(80)[0].split() == ["name", "state", "tokens"]


def test_a_row_without_room_for_a_line_is_a_record():
    assert laid_out(20)[:2] == ["mcp_github_create_issue", "    state asleep,"]


def test_a_column_in_which_nothing_stands_is_left_out():
    assert laid_out(200, [("a", "", 1, "", "")])[0].split() == ["name", "tokens"]
    assert laid_out(200, []) == []


def test_notes_stand_below_with_what_to_do_on_a_line_to_copy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    remedy = "toolcrib refresh a-server-with-a-name-that-is-long\x1b[2J"
    print_footnotes(
        [Footnote("kube", "it did not start, and said a lot about it\nin two lines", remedy)]
    )
    assert capsys.readouterr().out.splitlines() == [
        "",
        "kube: it did not start, and said a lot",
        "  about it in two lines",
        "  → toolcrib refresh a-server-with-a-name-that-is-long [2J",
    ]


def test_in_a_pipe_a_note_is_one_line(capsys: pytest.CaptureFixture[str]):
    print_footnotes([Footnote("kube", "word " * 100)])
    assert capsys.readouterr().out == f"\nkube: {'word ' * 100}".rstrip() + "\n"


def test_a_terminal_is_not_written_beyond_its_width(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert console().width == 40
