"""The command `toolcrib disable`."""

from typing import Annotated

import typer

from toolcrib.cli.screen import AsJson
from toolcrib.cli.switch import switch

NAME = "disable"


def run(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="SERVER|TOOL...", help="A server, or `server/tool`, also `server/del*`."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Switch MCP servers, or single tools of them, off.

    A disabled server is not started, and no model finds, reads of or calls a disabled tool, in any
    mode. `toolcrib list` shows it as disabled, `toolcrib enable` takes it back. It is written to
    `servers.json` in the configuration folder, also for a server that stands in another file.
    """
    switch(context.obj, names, on=False, as_json=as_json)
