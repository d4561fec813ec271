"""The commands `toolcrib approvals`: list, allow, deny."""

import json
from textwrap import indent
from typing import Annotated, Any, cast

import typer

from toolcrib.cli.global_options import daemon_place
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.screen import AsJson, console, print_json, safe
from toolcrib.gateway import ask_daemon

LONGEST_LINE = 200

Ticket = Annotated[
    str, typer.Argument(metavar="ID", help="The ticket of the call, or its beginning.")
]


Tenant = Annotated[
    str,
    typer.Option("--tenant", metavar="NAME", help="Another tenant that the gateway serves."),
]


def list_approvals(context: typer.Context, tenant: Tenant = "", as_json: AsJson = False) -> None:
    """List the calls that wait for your approval."""
    reply = ask_daemon(daemon_place(context.obj), "approvals", tenant=tenant)
    waiting = cast("list[dict[str, Any]]", reply)
    print_json(waiting) if as_json else _show(waiting)


def allow_call(
    context: typer.Context, id: Ticket, tenant: Tenant = "", as_json: AsJson = False
) -> None:
    """Allow one call, and list what still waits.

    If its client still waits, the call goes on. If not, the client has to make it again within a
    few minutes.

        toolcrib approvals allow 3f2a
    """
    ask_daemon(daemon_place(context.obj), "decide", id=id, allowed=True, tenant=tenant)
    list_approvals(context, tenant, as_json=as_json)


def deny_call(
    context: typer.Context, id: Ticket, tenant: Tenant = "", as_json: AsJson = False
) -> None:
    """Deny one call, and list what still waits.

    The same call made again waits again.

        toolcrib approvals deny 3f2a
    """
    ask_daemon(daemon_place(context.obj), "decide", id=id, allowed=False, tenant=tenant)
    list_approvals(context, tenant, as_json=as_json)


APPROVALS = CommandGroup(
    """Show the calls that wait for your approval, and decide.

An approval is for one call: this caller, this tool as it is now, these arguments.

    toolcrib approvals list
    toolcrib approvals allow 3f2a
""",
    {"list": list_approvals, "allow": allow_call, "deny": deny_call},
)


def _show(waiting: list[dict[str, Any]]) -> None:
    screen = console()
    for each in waiting:
        head = f"{each['id']}  {each['name']} ({each['permission_kind']}) for {each['caller']}"
        screen.print(safe(f"{head}, {each['expires_s']:.0f} s left"), style="bold", soft_wrap=True)
        screen.print(safe(_arguments(each["arguments"])), soft_wrap=True)
    if not waiting:
        screen.print("No call waits for approval.")


def _arguments(arguments: object) -> str:
    """On one line; what is longer on several, as the lines of a program are."""
    line = json.dumps(arguments, ensure_ascii=False)
    whole = json.dumps(arguments, ensure_ascii=False, indent=1)
    return indent(line if len(line) <= LONGEST_LINE else whole, "  ")
