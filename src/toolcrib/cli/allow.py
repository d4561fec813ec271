"""The command `toolcrib allow`."""

import typer

from toolcrib.cli.screen import AsJson
from toolcrib.cli.verdicts import Names, OfKind, OfProfile, give


def allow_command(
    context: typer.Context,
    names: Names,
    kind: OfKind = None,
    profile: OfProfile = "",
    as_json: AsJson = False,
) -> None:
    """Let calls of a server, or of single tools, through without approval.

    Written to `rules.json` in the configuration folder, and in force at once, also at a running
    gateway. It comes before the rules of the settings, and behind those that deny. Your client may
    still ask you by itself.

        toolcrib allow github
        toolcrib allow github --kind read --profile agents
        toolcrib allow github/create_issue
    """
    give(context.obj, "allow", names, kind=kind, profile=profile, as_json=as_json)
