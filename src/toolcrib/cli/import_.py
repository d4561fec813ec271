"""The command `toolcrib import`."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, cast

import typer

from toolcrib.cli.listing import list_servers, show_listing, tell_gateway
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, number, print_json, warn
from toolcrib.cli.server_approval import ApprovalOption, settle_approval, tell_what_changes
from toolcrib.cli.takeover import Choices, step, targets
from toolcrib.cli.undoing import undo_all
from toolcrib.errors import ConfigError
from toolcrib.gateway import profile_named
from toolcrib.settings import CONFIG_VARIABLE, Settings, own_servers_file
from toolcrib.sources.mcp import RefreshResult, read_servers, read_table
from toolcrib.takeover.backups import Backups
from toolcrib.takeover.plan import Target
from toolcrib.takeover.shim import NAME as BARE
from toolcrib.takeover.shim import Shim, installed_command
from toolcrib.takeover.taking import plan_import


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
    opening: Opening = context.obj
    settings, choices = opening.settings(), Choices(dry_run, yes, as_json)
    choices.refuse_silence()
    if undo:
        undo_all(client, project, settings, choices, force=force)
        tell_gateway(opening)
        return
    if profile:
        profile_named(
            settings.gateway, profile
        )  # an unknown one is an error now, not in the client
    found = targets(client, project, settings)
    told = list(taken(found, opening, settings, profile, choices))
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


def _listed(opening: Opening, added: list[str], *, quiet: bool) -> list[RefreshResult]:
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


def taken(
    found: list[Target], opening: Opening, settings: Settings, profile: str, choices: Choices
) -> Iterator[dict[str, object]]:
    """One file after the other; each sees the servers that those before have brought.

    A file that cannot be used is warned of and left out; if it is the only one: `ConfigError`.
    """
    ours, backups = list(read_servers(settings.mcp_config).servers), Backups(settings.state_folder)
    own = own_servers_file()
    for target in found:
        try:
            plan = plan_import(target, ours, own, _shim(target, opening, profile))
        except ConfigError as error:
            if len(found) == 1:
                raise
            warn(str(error))
            continue
        told = step(plan, backups, choices)
        if told["done"] or choices.dry_run:
            ours += read_table(own, plan.added).servers
        yield told


def _shim(target: Target, opening: Opening, profile: str) -> Shim:
    """The shim that sees what this command sees.

    A project's file is shared with people who have Toolcrib elsewhere, so it names no path.
    """
    if target.project:
        return Shim(BARE, profile=profile)
    config = opening.config or (
        Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None
    )
    options = ["--config", str(config.absolute())] if config else []
    for file in opening.mcp_config:
        options += ["--mcp-config", str(file.absolute())]
    return Shim(installed_command(), tuple(options), profile)
