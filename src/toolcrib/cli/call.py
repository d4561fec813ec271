"""The command `toolcrib call`."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib import gateway
from toolcrib.cli.consent import at_terminal
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.inquiry import gateway_to_ask, warn_of
from toolcrib.cli.screen import AsJson, console, print_json, safe, warn

if TYPE_CHECKING:
    from toolcrib.crib import Crib
    from toolcrib.execute import ApprovalRequest, Approver

Approve = Callable[[Mapping[str, Any]], bool]
"""Whether a call may be made, by what is known of it."""

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

    If a gateway runs, it makes the call, with the servers that run already. If the call needs
    approval, you are asked on the terminal. Without a terminal it is refused, unless you give
    `--yes`. Exit code 1: the call was refused or failed; standard error says why.

        toolcrib call mcp_time_get_current_time '{"timezone": "UTC"}'
        echo '{"path": "notes.md"}' | toolcrib call read_file -
    """
    options: GlobalOptions = context.obj
    given = sys.stdin.read() if arguments == STDIN else arguments
    asked = {"name": name, "arguments": given, "timeout_s": timeout_s}
    approve, place = approve_here(yes=yes), gateway_to_ask(options)
    outcome: Mapping[str, Any] | None = None
    if place is not None:
        outcome = gateway.call_by_daemon(place, "call", warn_of, approve, **asked)
    if outcome is None:
        with options.crib() as crib:
            outcome = _call(crib, approve, **asked)
            _print(outcome, as_json=as_json)
    else:
        _print(outcome, as_json=as_json)
    if outcome["error"]:
        raise typer.Exit(1)


def _call(crib: "Crib", approve: Approve | None, **asked: Any) -> Mapping[str, Any]:  # noqa: ANN401 - as it is asked
    """Make the call in this process; servers that it starts are stopped with the crib."""
    import asyncio
    from dataclasses import asdict

    return asdict(asyncio.run(crib.call(**asked, approver=approver_of(approve))))


def approve_here(*, yes: bool) -> Approve | None:
    """Who approves: `--yes`, else the person at the terminal, else nobody."""
    if yes:
        return lambda _request: True
    return _ask if at_terminal() else None


def approver_of(approve: Approve | None) -> "Approver | None":
    """The same for calls that this process makes."""
    from dataclasses import asdict

    if approve is None:
        return None

    async def approver(request: "ApprovalRequest", /) -> bool:
        return approve(asdict(request))

    return approver


def _ask(request: Mapping[str, Any]) -> bool:
    arguments = json.dumps(request["arguments"], ensure_ascii=False, indent=2)
    screen = console(to_stderr=True)
    about = f"{request['name']} ({request['permission_kind']}): {request['description']}"
    screen.print(safe(about))
    screen.print(safe(arguments))
    return typer.confirm("Call it?", default=False, err=True)


def _print(outcome: Mapping[str, Any], *, as_json: bool) -> None:
    print_json(outcome) if as_json else _show(outcome)


def _show(outcome: Mapping[str, Any]) -> None:
    for note in outcome["repaired"]:
        warn(f"repaired: {note}")
    if outcome["error"]:
        _show_error(outcome["error"])
        return
    console().print(safe(text_of_content(outcome["content"])), soft_wrap=True)


def _show_error(error: Mapping[str, Any]) -> None:
    """Why it did not end well, on standard error, with the schema where the arguments are wrong."""
    screen = console(to_stderr=True)
    code = error["code"]
    message = NOBODY_HERE if code == "approval_needed" else error["message"]
    screen.print(safe(f"toolcrib: {message} ({code}, {error['effect']})"), soft_wrap=True)
    if error["schema"] is not None:
        screen.print(safe(json.dumps(error["schema"], ensure_ascii=False)), soft_wrap=True)


def text_of_content(content: object) -> str:
    """Text as it is, also that of a single block; anything else as JSON."""
    match content:
        case str(text) | [{"type": "text", "text": str(text)}]:
            return text
        case _:
            return json.dumps(content, ensure_ascii=False, indent=2)
