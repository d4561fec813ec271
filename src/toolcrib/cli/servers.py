"""The commands `toolcrib servers` and `toolcrib remove`."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib import gateway
from toolcrib.cli.global_options import GlobalOptions, daemon_place, tell_gateway
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
from toolcrib.sources import mcp

if TYPE_CHECKING:
    from toolcrib.settings import Settings
    from toolcrib.sources.mcp import ServerStatus

COLUMNS = (
    *("server", "state", ">tools", ">waiting", ">flagged", "last seen"),
    *("?by", "?>memory MB", "?>start s"),
)


def servers_command(
    context: typer.Context,
    start: Annotated[
        bool, typer.Option("--start", help="Start them first, and measure them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the configured MCP servers: the state of each, and what to do about it.

    If a gateway runs, it knows what runs, how much memory that takes, and why a server failed. If
    no gateway runs, this is what was known last. Starts no server without `--start`.

        toolcrib servers
        toolcrib servers --start
    """
    options: GlobalOptions = context.obj
    place = daemon_place(options)
    if start and gateway.is_daemon_running(place):
        from toolcrib.cli.refresh import list_servers

        list_servers(options)
    reply = gateway.query_daemon(place, "servers")
    servers = _last_known(options, start=start) if reply is None else _of_gateway(reply)
    warn_of_exposed(options.settings().mcp_config)
    if as_json:
        print_json([each.as_json() for each in servers])
        return
    console().print(table("", COLUMNS, map(_row, servers)))
    noted = [each for each in servers if each.remedy or each.starting]
    print_footnotes(
        Footnote(each.server, each.starting or each.reason, each.remedy) for each in noted
    )
    if reply is None:
        is_there = gateway.is_daemon_running(place)
        why = "The gateway does not answer" if is_there else "No gateway runs"
        console().print(f"{why}; this is what was known last.")


def warn_of_exposed(files: Sequence[Path], *names: str) -> None:
    """Say which files with secrets the sandboxes of these servers, or of all, can read."""
    for server in mcp.read_servers(files).servers:
        command = server.transport
        is_meant = not names or server.id in names
        if not is_meant or not isinstance(command, mcp.ServerCommand):
            continue
        if found := mcp.exposed_secrets(command):
            more = f" and {len(found) - 1} more" if found[1:] else ""
            todo = "move its script to a folder without them"
            warn(f"{server.id} can read {found[0]}{more} in its sandbox; {todo}")


def _last_known(options: GlobalOptions, *, start: bool) -> "list[ServerStatus]":
    with options.mcp() as servers:
        if start:
            mcp.refresh_all([source for source in servers.sources if not source.config.disabled])
        return [source.status() for source in servers.sources]


def _of_gateway(reply: Mapping[str, Any]) -> "list[ServerStatus]":
    for problem in reply["broken_files"]:
        warn(problem)
    return [mcp.ServerStatus.of_json(each) for each in reply["servers"]]


def _row(status: "ServerStatus") -> tuple[object, ...]:
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


def _state(status: "ServerStatus") -> str:
    if status.listing:
        return "listing"
    return "failed" if status.failure and status.state == "asleep" else status.state


def _day(since: float) -> str:
    """The time of today, or the day of another."""
    when, now = (datetime.fromtimestamp(each, UTC).astimezone() for each in (since, time()))
    if not since:
        return "never"
    return when.strftime("%H:%M" if when.date() == now.date() else "%Y-%m-%d")


def remove_command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SERVER", help="The server, by its name.")],
    as_json: AsJson = False,
) -> None:
    """Remove a server that was added, and all that is known of it.

    Its tools, decisions and login go with it. A server in a file of your own is not removed.
    """
    from toolcrib.settings import own_servers_file
    from toolcrib.wiring import stores_of

    options: GlobalOptions = context.obj
    settings, file = options.settings(), own_servers_file()
    servers = mcp.read_servers([file]).servers if file.exists() else ()
    if not mcp.OwnServersFile(file).drop(name):
        raise not_our_server(name, settings, "remove")
    tell_gateway(options)  # it stops the server before what is known of it goes
    for server in servers:
        if server.id == name:
            with closing(stores_of(settings)) as stores:
                mcp.McpServers.forget(server, stores)
    if as_json:
        print_json({"server": name, "file": str(file)})
    else:
        console().print(safe(f"{name} is removed from {file}."), soft_wrap=True)


def not_our_server(name: str, settings: "Settings", action: str) -> ConfigError:
    """That a server stands in another file, where one may do this, or that it was never added."""
    from toolcrib.settings import own_servers_file
    from toolcrib.text import list_nearest

    ours = own_servers_file()
    for file in settings.mcp_config:
        if file != ours and any(name == each.id for each in mcp.read_servers([file]).servers):
            where = f"server {name!r} stands in {file}, which is not ours"
            return ConfigError(f"{where}: {action} it there")
    names = [each.id for each in mcp.read_servers([ours]).servers] if ours.exists() else []
    return ConfigError(f"no server {name!r} was added; nearest: {list_nearest(name, names)}")
