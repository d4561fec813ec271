"""Groups of commands: all of them at the root, and those that share a noun.

The root knows each command by its entry in a table: where it is, and its summary. The module of a
command is loaded when that command is run, helped with or completed, and no other is.

Commands with a noun, as `toolcrib keys add`, have older spellings that need no action word:
`toolcrib keys` lists. They work for one more release; no help and no page shows them.
"""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.main import get_command, get_group

from toolcrib.cli.completion import completed
from toolcrib.cli.help import HelpCommand, HelpGroup

Run = Callable[..., None]

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""How many objects a command makes before garbage is looked for: most end before they have."""


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """What the commands of one noun are for, and each by its action word.

    `hidden` are commands that only older spellings lead to.
    """

    help: str
    commands: Mapping[str, Run]
    hidden: Mapping[str, Run] = field(default_factory=dict[str, Run])

    def typer(self, name: str) -> typer.Typer:
        """The group, to be made a command of this name."""
        group = typer.Typer(name=name, help=self.help, cls=ActionGroup)
        for action, run in (*self.commands.items(), *self.hidden.items()):
            group.command(action, cls=HelpCommand, hidden=action in self.hidden)(completed(run))
        return group


class ActionGroup(HelpGroup):
    """A group that also takes the older spellings of its commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's
        """Put the action word first, where it stands elsewhere or is left out."""
        spelt_out = args if ctx.resilient_parsing else self._spelt_out(args)
        return super().parse_args(ctx, spelt_out)

    def _spelt_out(self, args: list[str]) -> list[str]:
        first = args[0] if args else "--"
        if first in self.commands or first == "--help":
            return args
        older = next((name for name, each in self.commands.items() if each.hidden), None)
        if first.startswith("-"):
            words = args[: args.index("--")] if "--" in args else args
            action = next((word for word in words if word in self.commands), None)
            if action is not None:
                place = args.index(action)
                return [action, *args[:place], *args[place + 1 :]]
            older = older or next(iter(self.commands))
        return [older, *args] if older else args


class CommandEntry(NamedTuple):
    """A command that need not be loaded: `module:name` in `toolcrib.cli`, and its first line.

    One that `stays` runs until somebody ends it, and has its garbage collected as usual.
    """

    home: str
    summary: str
    stays: bool = False

    def load(self) -> Run | CommandGroup:
        """The command itself, with all that it imports."""
        module, _, name = self.home.partition(":")
        found: Run | CommandGroup = getattr(import_module(f"toolcrib.cli.{module}"), name)
        return found


class LazyGroup(HelpGroup):
    """Commands by their entries, under the titles of the help. Only the one that is used loads.

    `commands` has a stand-in for each, that has its summary: enough for help and completion.
    """

    table: ClassVar[Mapping[str, Mapping[str, CommandEntry]]] = {}

    def __init__(self, *, commands: object = None, **attributes: Any) -> None:  # noqa: ANN401, ARG002 - typer's
        stand_ins: dict[str, Any] = {
            name: HelpCommand(name, help=entry.summary, rich_help_panel=title)
            for title, entries in self.table.items()
            for name, entry in entries.items()
        }
        super().__init__(commands=stand_ins, **attributes)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:  # noqa: ANN401 - typer's
        """The command that is asked for, loaded."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, self.load(name) if name else command, rest

    def load(self, name: str) -> Any:  # noqa: ANN401 - the classes of typer's Click are private
        """The command of this name, as typer runs it."""
        [entry] = [entries[name] for entries in self.table.values() if name in entries]
        if not entry.stays:
            gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        command = entry.load()
        if isinstance(command, CommandGroup):
            return get_group(command.typer(name))
        alone = typer.Typer(add_completion=False)
        alone.command(name, cls=HelpCommand)(completed(command))
        return get_command(alone)
