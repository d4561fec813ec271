"""The command `toolcrib setup`: what import, refresh, rules, tokens and doctor do, in one go."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from toolcrib.cli.approval_questions import ApprovalOption, NewServerRights, print_what_changes
from toolcrib.cli.client_plans import (
    ChangeReport,
    client_files_named,
    take_over,
    undo_all,
)
from toolcrib.cli.consent import Consent
from toolcrib.cli.global_options import GlobalOptions, tell_gateway
from toolcrib.cli.refresh import list_servers, show_listing
from toolcrib.cli.screen import (
    AsJson,
    Footnote,
    console,
    number,
    print_footnotes,
    print_json,
    print_text,
    safe,
    table,
)
from toolcrib.cli.token_costs import Saving, savings
from toolcrib.client_config import Backups, Client, client_files, client_named
from toolcrib.crib import Crib
from toolcrib.settings import ServerApproval, Settings
from toolcrib.sources.mcp import RefreshResult
from toolcrib.text import token_counter

STOPPED = 130
_WORD = re.compile(r"[A-Za-z0-9]+")
COUNTING = "pip install 'toolcrib[tokens]'"


def setup_command(
    context: typer.Context,
    client: Annotated[
        str, typer.Option(metavar="NAME", help="Only this client: claude-desktop, cursor, codex...")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Agree to everything that is shown; ask nothing.")
    ] = False,
    approval: ApprovalOption = None,
    as_json: AsJson = False,
) -> None:
    """Set everything up: find your MCP clients, take over their servers, list the tools.

    Shows what would change in each client, and asks: whether to do it, and what the new servers may
    do without you. Nothing is written before both are answered. Starts the new servers once to list
    their tools. Shows the tokens of each client before and now, offers to put back one that would
    pay more, and says what to restart. A second run does only what is left to do. Each step names
    its own command. `toolcrib import --undo` goes back. Exit code 1: something is left to do.

        toolcrib setup
        toolcrib setup --client cursor --dry-run
        toolcrib setup --yes
    """
    options: GlobalOptions = context.obj
    consent = Consent(dry_run, yes, as_json, guided=True)
    consent.refuse_silence()
    try:
        done = _set_up(options, client, approval, consent)
    except (KeyboardInterrupt, typer.Abort):
        print_text("Stopped. What is done stays; `toolcrib setup` goes on with the rest.")
        raise typer.Exit(STOPPED) from None
    if not done:
        raise typer.Exit(1)


def _set_up(
    options: GlobalOptions, client: str, approval: ServerApproval | None, consent: Consent
) -> bool:
    """Step by step; whether nothing is left to be looked at. Raises `ConfigError`."""
    settings = options.settings()
    if not client and not any(each.path.is_file() for each in client_files()):
        return _show_no_client(consent)
    files = client_files_named(client, None, settings)
    rights = NewServerRights(settings, approval, consent)
    if not consent.as_json:
        _head("Clients", "toolcrib import")
    reports = list(take_over(files, options, settings, "", consent, rights))
    listed = [] if consent.dry_run else _list(options, reports, consent)
    with options.crib() as crib:
        counted = _count_tokens(crib, settings, reports)
        query = _query_to_try(crib)
    if consent.as_json:
        print_json(
            {
                "clients": reports,
                "listed": [each._asdict() for each in listed],
                "approval": rights.chosen,
                "tokens": [
                    asdict(each) | {"share": each.share, "costs_more": each.costs_more}
                    for each in counted
                ],
            }
        )
    else:
        _show_calls(rights, consent)
        _show_tokens(counted)
        back = _offer_to_stay(counted, reports, settings, consent)
        if back:
            tell_gateway(options)
        left = [each for each in reports if each.client not in back]
        _show_next_steps(left, "" if back else query, consent)
    return len(reports) == len(files) and not any(each.error for each in listed)


def _show_no_client(consent: Consent) -> bool:
    if consent.as_json:
        print_json({"clients": [], "listed": [], "approval": {}, "tokens": []})
        return False
    print_text("No MCP client keeps a file here. Looked for:")
    rows = [(each.client.title, str(each.path)) for each in client_files()]
    console().print(table("", ["client", "//file"], rows))
    print_footnotes(
        [
            Footnote("For any other client", "", "toolcrib help clients"),
            Footnote("A server of your own", "", "toolcrib add NAME -- COMMAND ARGS"),
            Footnote("A client that comes later", "", "toolcrib setup --client NAME"),
        ]
    )
    return False


def _list(
    options: GlobalOptions, reports: Sequence[ChangeReport], consent: Consent
) -> list[RefreshResult]:
    """List the tools of new servers, and of those that could not be listed so far."""
    with options.mcp() as servers:
        sources = [source for source in servers.sources if not source.config.disabled]
        names = [each.server for each in sources if each.is_unknown or each.status().failure]
        tools = sum(each.status().tools for each in sources)
    if any(each.done for each in reports):
        tell_gateway(options)
    if consent.as_json:
        return list_servers(options, names) if names else []
    _head("Tools", "toolcrib refresh")
    if not names:
        print_text(f"All servers are listed: {number(tools, 'tool')}.", label="", indent=2)
        return []
    return show_listing(options, names)


def _show_calls(rights: NewServerRights, consent: Consent) -> None:
    if consent.dry_run:
        return
    _head("Calls", "toolcrib rules list")
    if rights.chosen:
        print_what_changes()
    else:
        print_text("No server is new, so the rules stay as they are.")


def _count_tokens(crib: Crib, settings: Settings, reports: Sequence[ChangeReport]) -> list[Saving]:
    """The tokens of each client, whether its servers went over now or on an earlier day."""
    clients: dict[str, tuple[Client, set[str]]] = {}
    for report in reports:
        client = client_named(report.client)
        clients.setdefault(client.title, (client, set()))[1].update(report.moved.values())
    for backup in Backups(settings.state_folder).all():
        client = client_named(backup.client)
        if client.title in clients:
            clients[client.title][1].update(backup.names)
    return savings(crib, clients, token_counter())


def _query_to_try(crib: Crib) -> str:
    """A query that finds a tool that only reads, to try it out; empty if there is no tool.

    Letters and digits alone: people paste it into a shell, and the name is the server's.
    """
    entries = crib.entries().values()
    ours = [each for each in entries if each.source == "mcp"]
    ours.sort(key=lambda each: (each.permission_kind != "read", each.name))
    words = (_WORD.findall(each.bare) for each in ours)
    return next((" ".join(some) for some in words if some), "")


def _head(title: str, command: str) -> None:
    console().print()
    console().print(safe(f"{title}  ({command})"), style="bold")


def _show_tokens(counted: Sequence[Saving]) -> None:
    if not counted:
        return
    _head("Tokens of each request", "toolcrib tokens")
    rows = [
        (each.client, each.servers, each.tools, f"{each.before:,}", f"{each.now:,}", _share(each))
        for each in counted
    ]
    console().print(table("", ["client", ">servers", ">tools", ">before", ">now", ">saved"], rows))
    print_footnotes(_remarks(counted))
    how = token_counter().how
    hint = "" if how != "estimated" else f" To count them: {COUNTING}"
    print_text(f"Definitions of the tools, {how}.{hint}")


def _offer_to_stay(
    counted: Sequence[Saving], reports: Sequence[ChangeReport], settings: Settings, consent: Consent
) -> list[str]:
    """The clients that were put back, of those that would pay more: Enter alone is a yes.

    Where all is agreed to beforehand, the remark about the client has to do.
    """
    costly = {each.client for each in counted if each.costs_more}
    new = [each.client for each in reports if each.done and not consent.yes]
    asked = [each for each in new if client_named(each).title in costly]
    return [each for each in asked if undo_all(each, None, settings, consent, force=False)]


def _share(saving: Saving) -> str:
    """Blank where the client decides what it sends: its list is no request."""
    return f"{saving.share:.1%}" if saving.before and saving.mode != "passthrough" else ""


def _remarks(counted: Sequence[Saving]) -> Iterator[Footnote]:
    for each in counted:
        if each.uncounted:
            names = ", ".join(each.uncounted)
            yield Footnote(each.client, f"without the tools of {names}, which did not start")
        if each.costs_more:
            yield Footnote(
                each.client,
                "its own tools cost less than the gateway; it is better left as it was",
                f"toolcrib import --undo --client {each.name}",
            )
        elif each.mode == "direct":
            yield Footnote(
                each.client, "it has so few tools that all are listed; there is nothing to save yet"
            )
        elif each.mode == "passthrough":
            yield Footnote(
                each.client, "it gets all tools, and its own search chooses what its model is sent"
            )


def _show_next_steps(reports: Sequence[ChangeReport], query: str, consent: Consent) -> None:
    _head("Now", "toolcrib doctor")
    changed = [client_named(each.client) for each in reports if each.done]
    for client in changed:
        print_text(f"{client.title}: {client.reload}", indent=2)
    if consent.dry_run:
        print_text("Nothing was changed. `toolcrib setup` does it, lists the tools, counts them.")
    elif not changed:
        print_text("Nothing was changed.")
    if query:
        print_text(f'Try it: toolcrib search "{query}", or ask your model to search its tools.')
    if changed:
        print_text("To go back: toolcrib import --undo")
