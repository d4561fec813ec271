"""The commands `toolcrib serve` and `toolcrib connect`: the daemon, and the pipe to it.

What runs for `connect` is `toolcrib.connect`, which `main` calls without loading any of this. Here
is its help, and whatever its own parser leaves to us.
"""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.dashboard import dashboard_beside
from toolcrib.cli.global_options import GlobalOptions, daemon_place
from toolcrib.cli.screen import AsJson, print_json
from toolcrib.connect import (
    NEEDS_UNIX,
    READY_LINE,
    ConnectOptions,
    DaemonInfo,
    StdioOpening,
    can_have_daemon,
    claim_stdio,
    connect,
)
from toolcrib.errors import ConfigError


def serve_command(
    context: typer.Context,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Serve one client on standard input and output.")
    ] = False,
    profile: Annotated[
        str,
        typer.Option(
            "--profile", metavar="NAME", help="With --stdio: the part of the pool to serve."
        ),
    ] = "default",
    detached: Annotated[
        bool,
        typer.Option("--detached", help="As `toolcrib connect` starts it: with a log file."),
    ] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Open the dashboard as well, beside it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Serve everything as one MCP server on this machine.

    It answers `toolcrib connect`, and HTTP with a key. It owns the servers, the index and the calls
    that wait, for all clients together. Stop it with Ctrl-C or `toolcrib gateway stop`. SIGTERM
    lets running requests end first (`gateway.drain_s`); SIGHUP reads the settings again. With
    `--stdio` there is no daemon: one process for one client.

        toolcrib serve
        toolcrib serve --stdio --profile reading
    """
    options: GlobalOptions = context.obj
    if stdio:
        _serve_stdio(options, profile)
    else:
        _serve(options, detached=detached, dashboard=dashboard, as_json=as_json)


def _serve(options: GlobalOptions, *, detached: bool, dashboard: bool, as_json: bool) -> None:
    if not can_have_daemon():
        raise ConfigError(NEEDS_UNIX)
    from toolcrib.gateway import run_daemon  # noqa: PLC0415 - it needs Unix

    def ready(info: DaemonInfo) -> None:
        if detached:
            _step_back()
        elif as_json:
            print_json({"pid": info.pid, "address": info.address, "protection": info.protection})
            sys.stdout.flush()
        else:
            where = f"{info.address} ({info.protection})"
            sys.stderr.write(f"toolcrib: serving at {where} and to toolcrib connect\n")
        if dashboard:
            beside.enter_context(dashboard_beside(options))

    options.lasting_settings()  # with the documents of a shared store, which it follows by itself
    options.shared.leave()
    with ExitStack() as beside:
        run_daemon(
            daemon_place(options),
            options.lasting_settings,
            options.files,
            ready,
            detached=detached,
        )


def _step_back() -> None:
    """Tell the shim that started us, and have nothing more to do with it."""
    os.write(1, READY_LINE)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.close(nothing)


def _serve_stdio(options: GlobalOptions, profile: str) -> None:
    """For arguments that `main` leaves to us."""
    from toolcrib.cli.stdio import open_stdio  # noqa: PLC0415 - it loads the SDK, as the next
    from toolcrib.gateway import serve_stdio  # noqa: PLC0415

    with claim_stdio() as descriptors:
        serve_stdio(open_stdio(options, profile), StdioOpening(descriptors))


def connect_command(
    context: typer.Context,
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help="The part of the pool to serve.")
    ] = "default",
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Settings file, as before the command."),
    ] = None,
    mcp_config: Annotated[
        list[Path] | None,
        typer.Option(
            "--mcp-config", metavar="FILE", help="File with servers, as before the command."
        ),
    ] = None,
) -> None:
    """Be the MCP server that a client launches: a pipe to the daemon.

    The daemon is started if it does not run, and all clients share it. When it restarts, clients
    notice only a short pause. Put a key into the variable `TOOLCRIB_KEY` to limit a client to what
    its key allows.
    """
    options: GlobalOptions = context.obj
    files = (*options.mcp_config, *(mcp_config or ()))
    connect_options = ConnectOptions(
        str(config or options.config or ""), tuple(map(str, files)), profile
    )
    raise typer.Exit(connect(connect_options))
