"""The commands `toolcrib keys`: list, add, rotate, remove."""

import time
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated, Any, cast

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.cli.time_span import span_s
from toolcrib.errors import ConfigError
from toolcrib.gateway import (
    DEFAULT_PROFILE,
    KEY_SCOPES,
    KeyScope,
    KeyTerms,
    keys_of,
    profile_named,
)
from toolcrib.store import StoredKey

Expires = Annotated[
    str, typer.Option("--expires", metavar="IN", help="When it stops working: 12h, 90d.")
]
_METRICS: KeyScope = "metrics"


def list_keys(context: typer.Context, as_json: AsJson = False) -> None:
    """List the keys: what each is good for, until when, and when it was last used."""
    _show(context, as_json=as_json)


def add_key(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The client that the key is for.")],
    profile: Annotated[
        list[str] | None,
        typer.Option("--profile", metavar="NAME", help="A profile it is for; may be repeated."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="SCOPE", help="call, search or metrics; may be repeated."),
    ] = None,
    expires: Expires = "",
    rate: Annotated[
        int | None, typer.Option("--rate", min=1, help="Requests a minute that it may make.")
    ] = None,
    at_once: Annotated[
        int | None, typer.Option("--at-once", min=1, help="Requests at a time that it may make.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key for a client, and print it.

    It is shown once; what is kept is a hash of it. Without `--profile` it is good for the profile
    `default`. Its scope is what it may do: `call` (find tools and call them; so it is without
    `--scope`), `search` (find and read them, and call none), `metrics` (open `/metrics`).

        toolcrib keys add ci --profile reading --expires 90d
        toolcrib keys add prometheus --scope metrics
    """
    options: GlobalOptions = context.obj
    settings, scopes = options.settings(), _scopes(scope or ["call"])
    if profile and scopes == (_METRICS,):
        raise ConfigError("a key to /metrics has no profile; leave --profile out, or add a --scope")
    profiles = tuple(profile or (DEFAULT_PROFILE,))
    for each in profiles:
        profile_named(settings.gateway, each)
    terms = KeyTerms(profiles, scopes, _moment(expires), rate, at_once)
    with closing(keys_of(settings)) as keys:
        shown = keys.add(name, terms)
        (made,) = (each for each in keys.all() if each.name == name)
    if as_json:
        print_json({**_facts(made), "key": shown})
    else:
        _show_secret(shown, to_connect=scopes != (_METRICS,))


def rotate_key(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="KEY", help="The key, by its client.")],
    grace: Annotated[
        str,
        typer.Option("--grace", metavar="FOR", help="How long the old one works too: 10m, 24h."),
    ] = "0s",
    expires: Expires = "",
    as_json: AsJson = False,
) -> None:
    """Give a key another secret, and print it.

    The one it had is refused from that moment on, or after `--grace`. Name, profiles, scopes and
    limits stay, and so does the time when it expires, unless you give another one.

        toolcrib keys rotate ci --grace 24h
    """
    options: GlobalOptions = context.obj
    with closing(keys_of(options.settings())) as keys:
        shown = keys.rotate(name, grace_s=span_s(grace, "--grace"), expires_at=_moment(expires))
    if as_json:
        print_json({"name": name, "key": shown})
    else:
        _show_secret(shown, to_connect=True)


def remove_key(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="KEY", help="The key, by its client.")],
    as_json: AsJson = False,
) -> None:
    """Take a key back.

    It is refused from that moment on, by a running gateway too.

        toolcrib keys remove ci
    """
    options: GlobalOptions = context.obj
    with closing(keys_of(options.settings())) as keys:
        keys.remove(name)
    _show(context, as_json=as_json)


KEYS = CommandGroup(
    """List the keys of clients, make one, rotate one, or take one back.

A key is shown once, when it is made; what is kept is a hash of it.

    toolcrib keys list
    toolcrib keys add ci --profile reading --expires 90d
    toolcrib keys rotate ci --grace 24h
    toolcrib keys remove ci
""",
    {"list": list_keys, "add": add_key, "rotate": rotate_key, "remove": remove_key},
)


def _scopes(given: list[str]) -> tuple[KeyScope, ...]:
    for each in given:
        if each not in KEY_SCOPES:
            raise ConfigError(f"--scope takes {', '.join(KEY_SCOPES)}, not {each!r}")
    return tuple(dict.fromkeys(cast("list[KeyScope]", given)))


def _moment(expires: str) -> float | None:
    return time.time() + span_s(expires, "--expires") if expires else None


def _show_secret(shown: str, *, to_connect: bool) -> None:
    console().print(safe(shown), soft_wrap=True)
    todo = "It is not shown again. Send it as `Authorization: Bearer KEY`"
    or_else = ", or give it to `toolcrib connect` as TOOLCRIB_KEY." if to_connect else "."
    console(to_stderr=True).print(safe(f"{todo}{or_else}"))


def _show(context: typer.Context, *, as_json: bool) -> None:
    options: GlobalOptions = context.obj
    with closing(keys_of(options.settings())) as keys:
        every = keys.all()
    if as_json:
        print_json([_facts(key) for key in every])
        return
    columns = ("key", "made", "expires", "last used", "may", "//profiles")
    rows = [_row(key) for key in every]
    console().print(table("", columns, rows) if rows else "There are no keys.")


def _facts(key: StoredKey) -> Mapping[str, Any]:
    fields = ("name", "id", "profiles", "scopes", "made_at", "expires_at", "rate", "at_once")
    used = {"used_at": key.used_at or None}  # and not the hashes
    return {**{field: getattr(key, field) for field in fields}, **used}


def _row(key: StoredKey) -> tuple[str, ...]:
    has_expired = key.expires_at is not None and key.expires_at <= time.time()
    expires = "never" if key.expires_at is None else _day(key.expires_at)
    return (
        key.name,
        _day(key.made_at),
        f"{expires} (expired)" if has_expired else expires,
        _day(key.used_at) if key.used_at else "never",
        ", ".join(key.scopes),
        ", ".join(key.profiles),
    )


def _day(since: float) -> str:
    return datetime.fromtimestamp(since, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
