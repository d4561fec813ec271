"""Every command line in the documentation is one that the program takes."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_group

from tests.docs.test_words import PAGES, ROOT
from toolcrib.cli.app import app

LINE = re.compile(r"^ *(?:\$ )?(toolcrib(?: .+)?)$", re.MULTILINE)
NOTE = re.compile(r" {2,}.*| # .*")
OPTIONAL = re.compile(r"\[(.*?)\]")
NOT_READ = {
    "cli.md",  # is written from the commands themselves
    "CHANGELOG.md",  # tells of commands that are gone
}
FENCE = re.compile(r"^```(\w*)[^\n`]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^(?: {4}.*\n)+", re.MULTILINE)

READ = [page for page in PAGES if page.name not in NOT_READ]


def blocks(page: Path) -> Iterator[str]:
    """What is set apart: between fences, or indented."""
    text = page.read_text(encoding="utf-8")
    yield from (block for language, block in FENCE.findall(text) if language in ("", "sh"))
    yield from INDENTED.findall(FENCE.sub("", text))


def command_lines(page: Path) -> list[str]:
    lines = [line for block in blocks(page) for line in LINE.findall(block)]
    return [OPTIONAL.sub(r"\1", NOTE.sub("", line)) for line in lines]


def parse(line: str) -> None:
    """Take a command line as the program does, and do nothing. Raises what the program shows."""
    _, *words = shlex.split(line)
    while words and words[0].startswith("--"):
        words = words[2:]  # an option before the command, and its value
    command = PROGRAM.load(words.pop(0)) if words else PROGRAM
    while words and hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context("toolcrib", words)


PROGRAM: Any = get_group(app)
PAGES_WITH_COMMANDS = [page for page in READ if command_lines(page)]


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_are_taken(page: Path):
    for line in command_lines(page):
        parse(line)


def test_messages_and_docstrings_name_commands_that_there_are():
    named = {
        (command, path.relative_to(ROOT).as_posix())
        for path in (ROOT / "src").rglob("*.py")
        for command in re.findall(r"`toolcrib ([a-z]+)", path.read_text(encoding="utf-8"))
    }
    assert named
    assert not [each for each in named if each[0] not in PROGRAM.commands]
