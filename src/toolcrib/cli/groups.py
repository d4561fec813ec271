"""Commands that share a noun, as `toolcrib keys add` does, and their older spellings.

The older ones need no action word: `toolcrib keys` lists. They work for one more release; no help
and no page shows them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import typer

from toolcrib.cli.completion import completed
from toolcrib.cli.help import HelpCommand, HelpGroup

Run = Callable[..., None]


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """What the commands of one noun are for, and each by its action word.

    `hidden` are commands that only older spellings lead to.
    """

    help: str
    commands: Mapping[str, Run]
    hidden: Mapping[str, Run] = field(default_factory=dict[str, Run])

    def typer(self) -> typer.Typer:
        """The group, to be added to an app."""
        group = typer.Typer(help=self.help, cls=ActionGroup)
        for name, run in (*self.commands.items(), *self.hidden.items()):
            group.command(name, cls=HelpCommand, hidden=name in self.hidden)(completed(run))
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
