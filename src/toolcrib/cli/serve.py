"""The command `toolcrib serve`."""

import asyncio
import os
import sys
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.place import place_for
from toolcrib.cli.screen import AsJson, print_json, warn
from toolcrib.connect import NEEDS_UNIX, READY_LINE, DaemonInfo, can_have_daemon
from toolcrib.crib import Crib
from toolcrib.errors import ConfigError
from toolcrib.gateway import LOCAL_USER, Principal, log_to_file, log_to_stderr, profile_named
from toolcrib.settings import Settings


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
    as_json: AsJson = False,
) -> None:
    """Serve everything as one MCP server on this machine.

    It answers `toolcrib connect`, and HTTP with a key. It owns the servers, the index and the calls
    that wait, for all clients together. Stop it with Ctrl-C or `toolcrib gateway stop`; SIGHUP
    reads the settings again. With `--stdio` there is no daemon: one process for one client.

        toolcrib serve
        toolcrib serve --stdio --profile reading
    """
    opening: Opening = context.obj
    if stdio:
        _serve_stdio(opening, profile)
    else:
        _serve(opening, detached=detached, as_json=as_json)


def _serve(opening: Opening, *, detached: bool, as_json: bool) -> None:
    if not can_have_daemon():
        raise ConfigError(NEEDS_UNIX)
    # The SDK and the web server take a second to load, and no other command needs them.
    from toolcrib.gateway import run_daemon  # noqa: PLC0415

    log_to_stderr()

    def ready(runtime: DaemonInfo) -> None:
        if detached:
            log_to_file(Settings().state_folder)
            _step_back()
        elif as_json:
            print_json({"pid": runtime.pid, "address": _address(runtime)})
            sys.stdout.flush()
        else:
            sys.stderr.write(f"toolcrib: serving at {_address(runtime)} and to toolcrib connect\n")

    run_daemon(
        place_for(opening),
        opening.lasting_settings,
        opening.files,
        ready,
        detached=detached,
    )


def _address(runtime: DaemonInfo) -> str:
    return f"http://127.0.0.1:{runtime.port}/mcp"


def _step_back() -> None:
    """Tell the shim that started us, and have nothing more to do with it."""
    os.write(1, READY_LINE)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.close(nothing)


def _serve_stdio(opening: Opening, profile: str) -> None:
    from toolcrib.gateway import serve_stdio  # noqa: PLC0415 - as above

    def crib(loop: asyncio.AbstractEventLoop) -> Crib:
        settings, broken = opening.lasting_settings()
        opened = Crib.from_settings(settings, loop=loop)
        for problem in (*filter(None, [broken]), *opened.problems):
            warn(problem)
        return opened

    settings, _ = opening.lasting_settings()
    serve_stdio(crib, Principal(LOCAL_USER, profile_named(settings.gateway, profile)))
