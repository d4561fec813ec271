"""The commands `toolcrib import` and `toolcrib export`."""

import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from toolcrib.cli.approval_questions import ApprovalOption, settle_approval, tell_what_changes
from toolcrib.cli.client_plans import agree_and_apply, client_files_named, take_over, undo_all
from toolcrib.cli.consent import Consent
from toolcrib.cli.global_options import GlobalOptions, tell_gateway
from toolcrib.cli.refresh import list_servers, show_listing
from toolcrib.cli.screen import AsJson, console, number, print_json, warn
from toolcrib.client_config import (
    Backups,
    client_named,
    exported_entries,
    exported_text,
    plan_export,
)
from toolcrib.gateway import profile_named
from toolcrib.sources.mcp import RefreshResult, read_servers


def import_command(
    context: typer.Context,
    client: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Only this client: claude-desktop, cursor, codex and so on."
        ),
    ] = "",
    project: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The clients' files in this project's folder instead."),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(metavar="NAME", help="The profile of the gateway that the client is to see."),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Put the client's file back as it was before.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --undo: the whole file, whoever changed it since.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to all that is shown.")] = False,
    no_list: Annotated[
        bool, typer.Option("--no-list", help="Do not start the servers to list their tools.")
    ] = False,
    approval: ApprovalOption = None,
    as_json: AsJson = False,
) -> None:
    """Take over the servers of MCP clients, and serve them as one.

    They become yours, and the gateway takes their place in the client. Shows the difference of both
    files, without secrets, and asks before it writes. Comments and all other settings stay as they
    are. What cannot be taken stays in the client. A backup is kept, and `--undo` puts it back.
    Without `--client`, every client that is found is offered. You are asked once for each new
    server what it may do without your approval; `--approval` says it beforehand. Then the new
    servers are started once to list their tools, by the gateway if it runs; one that does not start
    is told with the remedy.
    Exit code 1: one of several clients has a file that cannot be used.

        toolcrib import --dry-run
        toolcrib import --client cursor
        toolcrib import --undo
    """
    opening: GlobalOptions = context.obj
    settings, choices = opening.settings(), Consent(dry_run, yes, as_json)
    choices.refuse_silence()
    if undo:
        undo_all(client, project, settings, choices, force=force)
        tell_gateway(opening)
        return
    if profile:
        profile_named(
            settings.gateway, profile
        )  # an unknown one is an error now, not in the client
    found = client_files_named(client, project, settings)
    told = list(take_over(found, opening, settings, profile, choices))
    added = [name for each in told if each["done"] for name in cast("list[str]", each["added"])]
    chosen = settle_approval(added, settings, approval, asking=not (yes or as_json))
    if added and not as_json:
        tell_what_changes()
    listed = [] if no_list else _listed(opening, added, quiet=as_json)
    if as_json:
        by_name = {each.server: each._asdict() for each in listed}
        for each in told:
            names = cast("list[str]", each["added"])
            each["approval"] = {name: chosen[name] for name in names if name in chosen}
            each["listed"] = [by_name[name] for name in names if by_name]
        print_json(told)
    if len(told) < len(found):
        raise typer.Exit(1)


def _listed(opening: GlobalOptions, added: list[str], *, quiet: bool) -> list[RefreshResult]:
    """List the tools of servers that have come; one that does not start is told, and no error."""
    if not added:
        tell_gateway(opening)
        return []
    if quiet:
        return list_servers(opening, added)
    console().print("The tools of the new servers:")
    done = show_listing(opening, added)
    tools, failed = sum(each.tools for each in done), sum(bool(each.error) for each in done)
    left = f"; {failed} to be looked at, see above" if failed else ""
    console().print(
        f"Ready: {number(tools, 'tool')} of {number(len(done) - failed, 'server')}{left}."
    )
    return done


# The command `toolcrib export`.


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
    opening: GlobalOptions = context.obj
    settings = opening.settings()
    ours = read_servers(settings.mcp_config).servers
    if print_only:
        entries, left = exported_entries(client_named(client).layouts[0].shape, ours)
        for name, reason in left.items():
            warn(f"{name} is left out: {reason}")
        sys.stdout.write(exported_text(client_named(client), entries))
        return
    choices = Consent(dry_run, yes, as_json)
    choices.refuse_silence()
    found = client_files_named(client, project, settings)[:1]
    backups = Backups(settings.state_folder)
    told = [agree_and_apply(plan_export(target, ours), backups, choices) for target in found]
    if as_json:
        print_json(told)
