"""The command `toolcrib deny`."""

import typer

from toolcrib.cli.screen import AsJson
from toolcrib.cli.verdicts import Names, OfKind, OfProfile, give


def deny_command(
    context: typer.Context,
    names: Names,
    kind: OfKind = None,
    profile: OfProfile = "",
    as_json: AsJson = False,
) -> None:
    """Let nobody call a server, or single tools of it.

    Search still finds them; `toolcrib disable` hides them too. What is denied is denied whatever
    other rules, annotations or persons say. Written to `rules.json` in the configuration folder,
    and in force at once, also at a running gateway.

        toolcrib deny github/delete_*
        toolcrib deny shell --profile agents
    """
    give(context.obj, "deny", names, kind=kind, profile=profile, as_json=as_json)
