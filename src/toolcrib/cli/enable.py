"""The command `toolcrib enable`."""

from typing import Annotated

import typer

from toolcrib.cli.screen import AsJson
from toolcrib.cli.switch import switch

NAME = "enable"


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
    """Switch MCP servers, or single tools of them, on again.

    Takes back what `toolcrib disable` did, and the key `disabled` of a server in another file. What
    waits for review still waits: see `toolcrib review`.
    """
    switch(context.obj, names, on=True, as_json=as_json)
