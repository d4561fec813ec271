"""The command `toolcrib ask`."""

import typer

from toolcrib.cli.screen import AsJson
from toolcrib.cli.verdicts import Names, OfKind, OfProfile, give


def ask_command(
    context: typer.Context,
    names: Names,
    kind: OfKind = None,
    profile: OfProfile = "",
    as_json: AsJson = False,
) -> None:
    """Have calls of a server, or of single tools, approved one by one.

    You are asked by your MCP client where it can ask, else by `toolcrib approvals list`. Written to
    `rules.json` in the configuration folder, and in force at once, also at a running gateway.

        toolcrib ask github --kind dangerous
        toolcrib ask filesystem/write_file
    """
    give(context.obj, "ask", names, kind=kind, profile=profile, as_json=as_json)
