"""The command `toolcrib enable`."""

import typer

from toolcrib.cli.screen import AsJson
from toolcrib.cli.switch import Names, switch


def enable_command(
    context: typer.Context,
    names: Names,
    as_json: AsJson = False,
) -> None:
    """Switch MCP servers, or single tools of them, on again.

    Takes back what `toolcrib disable` did, and the key `disabled` of a server in another file. What
    waits for review still waits: see `toolcrib review`.
    """
    switch(context.obj, names, on=True, as_json=as_json)
