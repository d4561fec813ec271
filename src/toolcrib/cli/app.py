"""The program: the commands of the table, and the options that stand before them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.command_table import GROUPS
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import LazyGroup


class RootGroup(LazyGroup):
    """The commands of the table."""

    table = GROUPS


app = typer.Typer(
    name="toolcrib",
    help="Find the right tool among thousands: tools, skills and agents in one searchable pool.",
    epilog="Begin with `toolcrib setup`, or look around with `toolcrib tour`.",
    cls=RootGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
        from importlib.metadata import version

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
    context.obj = given = GlobalOptions(config, tuple(mcp_config or ()), tuple(tools or ()))
    context.call_on_close(given.shared.send)
