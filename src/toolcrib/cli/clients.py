"""The commands `toolcrib import` and `toolcrib export`."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.approval_questions import ApprovalOption, NewServerRights, print_what_changes
from toolcrib.cli.client_plans import (
    ChangeReport,
    agree_and_apply,
    client_files_named,
    take_over,
    undo_all,
)
from toolcrib.cli.consent import Consent
from toolcrib.cli.global_options import GlobalOptions, tell_gateway
from toolcrib.cli.refresh import list_servers, show_listing
from toolcrib.cli.screen import AsJson, console, number, print_json, warn
from toolcrib.client_config import (
    Backups,
    client_named,
    export_text,
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
        typer.Option(metavar="NAME", help="The profile of the gateway that the client gets."),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Put the client's file back as it was before.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="With --undo: the whole file, even if it was changed since."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to everything that is shown.")] = False,
    no_list: Annotated[
        bool, typer.Option("--no-list", help="Do not start the servers to list their tools.")
    ] = False,
    approval: ApprovalOption = None,
    as_json: AsJson = False,
) -> None:
    """Take over the servers of MCP clients, and serve them as one.

    The servers become yours, and the gateway takes their place in the client. Shows the difference
    of both files, without secrets, and asks before it writes. Comments and all other settings stay
    as they are. A server that cannot be taken over stays in the client. A backup is kept, and
    `--undo` puts it back. Without `--client`, you are asked about every client that is found.

    You are asked once for each new server what it may do without your approval; `--approval` says
    it beforehand. Then the new servers are started once to list their tools, by the gateway if it
    runs. A server that does not start is shown with the remedy. Exit code 1: one of several clients
    has a file that cannot be used.

        toolcrib import --dry-run
        toolcrib import --client cursor
        toolcrib import --undo
    """
    options: GlobalOptions = context.obj
    settings, consent = options.settings(), Consent(dry_run, yes, as_json)
    consent.refuse_silence()
    if undo:
        undo_all(client, project, settings, consent, force=force)
        tell_gateway(options)
        return
    if profile:
        profile_named(settings.gateway, profile)  # an error now, and not in the client later
    files = client_files_named(client, project, settings)
    rights = NewServerRights(settings, approval, consent)
    reports = list(take_over(files, options, settings, profile, consent, rights))
    added = list(rights.chosen)
    if added and not as_json:
        print_what_changes()
    listed = [] if no_list else _list_added(options, added, quiet=as_json)
    if as_json:
        by_name = {each.server: each._asdict() for each in listed}
        print_json([_as_json(each, rights.chosen, by_name) for each in reports])
    if len(reports) < len(files):
        raise typer.Exit(1)


def _as_json(
    report: ChangeReport, approval: Mapping[str, str], listed: Mapping[str, object]
) -> Mapping[str, object]:
    """One client: what was changed, what its new servers may do, and what they list."""
    return {
        **asdict(report),
        "approval": {name: approval[name] for name in report.added if name in approval},
        "listed": [listed[name] for name in report.added if listed],
    }


def _list_added(options: GlobalOptions, added: list[str], *, quiet: bool) -> list[RefreshResult]:
    """List the tools of new servers; one that does not start is shown, and is no error."""
    if not added:
        tell_gateway(options)
        return []
    if quiet:
        return list_servers(options, added)
    console().print("The tools of the new servers:")
    results = show_listing(options, added)
    tools, failed = sum(each.tools for each in results), sum(bool(each.error) for each in results)
    left = f"; {failed} to be looked at, see above" if failed else ""
    ready = number(len(results) - failed, "server")
    console().print(f"Ready: {number(tools, 'tool')} of {ready}{left}.")
    return results


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
    yes: Annotated[bool, typer.Option("--yes", help="Agree to everything that is shown.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write your servers into a client's file, in place of the gateway.

    This is the way back from `toolcrib import`, or from one client to another. Your own servers
    stay as they are. A server that the client cannot describe is named and left out. `toolcrib
    import --undo` undoes it.

        toolcrib export --client codex --dry-run
        toolcrib export --client claude-desktop --print
    """
    options: GlobalOptions = context.obj
    settings = options.settings()
    ours = read_servers(settings.mcp_config).servers
    if print_only:
        text, left = export_text(client_named(client), ours)
        for name, reason in left.items():
            warn(f"{name} is left out: {reason}")
        sys.stdout.write(text)
        return
    consent = Consent(dry_run, yes, as_json)
    consent.refuse_silence()
    files = client_files_named(client, project, settings)[:1]
    backups = Backups(settings.state_folder)
    reports = [agree_and_apply(plan_export(file, ours), backups, consent) for file in files]
    if as_json:
        print_json(reports)
