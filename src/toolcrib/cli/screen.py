"""What the commands put on the screen. Text from elsewhere is shown, never obeyed."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDEST = 1_000_000
"""Columns of what is no terminal."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs to read.")]


def console(*, to_stderr: bool = False) -> Console:
    """Standard output, or standard error, in colour where it is a terminal.

    Where it is none, a program reads it: nothing is wrapped or cut there, however long.
    """
    file = sys.stderr if to_stderr else sys.stdout
    width = None if file.isatty() else WIDEST
    return Console(highlight=False, stderr=to_stderr, width=width)


def safe(text: object) -> Text:
    """A text without control characters: no escape sequences, no markup of ours either."""
    return Text("".join(c if c.isprintable() or c == "\n" else " " for c in str(text)))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table with one line a row; columns that begin with ">" are numbers.

    In a terminal that is too narrow a cell goes on below itself.
    """
    shown = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        shown.add_column(column.lstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(safe(str(cell).replace("\n", " ")) for cell in row))
    return shown


def print_json(value: object) -> None:
    """The value as JSON on standard output; dataclasses as objects.

    What no terminal should be sent is escaped, as is half a surrogate pair, which none can be.
    """
    _write_json(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def print_json_line(value: object) -> None:
    """The same on one line, and at once: for what comes by and by."""
    _write_json(json.dumps(_plain(value), ensure_ascii=False))
    sys.stdout.flush()


def warn(message: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"toolcrib: warning: {safe(message).plain}\n")


def counts(numbers: Mapping[str, int]) -> str:
    """Numbers by name on one line."""
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def _write_json(text: str) -> None:
    shown = (c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in f"{text}\n")
    sys.stdout.write("".join(shown))


def _plain(value: object) -> object:
    """The value with dataclasses taken apart, wherever they are."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("Sequence[object]", value)]
    return value
