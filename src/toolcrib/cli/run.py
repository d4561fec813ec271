"""The command `toolcrib run`."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from toolcrib import gateway
from toolcrib.cli.call import Approve, approve_here, approver_of, text_of_content
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.inquiry import gateway_to_ask, inquire, warn_of
from toolcrib.cli.screen import AsJson, console, print_json, safe
from toolcrib.errors import ConfigError
from toolcrib.program import ProgramCheck, ProgramProblem

STDIN = "-"


def run_command(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The program; `-` reads it from stdin.")
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Check it and list its tools; run nothing.")
    ] = False,
    resume: Annotated[
        str, typer.Option("--resume", metavar="HANDLE", help="Go on with one that waits for you.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Approve its calls beforehand.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a program that calls tools, and print what it prints and its last value.

    A program is a few lines of Python. A tool is a function of its server; `tools` has all that
    belongs to no server. It is checked before anything is called. If a gateway runs, it runs the
    program, unless that may call functions: these act where you are. If a call needs approval, you
    are asked on the terminal. Without a terminal the program is suspended: resume it at one, or
    after the call was approved in the gateway (`toolcrib approvals`). Needs the extra `code`. Exit
    code 1: it was refused, failed or suspended; standard error says why.

        echo 'await tools.read_file(path="notes.md")' | toolcrib run -
        toolcrib run --check report.py
        toolcrib run --resume 4kQ1ZcVtqvB9
    """
    if bool(file) == bool(resume) or (resume and check):
        raise ConfigError("name a FILE, or a program that waits with --resume HANDLE, and not both")
    options: GlobalOptions = context.obj
    given = "" if resume else program_text(file)
    if check:
        verdict = inquire(options, "check", program=given)
        _print_check(verdict, as_json=as_json)
        failed = bool(verdict["problems"])
    else:
        outcome = _outcome(options, approve_here(yes=yes), program=given, handle=resume)
        _print_outcome(outcome, as_json=as_json)
        failed = bool(outcome["error"])
    if failed:
        raise typer.Exit(1)


def _outcome(
    options: GlobalOptions, approve: Approve | None, *, program: str, handle: str
) -> Mapping[str, Any]:
    """What came of a program: at the gateway of these settings if one runs, else of one here."""
    if place := gateway_to_ask(options):
        asked = {"program": program, "handle": handle}
        outcome = gateway.call_by_daemon(place, "run", warn_of, approve, **asked)
        if outcome is not None:
            return outcome
    with options.crib() as crib:
        go, approver = crib.resume if handle else crib.run, approver_of(approve)
        return gateway.program_reply(asyncio.run(go(handle or program, approver=approver)))


def program_text(file: str) -> str:
    """The program in a file, or on standard input for `-`. Raises `ConfigError`."""
    if file == STDIN:
        return sys.stdin.read()
    path = Path(file)
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}; name a file with a program") from None


def _print_check(check: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(check)
        return
    for tool in check["tools"]:
        asks = ", asks first" if tool["asks"] else ""
        shown = f"{tool['path']}  {tool['permission_kind']}{asks}"
        console().print(safe(shown), soft_wrap=True)
    if problems := [ProgramProblem(**each) for each in check["problems"]]:
        text = ProgramCheck((), tuple(problems), tuple(check["signatures"])).text
        console(to_stderr=True).print(safe(f"toolcrib: {text}"), soft_wrap=True)


def _print_outcome(outcome: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(outcome)
        return
    if outcome["content"] is not None:
        console().print(safe(text_of_content(outcome["content"])), soft_wrap=True)
    screen = console(to_stderr=True)
    for call in outcome["calls"]:
        code = f" ({call['code']})" if call["code"] else ""
        screen.print(safe(f"{call['tool']}: {call['effect']}{code}, {call['size']:,} characters"))
    if error := outcome["error"]:
        message = f"toolcrib: {error['message']} ({error['code']}, {error['effect']})"
        screen.print(safe(message), soft_wrap=True)
    if handle := outcome["suspended"]:
        screen.print(safe(f"Go on with it: toolcrib run --resume {handle}"))
