"""The command `toolcrib servers`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, cast

import typer

from toolcrib.cli.listing import ask_if_running, list_servers
from toolcrib.cli.opening import Opening
from toolcrib.cli.place import place_for
from toolcrib.cli.screen import AsJson, console, print_json, safe, table, warn
from toolcrib.gateway.asking_operator import is_running
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
    """List the configured MCP servers: how each is, and what to do about it.

    A gateway that runs is asked: it knows what runs, what it takes, and why something does not.
    Where none runs, this is what was known last. Starts none; with `--start` each is started for
    the look.

        toolcrib servers
        toolcrib servers --start
    """
    opening: Opening = context.obj
    if start and is_running(place_for(opening)):
        list_servers(opening)
    asked = ask_if_running(opening, "servers")
    if asked is None:
        found = _known(opening, start=start)
    else:
        found = _of_gateway(cast("dict[str, Any]", asked))
    if as_json:
        print_json([each.as_json() for each in found])
        return
    rows = [_row(each) for each in found]
    shown = [
        place
        for place, column in enumerate(COLUMNS)
        if column not in IF_ANY or any(row[place] for row in rows)
    ]
    columns = [COLUMNS[place] for place in shown]
    console().print(table("", columns, [[row[place] for place in shown] for row in rows]))
    for each in found:
        if each.remedy:
            console().print(safe(f"{each.server} → {each.remedy}"), soft_wrap=True)
    if asked is None:
        console().print("No gateway runs; this is what was known last.")


def _known(opening: Opening, *, start: bool) -> list[ServerStatus]:
    with opening.mcp() as servers:
        if start:
            refresh([source for source in servers.sources if not source.config.disabled])
        return [source.status() for source in servers.sources]


def _of_gateway(asked: Mapping[str, Any]) -> list[ServerStatus]:
    for broken in asked["broken_files"]:
        warn(broken)
    return [ServerStatus.of_json(each) for each in asked["servers"]]


def _row(status: ServerStatus) -> tuple[object, ...]:
    return (
        status.server,
        status.transport,
        "listing" if status.listing else status.state,
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
