"""`--help`: commands in groups, words that a person reads, examples to copy."""

import pytest

from tests.cli.conftest import COMMANDS, Run
from toolcrib.cli.command_table import GROUPS
from toolcrib.cli.groups import CommandGroup

NAMES = list(COMMANDS)
ACTIONS = [
    f"{name} {action}"
    for name, command in COMMANDS.items()
    if isinstance(command, CommandGroup)
    for action in command.commands
]


def test_the_commands_stand_in_their_groups(run: Run):
    lines = run("--help").out.splitlines()
    places = [lines.index(title) for title in GROUPS]
    assert places == sorted(places)
    for place, commands in zip(places, GROUPS.values(), strict=True):
        found: list[str] = []
        for line in lines[place + 1 :]:
            if not line:
                break
            found += [line.split()[0]] if line[2] != " " else []
        assert found == list(commands)


@pytest.mark.parametrize("name", NAMES)
def test_the_table_says_what_the_command_says(name: str):
    [entry] = [entries[name] for entries in GROUPS.values() if name in entries]
    command = COMMANDS[name]
    text = command.help if isinstance(command, CommandGroup) else command.__doc__ or ""
    assert entry.summary == " ".join(text.partition("\n\n")[0].split())


def test_no_command_is_there_twice():
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", ["", *NAMES, *ACTIONS])
def test_help_is_no_wider_than_the_terminal_and_has_no_word_of_python(
    run: Run, name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")
    ran = run(*name.split(), "--help")
    assert ran.code == 0
    prose = [line for line in ran.out.splitlines() if not line.startswith(("    ", "Usage"))]
    assert all(len(line) <= 80 for line in prose)
    for word in ("<str>", "<path>", "<bool>", "list[", " TEXT", "_S "):
        assert word not in ran.out


def test_an_option_names_what_it_takes(run: Run):
    shown = run("import", "--help").out
    assert "--client NAME " in shown
    assert "--project DIR " in shown
    assert "--dry-run  " in shown


def test_an_example_is_one_line_however_narrow_the_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "40")
    example = "    toolcrib add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes"
    assert example in run("add", "--help").out.splitlines()


def test_the_usage_of_a_wrong_call_reads_like_that_of_the_help(run: Run):
    usage = "Usage: toolcrib search [OPTIONS] QUERY\n"
    assert usage in run("search", "--help").out
    assert usage in run("search").err
