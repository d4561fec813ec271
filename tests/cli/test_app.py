import json
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import COMMANDS, Run
from toolcrib.cli import main
from toolcrib.cli.groups import CommandGroup

LEAVES = [
    words
    for name, command in COMMANDS.items()
    for words in (
        [(name, action) for action in command.commands]
        if isinstance(command, CommandGroup)
        else [(name,)]
    )
]


def run_main(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["toolcrib", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


# What `connect` prints is the client's.
@pytest.mark.parametrize("words", [words for words in LEAVES if words != ("connect",)])
def test_every_command_takes_json_and_helps(run: Run, words: tuple[str, ...]):
    ran = run(*words, "--help")
    assert ran.code == 0
    assert "--json" in ran.out


def test_connect_teaches_too(run: Run):
    shown = " ".join(run("connect", "--help").out.split())
    assert "TOOLCRIB_KEY" in shown
    assert "--profile" in shown


def test_without_a_command_there_is_help(run: Run):
    assert all(name in run().out for name in COMMANDS)


def test_the_version_is_told(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"{name} 1.2.3")
    assert run("--version").out == "toolcrib toolcrib 1.2.3\n"


def test_an_error_is_one_line_on_standard_error_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert run_main("show", "raed_file", monkeypatch=monkeypatch) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("toolcrib: no tool 'raed_file' here; search for it first. Nearest: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("text", ["limit = 3", "index = 'x'", "nonsense"])
def test_bad_settings_are_exit_code_2(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    config = tmp_path / "settings.toml"
    config.write_text(text, encoding="utf-8")
    assert run_main("--config", str(config), "list", monkeypatch=monkeypatch) == 2
    assert str(config) in capsys.readouterr().err


def test_bad_files_for_eval_are_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    files = ["--catalog", str(tmp_path / "c"), "--queries", str(tmp_path / "q")]
    assert run_main("eval", *files, monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err.startswith(f"toolcrib: {tmp_path / 'q'}: there is no such file")
    (tmp_path / "q").write_text('{"id": "q", "query": "x", "relevant": []}', encoding="utf-8")
    assert run_main("eval", *files, monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err.startswith(f"toolcrib: {tmp_path / 'c'}: cannot be read")


def test_what_went_well_is_exit_code_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert run_main("search", "write_file", "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["name"] == "write_file"


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(130)])
def test_after_ctrl_c_another_one_ends_it_without_a_word(
    ending: BaseException, monkeypatch: pytest.MonkeyPatch
):
    def interrupted() -> None:
        raise ending

    monkeypatch.setattr("toolcrib.cli.app.app", interrupted)
    before = signal.getsignal(signal.SIGINT)
    try:
        assert run_main("list", monkeypatch=monkeypatch) == 130
        assert signal.getsignal(signal.SIGINT) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("command", [["search", "forms"], ["show", "forms"], ["list"]])
@pytest.mark.parametrize("option", [(), ("--json",)])
def test_text_from_elsewhere_is_shown_and_never_obeyed(
    run: Run, config: str, command: list[str], option: tuple[str, ...]
):
    ran = run("--config", config, *command, *option)
    assert ran.code == 0
    assert "skill_forms" in ran.out
    assert not set(ran.out) & set("\x1b\x07\r\x9b\u202e")


@pytest.mark.parametrize("command", [["search", "forms"], ["show", "forms"]])
def test_markup_in_it_is_text(run: Run, config: str, command: list[str]):
    shown = " ".join(run("--config", config, *command).out.split())
    assert "[bold red]Fill" in shown
    assert "[/bold red]" in shown


def test_as_json_it_is_told_with_what_was_hidden_in_it(run: Run, config: str):
    told = run("--config", config, "show", "forms", "--json").json
    assert "[bold red]Fill forms" in told["description"]
    assert {"ansi", "bidi"} <= set(told["flags"])
