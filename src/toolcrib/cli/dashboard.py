"""The command `toolcrib dashboard`, and the dashboard beside `toolcrib serve`."""

import subprocess
import sys
import webbrowser
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib import gateway
from toolcrib.cli.global_options import GlobalOptions, daemon_place
from toolcrib.cli.screen import AsJson, console, print_json_line
from toolcrib.errors import ConfigError
from toolcrib.model import Json

if TYPE_CHECKING:
    from toolcrib.crib import Crib
    from toolcrib.dashboard import AskGateway

STOP_S = 5.0


def dashboard_command(
    context: typer.Context,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the link; open no browser.")
    ] = False,
    module: Annotated[
        str | None,
        typer.Option(
            "--module",
            metavar="MODULE:NAME",
            help="A crib in your program: how it ranks, and its tools. It imports your module.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Open the dashboard in the browser: what waits for you, and how the servers are.

    Serves pages on this machine alone, until Ctrl-C, or until nobody has been logged in for ten
    minutes. The link is good once, for a minute. With it you may look for 12 hours, and act for 15
    minutes; Enter prints a new link. Works with and without a running gateway.

        toolcrib dashboard
        toolcrib dashboard --no-browser --port 7700
        toolcrib dashboard --module my_agent:crib
    """
    from toolcrib.dashboard import (  # noqa: PLC0415 - `serve` needs none of it
        DashboardOptions,
        Operations,
        run_dashboard,
        show_crib,
    )

    options: GlobalOptions = context.obj
    opened: list[str] = []

    def on_link(link: str) -> None:
        print_json_line({"link": link}) if as_json else _show(link)
        if not opened and not no_browser:
            webbrowser.open(link)
        opened.append(link)

    is_asked = sys.stdin.isatty()
    if module is not None:
        crib = _crib_of(module)
        how = DashboardOptions(crib.settings.dashboard, port, on_enter=is_asked)
        show_crib(crib, how, on_link)
        return
    shown = options.settings().dashboard
    options.shared.leave()  # each change is sent by itself
    run_dashboard(
        Operations(
            options.settings,
            _asking(options),
            partial(gateway.watch_daemon, daemon_place(options)),
            lambda: gateway.keys_of(options.settings()),
        ),
        DashboardOptions(shown, port, on_enter=is_asked),
        on_link,
    )


def _crib_of(reference: str) -> "Crib":
    """The crib of a program, by its module and its name there. Raises `ConfigError`."""
    from toolcrib.crib import Crib  # noqa: PLC0415 - as above

    module, _, name = reference.partition(":")
    if not module or not name:
        raise ConfigError(f"--module {reference}: name both, such as `my_agent:crib`")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), name, None)
    except Exception as error:  # an import runs code that is not ours
        cause = f"{type(error).__name__}: {error}"
        problem = f"--module {reference}: {module} cannot be imported ({cause})"
        raise ConfigError(
            f"{problem}; run this where `python -c 'import {module}'` works"
        ) from error
    if not isinstance(found, Crib):
        raise ConfigError(f"--module {reference}: {name} in {module} is no crib; name a `Crib`")
    return found


def _asking(options: GlobalOptions) -> "AskGateway":
    place = daemon_place(options)

    def ask(do: str, /, **more: Json) -> Json:
        if not gateway.is_daemon_running(place):
            return None
        return gateway.ask_daemon(place, do, **more)

    return ask


def _show(link: str) -> None:
    screen = console()
    screen.print("The dashboard, by a link that is good once, for a minute:")
    screen.print(link, soft_wrap=True, markup=False)
    if sys.stdin.isatty():
        screen.print("Enter prints a new link, Ctrl-C ends it.")


@contextmanager
def dashboard_beside(options: GlobalOptions) -> Generator[None]:
    """A dashboard in a process of its own, for as long as this lasts."""
    words = [f"--config={options.config}"] if options.config else []
    words += [f"--mcp-config={path.absolute()}" for path in options.mcp_config]
    command = [sys.executable, "-m", "toolcrib.cli", *words, "dashboard"]
    with subprocess.Popen(command) as process:  # noqa: S603 - ourselves
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
