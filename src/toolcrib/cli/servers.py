"""The command `toolcrib servers`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from time import time
from typing import Annotated, Any, cast

import typer

from toolcrib.cli.listing import ask_if_running, list_servers
from toolcrib.cli.opening import Opening
from toolcrib.cli.place import place_for
from toolcrib.cli.screen import AsJson, Note, console, print_json, print_notes, table, warn
from toolcrib.gateway import is_daemon_running
from toolcrib.sources.mcp import ServerStatus, refresh_all

COLUMNS = (
    *("server", "state", ">tools", ">waiting", ">flagged", "last seen"),
    *("?by", "?>memory MB", "?>start s"),
)


def servers_command(
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
    if start and is_daemon_running(place_for(opening)):
        list_servers(opening)
    asked = ask_if_running(opening, "servers")
    if asked is None:
        found = _known(opening, start=start)
    else:
        found = _of_gateway(cast("dict[str, Any]", asked))
    if as_json:
        print_json([each.as_json() for each in found])
        return
    console().print(table("", COLUMNS, map(_row, found)))
    noted = [each for each in found if each.remedy or each.starting]
    print_notes(Note(each.server, each.starting or each.reason, each.remedy) for each in noted)
    if asked is None:
        console().print("No gateway runs; this is what was known last.")


def _known(opening: Opening, *, start: bool) -> list[ServerStatus]:
    with opening.mcp() as servers:
        if start:
            refresh_all([source for source in servers.sources if not source.config.disabled])
        return [source.status() for source in servers.sources]


def _of_gateway(asked: Mapping[str, Any]) -> list[ServerStatus]:
    for broken in asked["broken_files"]:
        warn(broken)
    return [ServerStatus.of_json(each) for each in asked["servers"]]


def _row(status: ServerStatus) -> tuple[object, ...]:
    return (
        status.server,
        _state(status),
        status.tools,
        status.waiting or "",
        status.flagged or "",
        _day(status.seen),
        status.transport,
        f"{status.memory_bytes / 1e6:.0f}" if status.memory_bytes else "",
        f"{status.start_s:.1f}" if status.start_s else "",
    )


def _state(status: ServerStatus) -> str:
    if status.listing:
        return "listing"
    return "failed" if status.failure and status.state == "asleep" else status.state


def _day(since: float) -> str:
    """The time of today, or the day of another."""
    when, now = (datetime.fromtimestamp(each, UTC).astimezone() for each in (since, time()))
    if not since:
        return "never"
    return when.strftime("%H:%M" if when.date() == now.date() else "%Y-%m-%d")
