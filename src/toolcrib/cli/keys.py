"""The command `toolcrib keys`."""

from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.errors import ConfigError
from toolcrib.gateway import DEFAULT_PROFILE, Keys, profile_named
from toolcrib.settings import Settings


def keys_command(
    context: typer.Context,
    action: Annotated[
        Literal["list", "add", "remove"], typer.Argument(help="`list`, `add` or `remove`.")
    ] = "list",
    name: Annotated[
        str, typer.Argument(metavar="KEY", help="The client that the key is for.")
    ] = "",
    profile: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            help="With `add`: a profile it is good for; may be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the keys of clients, make one, or take one back.

    A key is shown once, when it is made; what is kept is a hash of it. One that was taken back is
    refused from that moment on, by a running gateway too.

        toolcrib keys add ci --profile reading
        toolcrib keys remove ci
    """
    opening: Opening = context.obj
    settings = opening.settings()
    keys = Keys(settings.state_folder)
    if action != "list" and not name:
        raise ConfigError(f"say which key to {action}: `toolcrib keys {action} NAME`")
    match action:
        case "add":
            _add(keys, settings, name, tuple(profile or (DEFAULT_PROFILE,)), as_json=as_json)
        case "remove":
            keys.remove(name)
            _list(keys, as_json=as_json)
        case "list":
            _list(keys, as_json=as_json)


def _add(
    keys: Keys, settings: Settings, name: str, profiles: tuple[str, ...], *, as_json: bool
) -> None:
    for each in profiles:
        profile_named(settings.gateway, each)
    secret = keys.add(name, profiles)
    if as_json:
        print_json({"name": name, "profiles": profiles, "key": secret})
        return
    console().print(safe(secret), soft_wrap=True)
    told = "It is not shown again. Send it as `Authorization: Bearer KEY`, or give it to"
    console(to_stderr=True).print(safe(f"{told} `toolcrib connect` as TOOLCRIB_KEY."))


def _list(keys: Keys, *, as_json: bool) -> None:
    found = keys.all()
    if as_json:
        shown = ("name", "profiles", "made_at")
        print_json([{field: getattr(key, field) for field in shown} for key in found])
        return
    rows = [(key.name, _day(key.made_at), ", ".join(key.profiles)) for key in found]
    console().print(
        table("", ("key", "made", "//profiles"), rows) if rows else "There are no keys."
    )


def _day(since: float) -> str:
    return datetime.fromtimestamp(since, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
