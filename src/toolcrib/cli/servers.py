"""The commands `toolcrib servers` and `toolcrib remove`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from time import time
from typing import Annotated, Any, cast

import typer

from toolcrib.cli.global_options import GlobalOptions, ask_if_running, daemon_place, tell_gateway
from toolcrib.cli.refresh import list_servers
from toolcrib.cli.screen import (
    AsJson,
    Footnote,
    console,
    print_footnotes,
    print_json,
    safe,
    table,
    warn,
)
from toolcrib.errors import ConfigError
from toolcrib.gateway import is_daemon_running
from toolcrib.settings import Settings, own_servers_file
from toolcrib.sources.mcp import (
    OwnServersFile,
    ServerStatus,
    forget_server,
    read_servers,
    refresh_all,
)
from toolcrib.text import list_nearest

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
    options: GlobalOptions = context.obj
    if start and is_daemon_running(daemon_place(options)):
        list_servers(options)
    asked = ask_if_running(options, "servers")
    if asked is None:
        found = _known(options, start=start)
    else:
        found = _of_gateway(cast("dict[str, Any]", asked))
    if as_json:
        print_json([each.as_json() for each in found])
        return
    console().print(table("", COLUMNS, map(_row, found)))
    noted = [each for each in found if each.remedy or each.starting]
    print_footnotes(
        Footnote(each.server, each.starting or each.reason, each.remedy) for each in noted
    )
    if asked is None:
        console().print("No gateway runs; this is what was known last.")


def _known(options: GlobalOptions, *, start: bool) -> list[ServerStatus]:
    with options.mcp() as servers:
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


# The command `toolcrib remove`.


def remove_command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SERVER", help="The server, as it was called.")],
    as_json: AsJson = False,
) -> None:
    """Remove a server that was added, and all that is known of it.

    Its tools, decisions and login go with it. One that a file of your own names stays there.
    """
    options: GlobalOptions = context.obj
    settings, file = options.settings(), own_servers_file()
    known = read_servers([file]).servers if file.exists() else ()
    if not OwnServersFile(file).drop(name):
        raise ConfigError(_why_not_removed(name, settings))
    tell_gateway(options)  # it stops the server before what is known of it goes
    for server in known:
        if server.id == name:
            forget_server(server, settings.state_folder)
    if as_json:
        print_json({"server": name, "file": str(file)})
    else:
        console().print(safe(f"{name} is removed from {file}."), soft_wrap=True)


def _why_not_removed(name: str, settings: Settings) -> str:
    """Why it cannot be removed: it stands elsewhere, or nowhere."""
    names: list[str] = []
    for file in settings.mcp_config:
        ids = [each.id for each in read_servers([file]).servers]
        if name in ids and file != own_servers_file():
            return f"server {name!r} stands in {file}, which is not ours: remove it there"
        names += ids if file == own_servers_file() else []
    near = list_nearest(name, names)
    return f"no server {name!r} was added; nearest: {near}"
