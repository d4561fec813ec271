"""The command `toolcrib run`."""

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from toolcrib.cli.call import approver_here, text_of_content
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, print_json, safe
from toolcrib.errors import ConfigError
from toolcrib.program import ProgramCheck, ProgramOutcome

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
    belongs to no server. It is checked before anything is called. If a call needs approval, you are
    asked on the terminal. Without a terminal the program is suspended: resume it at one, or after
    the call was approved in the gateway (`toolcrib approvals`). Needs the extra `code`. Exit code
    1: it was refused, failed or suspended; standard error says why.

        echo 'await tools.read_file(path="notes.md")' | toolcrib run -
        toolcrib run --check report.py
        toolcrib run --resume 4kQ1ZcVtqvB9
    """
    if bool(file) == bool(resume) or (resume and check):
        raise ConfigError("name a FILE, or a program that waits with --resume HANDLE, and not both")
    options: GlobalOptions = context.obj
    given = "" if resume else program_text(file)
    with options.crib() as crib:
        if check:
            verdict = crib.check_program(given)
            _print_check(verdict, as_json=as_json)
            failed = not verdict.ok
        else:
            go, approver = crib.resume if resume else crib.run, approver_here(yes=yes)
            outcome = asyncio.run(go(resume or given, approver=approver))
            _print_outcome(outcome, as_json=as_json)
            failed = not outcome.ok
    if failed:
        raise typer.Exit(1)


def program_text(file: str) -> str:
    """The program in a file, or on standard input for `-`. Raises `ConfigError`."""
    if file == STDIN:
        return sys.stdin.read()
    path = Path(file)
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}; name a file with a program") from None


def _print_check(check: ProgramCheck, *, as_json: bool) -> None:
    if as_json:
        print_json(_plain(check))
        return
    for tool in check.tools:
        asks = ", asks first" if tool.asks else ""
        console().print(safe(f"{tool.path}  {tool.permission_kind}{asks}"), soft_wrap=True)
    if not check.ok:
        console(to_stderr=True).print(safe(f"toolcrib: {check.text}"), soft_wrap=True)


def _print_outcome(outcome: ProgramOutcome, *, as_json: bool) -> None:
    if as_json:
        print_json(_plain(outcome))
        return
    if outcome.content is not None:
        console().print(safe(text_of_content(outcome.content)), soft_wrap=True)
    screen = console(to_stderr=True)
    for call in outcome.calls:
        code = f" ({call.code})" if call.code else ""
        screen.print(safe(f"{call.tool}: {call.effect}{code}, {call.size:,} characters"))
    if error := outcome.error:
        message = f"toolcrib: {error.message} ({error.code}, {error.effect})"
        screen.print(safe(message), soft_wrap=True)
    if outcome.suspended:
        screen.print(safe(f"Go on with it: toolcrib run --resume {outcome.suspended}"))


def _plain(value: ProgramCheck | ProgramOutcome) -> dict[str, Any]:
    """With the names of all fields: `asdict` leaves named tuples as lists."""
    plain = asdict(value)
    for key in ("tools", "problems", "calls"):
        if key in plain:
            plain[key] = [each._asdict() for each in getattr(value, key)]
    return plain
