"""The commands `toolcrib keys`: list, add, remove."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.errors import ConfigError
from toolcrib.gateway import DEFAULT_PROFILE, Keys, profile_named


def list_keys(context: typer.Context, as_json: AsJson = False) -> None:
    """List the keys: for whom each is, when it was made, and for which profiles."""
    _show(_keys(context), as_json=as_json)


def add_key(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The client that the key is for.")],
    profile: Annotated[
        list[str] | None,
        typer.Option("--profile", metavar="NAME", help="A profile it is for; may be repeated."),
    ] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="It opens `/metrics`, and nothing else.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a key for a client, and print it.

    It is shown once; what is kept is a hash of it. Without `--profile` it is good for the profile
    `default`.

        toolcrib keys add ci --profile reading
        toolcrib keys add prometheus --metrics
    """
    options: GlobalOptions = context.obj
    if metrics and profile:
        raise ConfigError("a key to /metrics has no profile; take one of the two options")
    settings, profiles = options.settings(), tuple(profile or (DEFAULT_PROFILE,))
    for each in profiles:
        profile_named(settings.gateway, each)
    secret = Keys(settings.state_folder).add(name, profiles, metrics=metrics)
    if as_json:
        print_json({"name": name, "profiles": () if metrics else profiles, "key": secret})
        return
    console().print(safe(secret), soft_wrap=True)
    todo = "It is not shown again. Send it as `Authorization: Bearer KEY`"
    or_else = "." if metrics else ", or give it to `toolcrib connect` as TOOLCRIB_KEY."
    console(to_stderr=True).print(safe(f"{todo}{or_else}"))


def remove_key(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="KEY", help="The key, by its client.")],
    as_json: AsJson = False,
) -> None:
    """Take a key back.

    It is refused from that moment on, by a running gateway too.

        toolcrib keys remove ci
    """
    keys = _keys(context)
    keys.remove(name)
    _show(keys, as_json=as_json)


KEYS = CommandGroup(
    """List the keys of clients, make one, or take one back.

A key is shown once, when it is made; what is kept is a hash of it.

    toolcrib keys list
    toolcrib keys add ci --profile reading
    toolcrib keys remove ci
""",
    {"list": list_keys, "add": add_key, "remove": remove_key},
)


def _keys(context: typer.Context) -> Keys:
    options: GlobalOptions = context.obj
    return Keys(options.settings().state_folder)


def _show(keys: Keys, *, as_json: bool) -> None:
    every = keys.all()
    if as_json:
        fields = ("name", "profiles", "metrics", "made_at")  # and not the hash
        print_json([{field: getattr(key, field) for field in fields} for key in every])
        return
    rows = [
        (key.name, _day(key.made_at), ", ".join(key.profiles) or "/metrics alone") for key in every
    ]
    console().print(
        table("", ("key", "made", "//profiles"), rows) if rows else "There are no keys."
    )


def _day(since: float) -> str:
    return datetime.fromtimestamp(since, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
