"""The command `toolcrib logs`."""

from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.log_lines import last_lines, new_lines
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json_line, safe
from toolcrib.errors import ConfigError
from toolcrib.gateway import log_file
from toolcrib.settings import Settings
from toolcrib.sources.mcp import log_path, read_servers
from toolcrib.text import nearest_names

LINES = 50

Follow = Annotated[
    bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")
]
Lines = Annotated[
    int, typer.Option("--lines", "-n", metavar="N", min=0, help="How many of the last ones.")
]


def logs_command(
    context: typer.Context,
    server: Annotated[
        str, typer.Argument(help="The MCP server; without one, the log of the gateway.")
    ] = "",
    follow: Follow = False,
    lines: Lines = LINES,
    as_json: AsJson = False,
) -> None:
    """Show the log of an MCP server: its starts and ends, and what it writes to stderr.

    It works whether or not a gateway runs, and starts nothing. Secrets of the server's entry are
    taken out before anything is written. With `--json` each line is a JSON text.
    """
    opening: Opening = context.obj
    settings = opening.settings()
    path = _path(settings, server)
    last = last_lines(path, lines)
    if not last and not follow and not path.exists():
        console(to_stderr=True).print(safe(_nothing(server)), soft_wrap=True)
        return
    with suppress(KeyboardInterrupt):
        for line in chain(last, new_lines(path) if follow else ()):
            print_json_line(line) if as_json else console().print(safe(line), soft_wrap=True)


def _path(settings: Settings, server: str) -> Path:
    """The log that is meant. Raises `ConfigError` with the nearest names."""
    if not server:
        return log_file(settings.state_folder)
    found = read_servers(settings.mcp_config)
    names = [*(each.id for each in found.servers), *found.broken]
    if server not in names:
        near = ", ".join(nearest_names(server, names)) or "none"
        raise ConfigError(f"no MCP server {server!r} is configured; nearest: {near}")
    return log_path(settings.state_folder, server)


def _nothing(server: str) -> str:
    if server:
        return f"{server} has no log: it was never started. `toolcrib refresh {server}` starts it."
    return (
        "The gateway has no log file: it has one when a client starts it. "
        "One that you started with `toolcrib serve` logs to its terminal."
    )
