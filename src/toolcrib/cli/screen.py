"""What the commands put on the screen. Text from elsewhere is shown, never obeyed."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Annotated, Any, cast

import typer
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

WIDEST = 1_000_000
"""Columns of what is no terminal."""

GAP = "  "
LEAST_NAME = 16
"""Columns that a name has at least, before a table becomes records."""
MOST_LINES = 2
"""Lines that a description may take below its row."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs to read.")]


class Screen(Console):
    """A console that cuts nothing off at its edge."""

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 - as it is there
        """What is too long for a line goes on in the next."""
        options.setdefault("crop", False)
        super().print(*objects, **options)


def console(*, to_stderr: bool = False) -> Screen:
    """Standard output, or standard error, in colour where it is a terminal.

    Where it is no terminal, a program reads it: then nothing is wrapped or cut.
    """
    file = sys.stderr if to_stderr else sys.stdout
    width = None if file.isatty() else WIDEST
    return Screen(highlight=False, stderr=to_stderr, width=width)


def safe(text: object) -> Text:
    """A text without control characters: no escape sequences, no markup of ours either."""
    return Text("".join(c if c.isprintable() or c == "\n" else " " for c in str(text)))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> "TextTable":
    """A table for `console`, the name of each row in its first column.

    Columns that begin with ">" are numbers. One that begins with "?" (or "?>") is left out where
    there is no room for it. One that begins with "/" is a text about the row: below it on a
    terminal, two lines at most, or all of it after "//". Columns without anything in them are left
    out. In a pipe a row is one line, whole; on a terminal no name is folded or cut, so that it can
    be copied.
    """
    cells = [tuple(_one_line(cell) for cell in row) for row in rows]
    used = [n for n in range(len(columns)) if n == 0 or any(row[n] for row in cells)]
    return TextTable(
        title, tuple(columns[n] for n in used), [tuple(row[n] for n in used) for row in cells]
    )


@dataclass(frozen=True, slots=True)
class Footnote:
    """What is to be said about one row, below the table, and what to do about it."""

    name: str
    text: str
    remedy: str = ""


def print_footnotes(notes: Iterable[Footnote]) -> None:
    """Footnotes below a table, each after the name it is about."""
    for number, note in enumerate(notes):
        if not number:
            console().print()
        print_text(f"{note.name}: {note.text}", indent=2)
        print_remedy(note.remedy, indent=2)


def print_remedy(remedy: str, *, indent: int) -> None:
    """What to do, if anything: never folded, for it may be a command to copy."""
    if remedy:
        console().print(safe(f"{'':{indent}}→ {_one_line(remedy)}"), soft_wrap=True)


