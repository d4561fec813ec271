"""The command `toolcrib refresh`."""

from typing import Annotated

import typer

from toolcrib.cli.listing import list_servers, show_listing
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json


def refresh_command(
    context: typer.Context,
    servers: Annotated[
        list[str] | None, typer.Argument(metavar="SERVER...", help="Only these, by their names.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the configured MCP servers once and remember what they list.

    A gateway that runs does it itself, and has the tools at once. After that, search finds them
    while their servers sleep, and a call starts the one it needs. What was known of a server that
    does not start stays. Exit code 1 if one did not. Tools that are new since the first time, or
    others than they were, wait for `toolcrib review`.

        toolcrib refresh
        toolcrib refresh github time
    """
    opening: Opening = context.obj
    names = servers or []
    done = list_servers(opening, names) if as_json else show_listing(opening, names)
    if as_json:
        print_json([each._asdict() for each in done])
    elif not done:
        console().print("No MCP server is configured: `toolcrib add` or `toolcrib import`.")
    if any(each.error for each in done):
        raise typer.Exit(1)
