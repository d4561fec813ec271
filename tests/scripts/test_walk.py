"""A walk through a page finds what is not as the page says."""

from pathlib import Path

import psutil
import pytest

from scripts.walk import Difference, fits, walk, with_outputs_of_now


def page(*blocks: str) -> str:
    return "\n\n".join(f"Some words.\n\n{block}" for block in blocks) + "\n"


def console(text: str, machine: str = "") -> str:
    title = f' title="{machine}"' if machine else ""
    return f"```console{title}\n{text}```"


def only(differences: list[Difference]) -> Difference:
    [difference] = differences
    return difference


def test_a_page_that_is_right(tmp_path: Path):
    file = '```python title="hello.py"\nprint("hello")\n```'
    assert walk(page(file, console("$ python hello.py\nhello\n")), tmp_path) == []


def test_another_output_is_found(tmp_path: Path):
    difference = only(walk(page(console("$ echo one\ntwo\n")), tmp_path))
    assert difference.printed == "one\n"
    assert "should print\ntwo\nbut printed\none" in str(difference)


def test_an_output_that_the_page_does_not_show_is_found(tmp_path: Path):
    assert only(walk(page(console("$ echo one\n")), tmp_path)).printed == "one\n"


def test_a_command_that_fails_is_found(tmp_path: Path):
    assert only(walk(page(console("$ false\n")), tmp_path)).code == 1


def test_a_command_may_fail_if_the_page_shows_how(tmp_path: Path):
    assert walk(page(console("$ cat nothing.txt\ncat: nothing.txt: ...\n")), tmp_path) == []


def test_one_that_ends_the_shell_is_no_success(tmp_path: Path):
    with pytest.raises(TimeoutError, match="exit"):
        walk(page(console("$ exit\n")), tmp_path)


def test_each_machine_has_a_home_and_keeps_its_variables(tmp_path: Path):
    blocks = [
        console("$ export NAME=here\n$ echo $HOME\n~\n"),
        console("$ echo ${NAME:-nobody}\nnobody\n", "laptop"),
        console("$ echo $NAME\nhere\n"),
    ]
    assert walk(page(*blocks), tmp_path) == []
    assert {each.name for each in tmp_path.iterdir()} == {"server", "laptop"}


def test_a_file_may_be_for_another_machine(tmp_path: Path):
    file = '```json title="laptop: sub/mcp.json"\n{}\n```'
    assert walk(page(file, console("$ cat sub/mcp.json\n{}\n", "laptop")), tmp_path) == []


def test_what_stays_is_waited_for(tmp_path: Path):
    late = console("$ (sleep 1; echo late > file) &\n$ cat file\nlate\n")
    assert walk(page(late), tmp_path) == []


def test_what_stays_ends_with_the_walk(tmp_path: Path):
    walk(page(console("$ sleep 1000 & echo $! > pid\n")), tmp_path)
    pid = int((tmp_path / "server" / "pid").read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_ports_are_free_ones_and_shown_as_on_the_page(tmp_path: Path):
    file = '```toml title="config.toml"\nport = 8443\n```'
    walked = page(file, console("$ sed 's/.*= /at :/' config.toml\nat :8443\n"))
    assert walk(walked, tmp_path) == []
    assert "8443" not in (tmp_path / "server" / "config.toml").read_text()


def test_dots_stand_for_any_text():
    assert fits("a ... c\n", "a b c\n")
    assert fits("first\n...\nlast\n", "first\n1\n2\nlast\n")
    assert not fits("a ... c\n", "a b\n")
    assert not fits("a\n", "a\nb\n")


def test_spaces_at_the_ends_of_lines_do_not_count():
    assert fits("a\nb\n", "a  \nb\n\n")


def test_outputs_of_now_take_the_place_of_the_old_ones(tmp_path: Path):
    old = page(console("$ echo one\n$ echo two\nthree\n$ echo four\nfour\n"))
    new = with_outputs_of_now(old, walk(old, tmp_path / "first"))
    assert console("$ echo one\none\n$ echo two\ntwo\n$ echo four\nfour\n") in new
    assert walk(new, tmp_path / "second") == []