def print_text(text: str, *, label: str = "", indent: int = 0, style: str = "") -> None:
    """A paragraph after its label, from the second line on further in; in a pipe it is one line.

    The style is that of the label.
    """
    screen = console()
    head = Text().append(f"{label:{indent}}" if label else "", style)
    if screen.width >= WIDEST:
        screen.print(head.append(_one_line(text)), soft_wrap=True)
        return
    first, *rest = list(_indented(_one_line(text), indent, screen)) or [Text()]
    screen.print(head + first[indent:], soft_wrap=True)
    for line in rest:
        screen.print(line, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows of text, laid out for as many columns as there are."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """On one line each; else the names above, where they are too long; else as records."""
        if self.title:
            yield Text(self.title, style="italic")
        if not self.rows:
            return
        texts = [n for n, column in enumerate(self.columns) if column.startswith("/")]
        short = [n for n in range(len(self.columns)) if n not in texts]
        widths = {n: self._width(n) for n in range(len(self.columns))}
        if options.max_width >= WIDEST:
            short, texts = [*short, *texts], []
        short = self._fitting(short, widths, options.max_width)
        room = options.max_width - _taken(short[1:], widths)
        as_records = room < min(LEAST_NAME, widths[0])
        widths[0] = min(widths[0], room)
        if not as_records:
            yield _uncut(self._line(self._head, widths, short), "bold")
        for row in self.rows:
            if as_records:
                yield from self._record(row, short, console)
            else:
                yield from self._row(row, widths, short)
            for place in texts:
                most = None if self.columns[place].startswith("//") else MOST_LINES
                yield from _indented(row[place], 4, console, most, "dim")

    @property
    def _head(self) -> tuple[str, ...]:
        return tuple(column.lstrip("?>/") for column in self.columns)

    def _fitting(self, places: Sequence[int], widths: Mapping[int, int], most: int) -> list[int]:
        """The places without those that may be left out, from the last on, until all fit."""
        fitting = list(places)
        for place in reversed(places):
            if self.columns[place].startswith("?") and _taken(fitting, widths) > most + len(GAP):
                fitting.remove(place)
        return fitting

    def _width(self, place: int) -> int:
        return max(map(cell_len, (self._head[place], *(row[place] for row in self.rows))))

    def _row(
        self, row: Sequence[str], widths: Mapping[int, int], places: Sequence[int]
    ) -> Iterator[Text | Segment]:
        """A name that is too long for its column stands above all else of the row."""
        if cell_len(row[0]) > widths[0]:
            yield _uncut(row[0])
            row = ("", *row[1:])
        if line := self._line(row, widths, places):
            yield _uncut(line)

    def _line(self, cells: Sequence[str], widths: Mapping[int, int], places: Sequence[int]) -> str:
        filled: list[str] = []
        for place in places:
            space = " " * (widths[place] - cell_len(cells[place]))
            is_number = self.columns[place].startswith((">", "?>"))
            filled.append(space + cells[place] if is_number else cells[place] + space)
        return GAP.join(filled).rstrip()

    def _record(
        self, row: Sequence[str], places: Sequence[int], screen: Console
    ) -> Iterator[Text | Segment]:
        """The name, and below it all else, each with its label."""
        yield _uncut(row[0], "bold")
        cells = (f"{self._head[place]} {row[place]}" for place in places[1:] if row[place])
        yield from _indented(", ".join(cells), 4, screen)


def _taken(places: Iterable[int], widths: Mapping[int, int]) -> int:
    """The columns of the screen that these take, each with a gap."""
    return sum(widths[place] + len(GAP) for place in places)


def _uncut(line: str, style: str = "") -> Text | Segment:
    """A line that goes on beyond the edge rather than being cut or folded.

    One without a style is ready to be written: rich would look through each letter of it.
    """
    return Text(line, style, no_wrap=True, overflow="ignore") if style else Segment(f"{line}\n")


def _one_line(value: object) -> str:
    return safe(str(value)).plain.replace("\n", " ").strip()


def _indented(
    text: str, indent: int, screen: Console, most: int | None = None, style: str = ""
) -> Iterator[Text]:
    """A text in lines that fit, at most so many; one that goes on ends with "…"."""
    room = max(screen.width - indent, LEAST_NAME)
    lines = list(_wrapped(text, room))
    for number, line in enumerate(lines[:most], 1):
        cut = most is not None and number == most < len(lines)
        text = f"{set_cell_size(line, min(cell_len(line), room - 1))}…" if cut else line
        yield Text(" " * indent).append(text, style)


def _wrapped(text: str, room: int) -> Iterator[str]:
    """Lines of words. A name that is longer than a line stays whole; Chinese breaks anywhere."""
    line = ""
    for word in text.split():
        parts = [word] if word.isascii() else chop_cells(word, room)
        for part in parts:
            if line and cell_len(line) + 1 + cell_len(part) > room:
                yield line
                line = part
            else:
                line = f"{line} {part}" if line else part
    if line:
        yield line


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


def number(count: int, noun: str) -> str:
    """So many of something, in words: one tool, two tools."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def counts(numbers: Mapping[str, int]) -> str:
    """Numbers by name on one line."""
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def _write_json(text: str) -> None:
    escaped = (c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in f"{text}\n")
    sys.stdout.write("".join(escaped))


def _plain(value: object) -> object:
    """The value with dataclasses taken apart, wherever they are."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("Sequence[object]", value)]
    return value
