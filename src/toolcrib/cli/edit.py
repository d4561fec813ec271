"""The command `toolcrib edit`."""

import json
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, cast

import typer

from toolcrib.cli.add import Env, NoStart, handed_on, warn_of_values
from toolcrib.cli.consent import at_terminal
from toolcrib.cli.editor import edited
from toolcrib.cli.global_options import GlobalOptions, tell_gateway
from toolcrib.cli.refresh import list_servers, listed_line
from toolcrib.cli.screen import AsJson, console, print_json, safe
from toolcrib.cli.servers import not_our_server, warn_of_exposed
from toolcrib.client_config import diff
from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject
from toolcrib.settings import own_servers_file
from toolcrib.sources.mcp import OwnServersFile, RefreshResult
from toolcrib.text import list_nearest


class EntryChanges(NamedTuple):
    """What the options say; empty if they say nothing."""

    command: Sequence[str]
    args: Sequence[str]
    drop_args: Sequence[str]
    env: Sequence[str]
    url: str
    set: Sequence[str]


def edit_command(
    context: typer.Context,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="The server, by its name.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND", help="Another command with all its arguments, after `--`."
        ),
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="Add an argument at the end; may be repeated."),
    ] = None,
    drop_arg: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="Take an argument out; may be repeated."),
    ] = None,
    env: Env = None,
    url: Annotated[str, typer.Option(metavar="URL", help="Its address, if it has one.")] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a key, `call_timeout_s=120`, or one within, `headers.X-Key=${K}`; without a "
            "value, take it out. May be repeated.",
        ),
    ] = None,
    no_start: NoStart = False,
    as_json: AsJson = False,
) -> None:
    """Change one of your servers, and list its tools.

    Without options, on a terminal, its entry opens in your editor (`VISUAL`, `EDITOR`), until it
    can be used. Shows the difference, without secrets. Another argument or variable of the same
    program needs no new review. Exit code 1: the entry was changed, but the server does not start.

        toolcrib edit files --arg ~/pictures
        toolcrib edit github --env GITHUB_TOKEN --set call_timeout_s=120
        toolcrib edit sqlite -- uvx --with 'mcp<2' mcp-server-sqlite --db-path notes.db
    """
    options: GlobalOptions = context.obj
    settings, file = options.settings(), OwnServersFile(own_servers_file())
    before = file.read(server)
    if before is None:
        raise not_our_server(server, settings, "change")
    changes = EntryChanges(command or (), arg or (), drop_arg or (), env or (), url, set_ or ())
    put = partial(file.change, server, before)
    after = _changed(before, changes) if any(changes) else _by_hand(server, before, put)
    if any(changes) and after != before:
        put(after)
    warn_of_values(_texts(after, "env"), _texts(before, "env"))
    warn_of_exposed([own_servers_file()], server)
    tell_gateway(options)
    listed = None if no_start or after == before else list_servers(options, [server])[0]
    lines = diff(_text(before), _text(after), server, "json")
    if as_json:
        report = {
            "server": server,
            "file": str(file.path),
            "changed": after != before,
            "diff": lines,
        }
        print_json({**report, "listed": listed and listed._asdict()})
    else:
        _show(server, lines, listed)
    if listed and listed.error:
        raise typer.Exit(1)


def _by_hand(name: str, before: JsonObject, put: Callable[[JsonObject], None]) -> JsonObject:
    """What an editor leaves of the entry, once it could be written."""
    if not at_terminal():
        todo = "say what to change by options, or run it on a terminal, where your editor opens"
        raise ConfigError(f"nothing to change: {todo}")
    text = edited(_text(before), name, lambda text: put(_read(text)))
    return before if text is None else _read(text)


def _read(text: str) -> JsonObject:
    """Raises `ConfigError` for what is no object."""
    try:
        entry: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON: {error}; correct it") from error
    if not isinstance(entry, dict):
        raise ConfigError("an entry is an object: `{...}`; correct it")
    return cast("JsonObject", entry)


def _text(entry: JsonObject) -> str:
    return json.dumps(entry, indent=2, ensure_ascii=False) + "\n"


def _changed(before: JsonObject, changes: EntryChanges) -> JsonObject:
    """The entry with what the options say. Raises `ConfigError`."""
    after: dict[str, Any] = json.loads(json.dumps(before))
    if changes.command:
        after["command"], *after["args"] = changes.command
    args: list[object] = after.get("args") or []
    for each in changes.drop_args:
        if each not in args:
            near = list_nearest(each, [a for a in args if isinstance(a, str)])
            raise ConfigError(f"there is no argument {each!r}; nearest: {near}")
        args = [arg for arg in args if arg != each]
    if changes.args or changes.drop_args:
        after["args"] = [*args, *changes.args]
    given, names = handed_on(changes.env)
    if changes.env:
        env: dict[str, object] = {**(after.pop("env", None) or {}), **given}
        left = {name: value for name, value in env.items() if name not in names}
        after |= {"env": left} if left else {}
        if env_from := _handed_on(after.pop("env_from", None), given, names):
            after["env_from"] = env_from
    if changes.url:
        after["url"] = changes.url
    for each in changes.set:
        _set(after, each)
    return after


def _handed_on(before: Json, given: Collection[str], names: Sequence[str]) -> Json:
    """What is handed on, without the names that have a value now, in either way to write it down.

    That is a list of names, or an object.
    """
    if isinstance(before, dict):
        old = {name: ours for name, ours in before.items() if name not in given}
        return {**old, **{name: name for name in names}}
    listed: list[Json] = [*before] if isinstance(before, list) else []
    return [each for each in dict.fromkeys([*map(str, listed), *names]) if each not in given]


def _set(entry: dict[str, Any], text: str) -> None:
    """One key, or one within: `headers.X-Key=...`. Raises `ConfigError`."""
    path, sign, value = text.partition("=")
    outer, dot, inner = path.partition(".")
    if not sign or not outer or (dot and not inner):
        raise ConfigError(f"`--set` takes KEY=VALUE, not {text!r}")
    if not dot:
        _put(entry, outer, value)
        return
    table = entry.setdefault(outer, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{outer!r} is not an object, so it has no {inner!r}; set it whole")
    _put(cast("dict[str, Any]", table), inner, value)
    if not table:
        del entry[outer]


def _put(table: dict[str, Any], key: str, value: str) -> None:
    """A number, a flag, a list or an object is what it is in JSON, all else a text."""
    if not value:
        table.pop(key, None)
        return
    try:
        table[key] = json.loads(value)
    except (ValueError, RecursionError):
        table[key] = value


def _texts(entry: JsonObject, key: str) -> dict[str, str]:
    values = entry.get(key)
    if not isinstance(values, dict):
        return {}
    return {name: text for name, text in values.items() if isinstance(text, str)}


def _show(name: str, lines: Sequence[str], listed: RefreshResult | None) -> None:
    screen = console()
    if not lines:
        screen.print(safe(f"{name} is as it was."))
        return
    for line in lines:
        style = "green" if line.startswith("+") else "red" if line.startswith("-") else None
        screen.print(safe(line), style=style, soft_wrap=True)
    screen.print(safe(f"{name} is changed."))
    if listed:
        screen.print(safe(listed_line(listed)), soft_wrap=True)
