"""The command `toolcrib servers`."""

from datetime import UTC, datetime
from time import time
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, Note, console, print_json, print_notes, safe, table
from toolcrib.sources.mcp.refresh import refresh
from toolcrib.sources.mcp.source import ServerStatus

NAME = "servers"

COLUMNS = (
    *("server", "state", ">tools", ">waiting", ">flagged", "last seen"),
    *("?by", "?>memory MB", "?>start s"),
)


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
    console().print(table("", COLUMNS, map(_row, found)))
    print_notes(
        Note(each.server, each.failure.message, f"toolcrib refresh {each.server}")
        for each in found
        if each.failure
    )
    unseen = sum(not each.seen for each in found)
    if unseen:
        console().print(safe(f"{unseen} never reached: run `toolcrib refresh`."))


def _row(status: ServerStatus) -> tuple[object, ...]:
    return (
        status.server,
        "failed" if status.failure and status.state == "asleep" else status.state,
        status.tools,
        status.waiting or "",
        status.flagged or "",
        _day(status.seen),
        status.transport,
        f"{status.memory_bytes / 1e6:.0f}" if status.memory_bytes else "",
        f"{status.start_s:.1f}" if status.start_s else "",
    )


def _day(since: float) -> str:
    """The time of today, or the day of another."""
    when, now = (datetime.fromtimestamp(each, UTC).astimezone() for each in (since, time()))
    if not since:
        return "never"
    return when.strftime("%H:%M" if when.date() == now.date() else "%Y-%m-%d")
