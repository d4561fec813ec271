"""All commands in one place."""

import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from toolcrib.cli.add import add_command
from toolcrib.cli.approvals import APPROVALS
from toolcrib.cli.apps import APPS
from toolcrib.cli.call import call_command
from toolcrib.cli.catalog import list_command, show_command
from toolcrib.cli.clients import export_command, import_command
from toolcrib.cli.completion import completed
from toolcrib.cli.doctor import doctor_command
from toolcrib.cli.edit import edit_command
from toolcrib.cli.eval import EVAL
from toolcrib.cli.gateway import GATEWAY
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import CommandGroup, Run
from toolcrib.cli.help import HelpCommand, HelpGroup
from toolcrib.cli.hints import hints_command
from toolcrib.cli.index import index_command
from toolcrib.cli.keys import KEYS
from toolcrib.cli.lint import lint_command
from toolcrib.cli.login import login_command
from toolcrib.cli.logs import calls_command, logs_command
from toolcrib.cli.refresh import refresh_command
from toolcrib.cli.review import review_command
from toolcrib.cli.rules import RULES
from toolcrib.cli.search import search_command, why_command
from toolcrib.cli.serve import connect_command, serve_command
from toolcrib.cli.servers import remove_command, servers_command
from toolcrib.cli.setup import setup_command
from toolcrib.cli.switches import disable_command, enable_command
from toolcrib.cli.tokens import tokens_command
from toolcrib.cli.tour import tour_command
from toolcrib.cli.verdicts import allow_command, ask_command, deny_command

Command = Run | CommandGroup

GROUPS: Mapping[str, Mapping[str, Command]] = {
    "Start here": {
        "setup": setup_command,
        "tour": tour_command,
    },
    "Find and call": {
        "search": search_command,
        "call": call_command,
        "show": show_command,
        "list": list_command,
        "why": why_command,
        "hints": hints_command,
    },
    "Servers": {
        "servers": servers_command,
        "add": add_command,
        "edit": edit_command,
        "remove": remove_command,
        "enable": enable_command,
        "disable": disable_command,
        "refresh": refresh_command,
        "login": login_command,
    },
    "Clients": {
        "import": import_command,
        "export": export_command,
        "connect": connect_command,
    },
    "Gateway": {
        "gateway": GATEWAY,
        "serve": serve_command,
        "keys": KEYS,
        "apps": APPS,
    },
    "Trust and rules": {
        "rules": RULES,
        "allow": allow_command,
        "ask": ask_command,
        "deny": deny_command,
        "approvals": APPROVALS,
        "review": review_command,
    },
    "Check": {
        "doctor": doctor_command,
        "logs": logs_command,
        "calls": calls_command,
        "tokens": tokens_command,
    },
    "Develop": {
        "index": index_command,
        "lint": lint_command,
        "eval": EVAL,
    },
}
"""All commands by name, as the help shows them, in the order in which a newcomer needs them."""

COMMANDS: Mapping[str, Command] = {
    name: command for commands in GROUPS.values() for name, command in commands.items()
}


class _InOrder(HelpGroup):
    """The commands in the order of the table, whether or not they are groups."""

    def __init__(self, *, commands: Any = None, **attributes: Any) -> None:  # noqa: ANN401 - typer's
        ordered = {name: commands[name] for name in COMMANDS} if commands else commands
        super().__init__(commands=ordered, **attributes)


app = typer.Typer(
    name="toolcrib",
    help="Find the right tool among thousands: tools, skills and agents in one searchable pool.",
    epilog="Begin with `toolcrib setup`, or look around with `toolcrib tour`.",
    cls=_InOrder,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

for group, commands in GROUPS.items():
    for name, command in commands.items():
        if isinstance(command, CommandGroup):
            app.add_typer(command.typer(), name=name, rich_help_panel=group)
        else:
            app.command(name, cls=HelpCommand, rich_help_panel=group)(completed(command))


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
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
    context.obj = GlobalOptions(config, tuple(mcp_config or ()), tuple(tools or ()))
