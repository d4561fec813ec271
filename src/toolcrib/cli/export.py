"""The command `toolcrib export`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, print_json, warn
from toolcrib.cli.takeover import Choices, step, targets
from toolcrib.sources.mcp import read_servers
from toolcrib.takeover.backups import Backups
from toolcrib.takeover.clients import client_named
from toolcrib.takeover.giving import entries_of, plan_export, printed


def export_command(
    context: typer.Context,
    client: Annotated[str, typer.Option(metavar="NAME", help="The client, by its name.")],
    project: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The client's file in this project's folder instead."),
    ] = None,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the entries, secrets and all, and write nothing.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to all that is shown.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write your servers into a client's file, in place of the gateway.

    The way back from `toolcrib import`, or from one client to another. Your own servers stay as
    they are. What the client cannot say is named and left out. `toolcrib import --undo` undoes it.

        toolcrib export --client codex --dry-run
        toolcrib export --client claude-desktop --print
    """
    opening: Opening = context.obj
    settings = opening.settings()
    ours = read_servers(settings.mcp_config).servers
    if print_only:
        entries, left = entries_of(client_named(client).layouts[0].shape, ours)
        for name, reason in left.items():
            warn(f"{name} is left out: {reason}")
        sys.stdout.write(printed(client_named(client), entries))
        return
    choices = Choices(dry_run, yes, as_json)
    choices.refuse_silence()
    found = targets(client, project, settings)[:1]
    backups = Backups(settings.state_folder)
    told = [step(plan_export(target, ours), backups, choices) for target in found]
    if as_json:
        print_json(told)
