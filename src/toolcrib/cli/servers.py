"""The command `toolcrib servers`."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.sources.mcp.refresh import refresh
from toolcrib.sources.mcp.source import ServerStatus

NAME = "servers"

COLUMNS = (
    *("server", "by", "state", ">tools", ">waiting", ">flagged", "protocol"),
    *(">start s", ">memory MB", "last seen", "last error"),
)
IF_ANY = frozenset({">waiting", ">flagged", ">memory MB"})
"""Columns that are left out where no server has anything in them: a screen is narrow."""


def run(
    context: typer.Context,
    start: Annotated[
        bool, typer.Option("--start", help="Start them first, and see what they take.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the configured MCP servers and what is known of them.

    Starts none, and shows no memory then: what runs in another process is not seen from here. With
    `--start` each is started for the look, and stopped after it.
    """
    opening: Opening = context.obj
    with opening.mcp() as servers:
        if start:
            refresh([source for source in servers.sources if not source.config.disabled])
        found = [source.status() for source in servers.sources]
    if as_json:
        print_json(found)
        return
    rows = [_row(each) for each in found]
    shown = [
        place
        for place, column in enumerate(COLUMNS)
        if column not in IF_ANY or any(row[place] for row in rows)
    ]
    columns = [COLUMNS[place] for place in shown]
    console().print(table("", columns, [[row[place] for place in shown] for row in rows]))
    unseen = sum(not each.seen for each in found)
    if unseen:
        console().print(safe(f"{unseen} never reached: run `toolcrib refresh`."))


def _row(status: ServerStatus) -> tuple[object, ...]:
    return (
        status.server,
        status.transport,
        status.state,
        status.tools,
        status.waiting or "",
        status.flagged or "",
        status.protocol or "-",
        f"{status.start_s:.1f}" if status.start_s else "-",
        f"{status.memory_bytes / 1e6:.0f}" if status.memory_bytes else "",
        _day(status.seen),
        status.failure.message if status.failure else "",
    )


def _day(since: float) -> str:
    when = datetime.fromtimestamp(since, UTC).astimezone()
    return when.strftime("%Y-%m-%d %H:%M") if since else "never"
