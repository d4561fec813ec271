"""The command `toolcrib setup`: what import, refresh, rules, tokens and doctor do, in one go."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, cast

import typer

from toolcrib.cli.approval_questions import ApprovalOption, settle_calls
from toolcrib.cli.client_plans import client_files, client_files_named, take_over
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
from toolcrib.cli.tokens import Saving, savings
from toolcrib.client_config import Backups, Client, ClientFile, client_named
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
        bool, typer.Option("--yes", help="Agree to all that is shown; ask nothing.")
    ] = False,
    approval: ApprovalOption = None,
    as_json: AsJson = False,
) -> None:
    """Set all up: find your MCP clients, take their servers over, list the tools.

    Shows what would change in each client and asks; starts the new servers once to list their
    tools; asks what may be called without you; shows the tokens of each client before and now; says
    what to restart. To run it again does only what is left to do. Each step is a command of its
    own, and is named. `toolcrib import --undo` goes back. Exit code 1: something is left to do.

        toolcrib setup
        toolcrib setup --client cursor --dry-run
        toolcrib setup --yes
    """
    opening: GlobalOptions = context.obj
    choices = Consent(dry_run, yes, as_json, guided=True)
    choices.refuse_silence()
    try:
        done = _set_up(opening, client, approval, choices)
    except (KeyboardInterrupt, typer.Abort):
        print_text("Stopped. What is done stays; `toolcrib setup` goes on with the rest.")
        raise typer.Exit(STOPPED) from None
    if not done:
        raise typer.Exit(1)


def _set_up(
    opening: GlobalOptions, client: str, approval: ServerApproval | None, choices: Consent
) -> bool:
    """Step by step; whether nothing is left to be looked at. Raises `ConfigError`."""
    settings = opening.settings()
    found = [each for each in client_files() if each.path.is_file()]
    if not found and not client:
        return _tell_nobody(choices)
    found = client_files_named(client, None, settings)
    told = _take_over(found, opening, settings, choices)
    listed = [] if choices.dry_run else _list(opening, told, choices)
    with opening.crib() as crib:
        chosen = _ask(crib, settings, told, approval, choices)
        saved = _counted(crib, settings, told)
        shown = _tools_to_try(crib)
    if chosen:
        tell_gateway(opening)
    if choices.as_json:
        print_json(
            {
                "clients": told,
                "listed": [each._asdict() for each in listed],
                "approval": chosen,
                "tokens": [asdict(each) | {"share": each.share} for each in saved],
            }
        )
    else:
        _show_tokens(saved)
        _tell_what_to_do(told, shown, choices)
    return len(told) == len(found) and not any(each.error for each in listed)


def _tell_nobody(choices: Consent) -> bool:
    if choices.as_json:
        print_json({"clients": [], "listed": [], "approval": {}, "tokens": []})
        return False
    print_text("No MCP client keeps a file here. Looked for:")
    rows = [(each.client.title, str(each.path)) for each in client_files()]
    console().print(table("", ["client", "//file"], rows))
    print_footnotes(
        [
            Footnote("For any other client", "see docs/guide/clients.md, or:"),
            Footnote("A server of your own", "", "toolcrib add NAME -- COMMAND ARGS"),
            Footnote("A client that comes later", "", "toolcrib setup --client NAME"),
        ]
    )
    return False


def _take_over(
    found: list[ClientFile], opening: GlobalOptions, settings: Settings, choices: Consent
) -> list[dict[str, object]]:
    if not choices.as_json:
        _head("Clients", "toolcrib import")
    return list(take_over(found, opening, settings, "", choices))


def _list(
    opening: GlobalOptions, told: Sequence[Mapping[str, object]], choices: Consent
) -> list[RefreshResult]:
    """List the tools of what has come, and of what could not be listed so far."""
    with opening.mcp() as servers:
        stale = [source for source in servers.sources if not source.config.disabled]
        names = [each.server for each in stale if each.is_unknown or each.status().failure]
        known = sum(each.status().tools for each in stale)
    if any(each["done"] for each in told):
        tell_gateway(opening)
    if choices.as_json:
        return list_servers(opening, names) if names else []
    _head("Tools", "toolcrib refresh")
    if not names:
        print_text(f"All servers are listed: {number(known, 'tool')}.", label="", indent=2)
        return []
    return show_listing(opening, names)


def _ask(
    crib: Crib,
    settings: Settings,
    told: Sequence[Mapping[str, object]],
    approval: ServerApproval | None,
    choices: Consent,
) -> Mapping[str, ServerApproval]:
    added = [name for each in told if each["done"] for name in cast("list[str]", each["added"])]
    if not choices.as_json and not choices.dry_run:
        _head("Calls", "toolcrib rules list")
        if not added:
            print_text("No server is new, so the rules stay as they are.")
    return settle_calls(crib, added, settings, approval, choices)


def _counted(crib: Crib, settings: Settings, told: Sequence[Mapping[str, object]]) -> list[Saving]:
    """The tokens of each client, whether its servers went over now or on an earlier day."""
    clients: dict[str, tuple[Client, set[str]]] = {}
    for each in told:
        client = client_named(str(each["client"]))
        names = set(cast("Mapping[str, str]", each["moved"]).values())
        clients.setdefault(client.title, (client, set()))[1].update(names)
    for backup in Backups(settings.state_folder).all():
        client = client_named(backup.client)
        if client.title in clients:
            clients[client.title][1].update(backup.names)
    return savings(crib, clients, token_counter())


def _tools_to_try(crib: Crib) -> str:
    """The words of a tool that only reads, to try it out by; empty if there is none.

    Letters and digits alone: people paste it into a shell, and the name is the server's.
    """
    entries = crib.entries().values()
    ours = [each for each in entries if each.capability.source == "mcp"]
    ours.sort(key=lambda each: (each.capability.permission_kind != "read", each.name))
    words = (_WORD.findall(each.bare) for each in ours)
    return next((" ".join(some) for some in words if some), "")


def _head(title: str, command: str) -> None:
    console().print()
    console().print(safe(f"{title}  ({command})"), style="bold")


def _show_tokens(saved: Sequence[Saving]) -> None:
    if not saved:
        return
    _head("Tokens of each request", "toolcrib tokens")
    rows = [
        (each.client, each.servers, each.tools, f"{each.before:,}", f"{each.now:,}", _share(each))
        for each in saved
    ]
    console().print(table("", ["client", ">servers", ">tools", ">before", ">now", ">saved"], rows))
    print_footnotes(_remarks(saved))
    how = token_counter().how
    told = "" if how != "estimated" else f" To count them: {COUNTING}"
    print_text(f"Definitions of the tools, {how}.{told}")


def _share(saving: Saving) -> str:
    """Blank where the client decides what it sends: its list is no request."""
    return f"{saving.share:.1%}" if saving.before and saving.mode != "passthrough" else ""


def _remarks(saved: Sequence[Saving]) -> Iterator[Footnote]:
    for each in saved:
        if each.uncounted:
            names = ", ".join(each.uncounted)
            yield Footnote(each.client, f"without the tools of {names}, which did not start")
        if each.mode == "direct":
            yield Footnote(each.client, "so few tools are all listed; there is nothing to save yet")
        elif each.mode == "passthrough":
            yield Footnote(
                each.client, "it is handed all tools, and sends its model what its own search finds"
            )


def _tell_what_to_do(told: Sequence[Mapping[str, object]], words: str, choices: Consent) -> None:
    _head("Now", "toolcrib doctor")
    changed = [client_named(str(each["client"])) for each in told if each["done"]]
    for client in changed:
        print_text(f"{client.title}: {client.reload}", indent=2)
    if choices.dry_run:
        print_text("Nothing was changed. `toolcrib setup` does it, lists the tools, counts them.")
    elif not changed:
        print_text("All is as it was.")
    if words:
        print_text(f'Try it: toolcrib search "{words}", or ask your model to search its tools.')
    if changed:
        print_text("Should you want to go back: toolcrib import --undo")
