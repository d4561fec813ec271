"""All commands in one place."""

import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Annotated, Protocol

import typer

from toolcrib.cli import (
    add,
    allow,
    approvals,
    apps,
    ask,
    call,
    calls,
    connect,
    deny,
    disable,
    doctor,
    edit,
    enable,
    export,
    gateway,
    hints,
    import_,
    index,
    keys,
    lint,
    login,
    logs,
    refresh,
    remove,
    review,
    rules,
    search,
    serve,
    servers,
    setup,
    show,
    tokens,
    tour,
    why,
)
from toolcrib.cli import eval as eval_
from toolcrib.cli import list as list_
from toolcrib.cli.completion import completed
from toolcrib.cli.help import HelpCommand, HelpGroup
from toolcrib.cli.opening import Opening


class Command(Protocol):
    """What every command's file has: its name, and what it does."""

    @property
    def NAME(self) -> str: ...  # noqa: N802 - a constant of the file
    @property
    def run(self) -> Callable[..., None]: ...


GROUPS: Mapping[str, tuple[Command, ...]] = {
    "Start here": (setup, tour),
    "Find and call": (search, call, show, list_, why, hints),
    "Servers": (servers, add, edit, remove, enable, disable, refresh, login),
    "Clients": (import_, export, connect),
    "Gateway": (gateway, serve, keys, apps),
    "Trust and rules": (rules, allow, ask, deny, approvals, review),
    "Check": (doctor, logs, calls, tokens),
    "Develop": (index, lint, eval_),
}
"""All commands as the help shows them, in the order in which a newcomer needs them."""

COMMANDS = tuple(chain.from_iterable(GROUPS.values()))

app = typer.Typer(
    name="toolcrib",
    help="Find the right tool among thousands: tools, skills and agents in one searchable pool.",
    epilog="Begin with `toolcrib setup`, or look around with `toolcrib tour`.",
    cls=HelpGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

for group, commands in GROUPS.items():
    for command in commands:
        app.command(command.NAME, cls=HelpCommand, rich_help_panel=group)(completed(command.run))


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        sys.stdout.write(f"toolcrib {version('toolcrib')}\n")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Settings file to use instead of the one in the configuration folder.",
        ),
    ] = None,
    mcp_config: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="File with `mcpServers` to use as well; may be given more than once.",
        ),
    ] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE",
            help="Python module whose functions are tools as well, by name or by file; may be "
            "given more than once. See `tool_modules`.",
        ),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the right tool among thousands: tools, skills and agents in one searchable pool."""
    context.obj = Opening(config, tuple(mcp_config or ()), tuple(tools or ()))
