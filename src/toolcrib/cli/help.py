"""What `--help` shows: usage, the text of the command, its parameters; the commands in groups.

The lines of a docstring that are indented by four more are examples, and stay as they are.
"""

import re
import shutil
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup, TyperOption

from toolcrib.cli.plain_values import read_plainly

WIDEST = 100
"""Longer lines are hard to read, however wide the terminal is."""

CODE = re.compile(r"`[^`]+`")


class ParameterHelp(NamedTuple):
    """An argument or an option as one writes it, and what it means."""

    spelling: str
    help: str
    needed: bool
    is_option: bool

    @property
    def usage(self) -> str:
        """How it stands in a line of usage: in brackets if it may be left out."""
        return self.spelling if self.needed else f"[{self.spelling}]"


class HelpCommand(TyperCommand):
    """A command that helps in words a person reads."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - so typer's
        """Read the words, without pydantic if they are plain."""
        for parameter in self.get_params(ctx):
            read_plainly(parameter)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: object) -> list[str]:  # noqa: ARG002 - the library's
        """The line of usage, also in errors."""
        return ["[OPTIONS]", *(each.usage for each in words(self) if not each.is_option)]

    def format_help(self, ctx: Any, formatter: object) -> None:  # noqa: ANN401, ARG002 - so typer's
        """Print all about this command."""
        with _page() as screen:
            _usage(screen, ctx.command_path, self.collect_usage_pieces(ctx))
            _prose(screen, self.help or "")
            every = list(words(self))
            _listing(screen, "Arguments", (each for each in every if not each.is_option))
            _listing(screen, "Options", [*(each for each in every if each.is_option), _HELP])


class HelpGroup(TyperGroup):
    """Commands, in the groups that they were registered with; hidden ones are left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - so typer's
        """Read the words before the command, as a command reads its own."""
        for parameter in self.get_params(ctx):
            read_plainly(parameter)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: object) -> list[str]:  # noqa: ARG002 - the library's
        """The line of usage, also in errors."""
        options = any(True for _ in words(self))
        return [*(["[OPTIONS]"] if options else []), "COMMAND", "[ARGS]..."]

    def format_help(self, ctx: Any, formatter: object) -> None:  # noqa: ANN401, ARG002 - so typer's
        """Print the commands in their groups, then the options that stand before them."""
        groups: dict[str, list[ParameterHelp]] = {}
        for name, command in self.commands.items():
            if command.hidden:
                continue
            summary = ParameterHelp(
                name, _summary(command.help or ""), needed=True, is_option=False
            )
            title = getattr(command, "rich_help_panel", None) or "Commands"
            groups.setdefault(title, []).append(summary)
        widest = max(len(each.spelling) for some in groups.values() for each in some)
        options = list(words(self))
        with _page() as screen:
            _usage(screen, ctx.command_path, self.collect_usage_pieces(ctx))
            _prose(screen, self.help or "")
            for title, some in groups.items():
                _listing(screen, title, some, widest)
            before = "Options, before the command" if options else "Options"
            _listing(screen, before, [*options, _HELP])
            _prose(screen, self.epilog or "")


_HELP = ParameterHelp("--help", "Show this help.", needed=False, is_option=True)


class HasParameters(Protocol):
    """A command or a group of them; typer keeps the class that they share to itself."""

    @property
    def params(self) -> Sequence[Any]: ...


def words(command: HasParameters) -> Iterator[ParameterHelp]:
    """The parameters of a command in their order, hidden ones left out."""
    for each in command.params:
        if getattr(each, "hidden", False):
            continue
        text = " ".join(str(getattr(each, "help", "") or "").split())
        is_option = each.param_type_name == "option"
        yield ParameterHelp(_spelling(each), text + _default(each), each.required, is_option)


def _spelling(parameter: Any) -> str:  # noqa: ANN401 - the classes of typer's Click are private
    value = str(parameter.metavar or parameter.name.upper())
    if parameter.param_type_name == "argument":
        return f"{value}..." if parameter.nargs != 1 else value
    option = max(parameter.opts, key=len)
    return str(option) if _is_switch(parameter) else f"{option} {value}"


def _is_switch(option: TyperOption) -> bool:
    return bool(option.is_flag) or option.name in ("install_completion", "show_completion")


def _default(parameter: Any) -> str:  # noqa: ANN401 - as above
    """What it is if it is left out, where that is a value and is not said in words."""
    value = parameter.default
    if value in (None, "", "{}", ()) or isinstance(value, bool | list) or callable(value):
        return ""
    return f" [default: {value:g}]" if isinstance(value, float) else f" [default: {value}]"


def _summary(text: str) -> str:
    """The first line of a text, which says it all."""
    return text.strip().partition("\n\n")[0].replace("\n", " ")


@contextmanager
def _page() -> Generator[Console]:
    """As wide as the terminal, in a pipe too: help is read by people there as well."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    screen = Console(highlight=False, width=width, file=sys.stdout)
    with screen.capture() as page:
        yield screen
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in page.get().splitlines()))


def _usage(screen: Console, path: str, pieces: Sequence[str]) -> None:
    head = Text(f"Usage: {path} ", style="bold")
    screen.print(head + Text(" ".join(pieces), style="not bold"), soft_wrap=True)


def _prose(screen: Console, text: str) -> None:
    """Paragraphs, wrapped; what is indented is an example, to be copied as it is."""
    for paragraph in filter(None, text.strip("\n").split("\n\n")):
        screen.print()
        if paragraph.startswith("    "):
            screen.print(Text(paragraph), style="cyan", soft_wrap=True)
        else:
            screen.print(Padding(_styled(" ".join(paragraph.split())), (0, 0, 0, 2)))


def _listing(screen: Console, title: str, some: Iterable[ParameterHelp], widest: int = 0) -> None:
    """A title and, below it, each parameter or command with its meaning."""
    rows = list(some)
    if not rows:
        return
    screen.print()
    screen.print(Text(title, style="bold"))
    table = Table.grid(padding=(0, 2, 0, 0))
    room = max(widest, *(len(each.spelling) for each in rows))
    table.add_column(width=room, no_wrap=True)
    table.add_column(overflow="fold")
    for each in rows:
        text = each.help + (" [needed]" if each.needed and each.is_option else "")
        table.add_row(Text(each.spelling, style="cyan"), _styled(text))
    screen.print(Padding(table, (0, 0, 0, 2)))


def _styled(text: str) -> Text:
    styled = Text(text)
    for match in CODE.finditer(text):
        styled.stylize("cyan", *match.span())
    return styled
