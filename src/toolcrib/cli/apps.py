"""The command `toolcrib apps`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, safe, table, warn
from toolcrib.errors import ConfigError, SourceError
from toolcrib.sources.apps.address import public_file, read_address
from toolcrib.sources.apps.cache import KnownApp, SDKToolsCache
from toolcrib.sources.private_file import runs
from toolcrib.text.nearest import nearest


@dataclass(frozen=True, slots=True)
class Row:
    """One app. An empty `launch` means that it starts by hand only."""

    app: str
    version: str
    tools: int
    launch: tuple[str, ...]


def apps_command(
    context: typer.Context,
    app: Annotated[str, typer.Argument(help="The app that is to be changed.")] = "",
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="What to launch it by from now on, after `--`."),
    ] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Forget the app and its tools.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the apps that have registered; change or forget one.

    What is launched is what an app said when it was first seen. When it says otherwise later, it
    needs your word: `toolcrib apps NAME -- COMMAND ARGS`, while no process lets apps join.

        toolcrib apps editor -- editor --headless
        toolcrib apps editor --forget
    """
    opening: Opening = context.obj
    settings = opening.settings()
    folder = settings.state_folder / "apps"
    cache = SDKToolsCache(folder / "known")
    known, problems = cache.read_all()
    for problem in problems:
        warn(problem)
    if forget or command:
        _change(cache, folder, _one(app, known), command or [], forget=forget)
        known, _ = cache.read_all()
    elif app:
        known = (_one(app, known),)
    rows = [_row(each, settings.apps.launch) for each in known]
    print_json(rows) if as_json else _show(rows)


def _one(name: str, known: Sequence[KnownApp]) -> KnownApp:
    found = next((app for app in known if app.name == name), None)
    if found is None:
        near = ", ".join(nearest(name, [app.name for app in known])) or "none"
        raise ConfigError(f"no app {name!r} has registered; nearest: {near}")
    return found


def _change(
    cache: SDKToolsCache, folder: Path, app: KnownApp, command: Sequence[str], *, forget: bool
) -> None:
    if forget and command:
        raise ConfigError("give --forget or a command, not both")
    _refuse_while_served(folder)
    if forget:
        cache.forget(app.name)
    else:
        cache.write(replace(app, launch=tuple(command)))


def _refuse_while_served(folder: Path) -> None:
    """A process that lets apps join would write its own view over ours."""
    try:
        address = read_address(public_file(folder))
    except SourceError:
        return
    if runs(address.pid):
        raise ConfigError(f"process {address.pid} lets apps join now; stop it first")


def _row(app: KnownApp, configured: Mapping[str, tuple[str, ...]]) -> Row:
    launch = configured.get(app.name, app.launch)
    return Row(app.name, app.version, len(app.tools), tuple(launch))


def _show(rows: Sequence[Row]) -> None:
    shown = [
        (row.app, row.version or "-", row.tools, " ".join(row.launch) or "by hand") for row in rows
    ]
    console().print(table("", ["app", "version", ">tools", "//launch"], shown))
    if not rows:
        console().print(safe("No app has registered yet: see docs/guide/apps.md."))
