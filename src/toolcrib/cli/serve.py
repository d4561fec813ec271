"""The command `toolcrib serve`."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.place import place_for
from toolcrib.cli.screen import AsJson, print_json, warn
from toolcrib.config import Settings
from toolcrib.connect.place import NEEDS_UNIX, Runtime, can_have_daemon
from toolcrib.connect.starting import READY
from toolcrib.crib import Crib
from toolcrib.errors import ConfigError
from toolcrib.gateway.guest import LOCAL, Guest, profile_of
from toolcrib.gateway.log import log_to_file, log_to_stderr

if TYPE_CHECKING:
    from toolcrib.gateway.holding import Holding

TAKE_OVER_S = 15.0
"""How long a daemon that a shim started waits for one that is about to end."""
END_S = 20.0


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
    from toolcrib.gateway import holding as holdings  # noqa: PLC0415 - it needs Unix

    log_to_stderr()
    holding = holdings.Holding(place_for(opening), TAKE_OVER_S if detached else 0.0)

    def ready(runtime: Runtime) -> None:
        if detached:
            log_to_file(Settings().state_folder)
            _step_back()
        elif as_json:
            print_json({"pid": runtime.pid, "address": _address(runtime)})
            sys.stdout.flush()
        else:
            sys.stderr.write(f"toolcrib: serving at {_address(runtime)} and to toolcrib connect\n")

    try:
        _run(opening, holding, ready, ends_when_idle=detached)
    finally:
        holding.close()


def _run(
    opening: Opening, holding: "Holding", ready: Callable[[Runtime], None], *, ends_when_idle: bool
) -> None:
    # The SDK and the web server take a second to load, and no other command needs them.
    from toolcrib.gateway import daemon  # noqa: PLC0415
    from toolcrib.gateway.descriptors import allow_many  # noqa: PLC0415
    from toolcrib.gateway.windows import Windows  # noqa: PLC0415

    async def serve() -> None:
        crib = partial(Crib.from_settings, loop=asyncio.get_running_loop())
        opened = daemon.Opening(opening.lasting_settings, crib, Windows, opening.files)
        serving = daemon.Daemon(opened, holding, ends_when_idle=ends_when_idle)
        await serving.run(ready, _end_anyway)

    allow_many()
    asyncio.run(serve())


def _address(runtime: Runtime) -> str:
    return f"http://127.0.0.1:{runtime.port}/mcp"


def _step_back() -> None:
    """Tell the shim that started us, and have nothing more to do with it."""
    os.write(1, READY)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.close(nothing)


def _end_anyway() -> None:
    """A thread that hangs in somebody's tool must not keep a daemon that was told to stop."""
    last = threading.Timer(END_S, os._exit, (1,))
    last.daemon = True
    last.start()


def _serve_stdio(opening: Opening, profile: str) -> None:
    from toolcrib.gateway.stdio import serve_stdio  # noqa: PLC0415 - as above

    def crib(loop: asyncio.AbstractEventLoop) -> Crib:
        settings, broken = opening.lasting_settings()
        opened = Crib.from_settings(settings, loop=loop)
        for problem in (*filter(None, [broken]), *opened.problems):
            warn(problem)
        return opened

    settings, _ = opening.lasting_settings()
    serve_stdio(crib, Guest(LOCAL, profile_of(settings.gateway, profile)))
