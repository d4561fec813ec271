"""The commands `toolcrib apps`: list, set-command, forget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.screen import AsJson, console, print_json, safe, table, warn
from toolcrib.errors import ConfigError, SourceError
from toolcrib.settings import Settings
from toolcrib.sources.apps import KnownApp, SDKToolsCache, public_file, read_address
from toolcrib.system import is_running
from toolcrib.text import list_nearest


@dataclass(frozen=True, slots=True)
class AppRow:
    """One app. An empty `launch` means that it starts by hand only."""

    app: str
    version: str
    tools: int
    launch: tuple[str, ...]


def list_apps(
    context: typer.Context,
    app: Annotated[str, typer.Argument(help="Only this app.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the apps that have registered, and what each is launched by."""
    settings, cache = _cache(context)
    apps, problems = cache.read_all()
    for problem in problems:
        warn(problem)
    rows = [_row(each, settings.apps.launch) for each in ([_app_named(app, apps)] if app else apps)]
    print_json(rows) if as_json else _show(rows)


def set_command(
    context: typer.Context,
    app: Annotated[str, typer.Argument(help="The app.")],
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND", help="The command and its arguments, after `--`."),
    ],
    as_json: AsJson = False,
) -> None:
    """Set the command that launches an app.

    If an app names another command than at first, it is used only after you set it here. This works
    while no process lets apps join.

        toolcrib apps set-command editor -- editor --headless
    """
    settings, cache = _cache(context)
    registered = _app_named(app, cache.read_all()[0])
    _refuse_while_served(_folder(settings))
    cache.write(replace(registered, launch=tuple(command)))
    list_apps(context, as_json=as_json)


def forget_app(
    context: typer.Context,
    app: Annotated[str, typer.Argument(help="The app.")],
    as_json: AsJson = False,
) -> None:
    """Forget an app and its tools.

    This works while no process lets apps join.

        toolcrib apps forget editor
    """
    settings, cache = _cache(context)
    registered = _app_named(app, cache.read_all()[0])
    _refuse_while_served(_folder(settings))
    cache.forget(registered.name)
    list_apps(context, as_json=as_json)


def _older_spelling(
    context: typer.Context,
    app: Annotated[str, typer.Argument()] = "",
    command: Annotated[list[str] | None, typer.Argument()] = None,
    forget: Annotated[bool, typer.Option("--forget")] = False,
    as_json: AsJson = False,
) -> None:
    """`toolcrib apps NAME -- COMMAND` and `toolcrib apps NAME --forget`."""
    if forget and command:
        raise ConfigError("give --forget or a command, not both")
    if forget:
        forget_app(context, app, as_json=as_json)
    elif command:
        set_command(context, app, command, as_json=as_json)
    else:
        list_apps(context, app, as_json=as_json)


APPS = CommandGroup(
    """List the apps that have registered; change or forget one.

An app is launched by the command that it named first, unless you set another.

    toolcrib apps list
    toolcrib apps set-command editor -- editor --headless
    toolcrib apps forget editor
""",
    {"list": list_apps, "set-command": set_command, "forget": forget_app},
    hidden={"older-spelling": _older_spelling},
)


def _folder(settings: Settings) -> Path:
    return settings.state_folder / "apps"


def _cache(context: typer.Context) -> tuple[Settings, SDKToolsCache]:
    options: GlobalOptions = context.obj
    settings = options.settings()
    return settings, SDKToolsCache(_folder(settings) / "known")


def _app_named(name: str, apps: Sequence[KnownApp]) -> KnownApp:
    for app in apps:
        if app.name == name:
            return app
    near = list_nearest(name, [app.name for app in apps])
    raise ConfigError(f"no app {name!r} has registered; nearest: {near}")


def _refuse_while_served(folder: Path) -> None:
    """A process that lets apps join would write its own view over ours."""
    try:
        address = read_address(public_file(folder))
    except SourceError:
        return
    if is_running(address.pid):
        raise ConfigError(f"process {address.pid} lets apps join now; stop it first")


def _row(app: KnownApp, configured: Mapping[str, tuple[str, ...]]) -> AppRow:
    launch = configured.get(app.name, app.launch)
    return AppRow(app.name, app.version, len(app.tools), tuple(launch))


def _show(rows: Sequence[AppRow]) -> None:
    cells = [
        (row.app, row.version or "-", row.tools, " ".join(row.launch) or "by hand") for row in rows
    ]
    console().print(table("", ["app", "version", ">tools", "//launch"], cells))
    if not rows:
        console().print(safe("No app has registered yet: see `toolcrib help apps`."))
