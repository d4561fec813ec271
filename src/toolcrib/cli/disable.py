"""The command `toolcrib disable`."""

import typer

from toolcrib.cli.screen import AsJson
from toolcrib.cli.switch import Names, switch


def disable_command(
    context: typer.Context,
    names: Names,
    as_json: AsJson = False,
) -> None:
    """Switch MCP servers, or single tools of them, off.

    A disabled server is not started, and no model finds, reads of or calls a disabled tool, in any
    mode. `toolcrib list` shows it as disabled, `toolcrib enable` takes it back. It is written to
    `servers.json` in the configuration folder, also for a server that stands in another file.
    """
    switch(context.obj, names, on=False, as_json=as_json)
