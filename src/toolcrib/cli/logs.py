"""The command `toolcrib logs`: what servers wrote."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, print_json_line, safe
from toolcrib.gateway import log_file
from toolcrib.settings import Settings
from toolcrib.sources.mcp import last_log_lines, log_path, read_servers, unknown_server

POLL_S = 0.3
LOG_LINES = 50

Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on with new ones, until Ctrl-C.")]
Lines = Annotated[
    int, typer.Option("--lines", "-n", metavar="N", min=0, help="How many of the last ones.")
]


def new_lines(path: Path) -> Iterator[str]:
    """What is written from now on, line by line, for ever: also to the file that comes after."""
    at = path.stat().st_size if path.exists() else 0
    while True:
        with suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(at)
            yield from _while_there(path, file)
        at = 0
        time.sleep(POLL_S)


def _while_there(path: Path, file: BufferedReader) -> Iterator[str]:
    """The lines that come to an open file, until another is in its place."""
    unread, is_there = b"", True
    while is_there:
        is_there = _is_at(path, file)  # looked at first: what it has by then is read to the end
        *lines, unread = (unread + file.read()).split(b"\n")
        yield from map(_decoded, lines)
        if not lines:
            time.sleep(POLL_S)


def _is_at(path: Path, file: BufferedReader) -> bool:
    """Whether an open file is still the one at its path."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\n")


def logs_command(
    context: typer.Context,
    server: Annotated[
        str, typer.Argument(help="The MCP server; without one, the log of the gateway.")
    ] = "",
    follow: Follow = False,
    lines: Lines = LOG_LINES,
    as_json: AsJson = False,
) -> None:
    """Show the log of an MCP server: its starts and ends, and what it writes to stderr.

    This works with and without a gateway, and starts nothing. Secrets of the server's entry are
    taken out before a line is written. With `--json` each line is a JSON text.
    """
    options: GlobalOptions = context.obj
    settings = options.settings()
    path = _log_path(settings, server)
    last = last_log_lines(path, lines)
    if not last and not follow and not path.exists():
        console(to_stderr=True).print(safe(_no_log(server)), soft_wrap=True)
        return
    with suppress(KeyboardInterrupt):
        for line in chain(last, new_lines(path) if follow else ()):
            print_json_line(line) if as_json else console().print(safe(line), soft_wrap=True)


def _log_path(settings: Settings, server: str) -> Path:
    """The log of a server, or of the gateway. Raises `ConfigError` with the nearest names."""
    if not server:
        return log_file(settings.state_folder)
    configured = read_servers(settings.mcp_config)
    names = [*(each.id for each in configured.servers), *configured.broken]
    if server not in names:
        raise unknown_server(server, names)
    return log_path(settings.state_folder, server)


def _no_log(server: str) -> str:
    if server:
        return f"{server} has no log: it was never started. `toolcrib refresh {server}` starts it."
    return (
        "The gateway has no log file: it has one when a client starts it. "
        "One that you started with `toolcrib serve` logs to its terminal."
    )
