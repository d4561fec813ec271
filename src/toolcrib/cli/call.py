"""The command `toolcrib call`."""

import asyncio
import json
import sys
from typing import Annotated

import typer

from toolcrib.cli.consent import at_terminal
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, print_json, safe, warn
from toolcrib.execute import ApprovalRequest, Approver
from toolcrib.model import CallError, Outcome

STDIN = "-"
NOBODY_HERE = "this call needs approval, and there is no terminal to ask on; add --yes"


def call_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="TOOL", help="The tool; its bare name will do if it is unique.")
    ],
    arguments: Annotated[
        str, typer.Argument(help="Its arguments as a JSON object; `-` reads them from stdin.")
    ] = "{}",
    yes: Annotated[bool, typer.Option("--yes", help="Approve the call beforehand.")] = False,
    timeout_s: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0.001,
            help="Seconds it may take. [default: the setting]",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Call a tool and print what it returns.

    If the call needs approval, you are asked on the terminal. Without a terminal it is refused,
    unless you give `--yes`. Exit code 1: the call was refused or failed; standard error says why.

        toolcrib call mcp_time_get_current_time '{"timezone": "UTC"}'
        echo '{"path": "notes.md"}' | toolcrib call read_file -
    """
    options: GlobalOptions = context.obj
    given = sys.stdin.read() if arguments == STDIN else arguments
    with options.crib() as crib:
        outcome = asyncio.run(
            crib.call(name, given, timeout_s=timeout_s, approver=_approver(yes=yes))
        )
        print_json(outcome) if as_json else _show(outcome)
    if outcome.error:
        raise typer.Exit(1)


def _approver(*, yes: bool) -> Approver | None:
    """Who approves: `--yes`, else the person at the terminal, else nobody."""
    if yes:
        return _agree
    return _ask if at_terminal() else None


async def _agree(_request: ApprovalRequest, /) -> bool:
    return True


async def _ask(request: ApprovalRequest, /) -> bool:
    arguments = json.dumps(request.arguments, ensure_ascii=False, indent=2)
    screen = console(to_stderr=True)
    screen.print(safe(f"{request.name} ({request.permission_kind}): {request.description}"))
    screen.print(safe(arguments))
    return typer.confirm("Call it?", default=False, err=True)


def _show(outcome: Outcome) -> None:
    for note in outcome.repaired:
        warn(f"repaired: {note}")
    if outcome.error:
        _show_error(outcome.error)
        return
    console().print(safe(_text(outcome)), soft_wrap=True)


def _show_error(error: CallError) -> None:
    """Why it did not end well, on standard error, with the schema where the arguments are wrong."""
    screen = console(to_stderr=True)
    message = NOBODY_HERE if error.code == "approval_needed" else error.message
    screen.print(safe(f"toolcrib: {message} ({error.code}, {error.effect})"), soft_wrap=True)
    if error.schema is not None:
        screen.print(safe(json.dumps(error.schema, ensure_ascii=False)), soft_wrap=True)


def _text(outcome: Outcome) -> str:
    """Text as it is, also that of a single block; anything else as JSON."""
    match outcome.content:
        case str(text) | [{"type": "text", "text": str(text)}]:
            return text
        case content:
            return json.dumps(content, ensure_ascii=False, indent=2)
