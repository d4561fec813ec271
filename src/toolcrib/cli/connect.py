"""The command `toolcrib connect`, as it is documented.

What runs is `toolcrib.connect`, which `main` calls without loading any of this; here is the help,
and whatever is not quite as that one wants it.
"""

from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.connect import ConnectOptions, connect


def connect_command(
    context: typer.Context,
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help="The part of the pool to be served.")
    ] = "default",
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Settings file, as before the command."),
    ] = None,
    mcp_config: Annotated[
        list[Path] | None,
        typer.Option("--mcp-config", metavar="FILE", help="The same, of files with servers."),
    ] = None,
) -> None:
    """Be the MCP server that a client launches: a pipe to the daemon.

    The daemon is started if it does not run, and is shared by all clients; when it restarts,
    clients notice no more than a pause. The variable `TOOLCRIB_KEY` holds the key of a client that
    is to have only what its key is good for.
    """
    opening: Opening = context.obj
    files = (*opening.mcp_config, *(mcp_config or ()))
    asked = ConnectOptions(str(config or opening.config or ""), tuple(map(str, files)), profile)
    raise typer.Exit(connect(asked))
