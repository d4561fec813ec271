"""The command `toolcrib add`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.client_plans import show_diff
from toolcrib.cli.consent import Consent
from toolcrib.cli.global_options import GlobalOptions, tell_gateway
from toolcrib.cli.refresh import list_servers, show_listing
from toolcrib.cli.registry import entry_from_registry
from toolcrib.cli.screen import AsJson, console, print_json, safe, warn
from toolcrib.cli.servers import warn_of_exposed
from toolcrib.client_config import diff
from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject
from toolcrib.settings import Settings, own_servers_file
from toolcrib.sources.mcp import OwnServersFile, ServerAddress, read_servers

Env = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY[=VALUE]",
        help="`KEY` hands on your variable, `KEY=VALUE` sets one; may be repeated.",
    ),
]
NoStart = Annotated[
    bool, typer.Option("--no-start", help="Only write it down; list its tools later.")
]


def add_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="What to call the server; with `--from`, its own name will do.")
    ] = "",
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="The command and its arguments, after `--`."),
    ] = None,
    url: Annotated[
        str, typer.Option(metavar="URL", help="The address of a server that runs elsewhere.")
    ] = "",
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="'NAME: VALUE'", help="`Name: value` to send to it; may be repeated."),
    ] = None,
    env: Env = None,
    from_: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FILE",
            help="A `server.json` of the MCP registry; `-` reads standard input.",
        ),
    ] = "",
    use: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="With --from: which package to use: npm, pypi, oci, nuget or remote.",
        ),
    ] = "",
    value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TEXT", help="With --from: what to fill in for an input; may be repeated."
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="With --from: agree to what is shown, and fill in defaults."),
    ] = False,
    no_start: NoStart = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be added.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add an MCP server to your servers, and list its tools.

    The server is written to `servers.json` in the configuration folder, which every command reads.
    Refer to secrets instead of writing them down: `--env TOKEN`, or `--header 'X-Key: ${KEY}'`. A
    running gateway has it at once. Exit code 1: the server was added, but could not be started.

        toolcrib add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
        toolcrib add github --env GITHUB_TOKEN -- docker run -i ghcr.io/github/github-mcp-server
        toolcrib add wiki --url https://wiki.example/mcp --header 'X-Key: ${WIKI_KEY}'
        toolcrib add --from server.json
    """
    options: GlobalOptions = context.obj
    settings, file = options.settings(), own_servers_file()
    if from_:
        if url or command or header or env:
            raise ConfigError("`--from` says how to reach it; leave the other options out")
        consent, inherits = Consent(dry_run, yes, as_json), settings.mcp.env_from
        name, entry = entry_from_registry(from_, name, use, value or (), consent, inherits)
    elif not name or use or value:
        raise ConfigError("say what to call it, and how to reach it: see `toolcrib add --help`")
    else:
        entry = _entry(url, command or [], header or [], env or [])
    _refuse_second(name, settings)
    if dry_run:
        _preview(file, name, entry, as_json=as_json)
        return
    OwnServersFile(file).put(name, entry)
    if not as_json:
        console().print(safe(f"{name} is added to {file}."), soft_wrap=True)
    warn_of_exposed([file], name)
    if no_start:
        tell_gateway(options)
    list_now = list_servers if as_json else show_listing
    listed = None if no_start else list_now(options, [name])[0]
    if as_json:
        print_json({"server": name, "file": str(file), "listed": listed and listed._asdict()})
    elif no_start:
        console().print(safe(f"List its tools with `toolcrib refresh {name}`."))
    if listed and listed.error:
        raise typer.Exit(1)


def _preview(file: Path, name: str, entry: JsonObject, *, as_json: bool) -> None:
    lines = diff(*OwnServersFile(file).preview({name: entry}), str(file), "json")
    if as_json:
        print_json({"server": name, "file": str(file), "diff": lines, "listed": None})
        return
    show_diff(lines)
    console().print("Nothing was added.")


def _refuse_second(name: str, settings: Settings) -> None:
    for file in settings.mcp_config:
        if any(name in (each.id, each.prefix) for each in read_servers([file]).servers):
            todo = f"`toolcrib remove {name}` first, or take another name"
            raise ConfigError(f"there is a server {name!r} already, in {file}; {todo}")


def _entry(
    url: str, command: list[str], headers: Iterable[str], env: Iterable[str]
) -> Mapping[str, Json]:
    if bool(url) == bool(command):
        raise ConfigError("say how to reach it: `-- COMMAND ARGS...`, or `--url URL`")
    if url:
        named = dict(_header(each) for each in headers)
        kind = "sse" if ServerAddress.is_sse(url) else "http"
        return {"type": kind, "url": url} | ({"headers": named} if named else {})
    given, names = handed_on(env)
    warn_of_values(given)
    return (
        {"command": command[0], "args": [*command[1:]]}
        | ({"env": {**given}} if given else {})
        | ({"env_from": [*names]} if names else {})
    )


def handed_on(env: Iterable[str]) -> tuple[Mapping[str, str], Sequence[str]]:
    """The variables with a value, and the names of those that are handed on."""
    parts = [each.partition("=") for each in env]
    return {key: value for key, sign, value in parts if sign}, [
        k for k, sign, _ in parts if not sign
    ]


def warn_of_values(given: Mapping[str, str], before: Mapping[str, str] | None = None) -> None:
    """Say which values are written down that were not there before."""
    for key, value in given.items():
        if "${" not in value and value != (before or {}).get(key):
            todo = f"`--env {key}` hands on your variable instead"
            warn(f"the value of {key} is written down; {todo}")


def _header(text: str) -> tuple[str, str]:
    name, sign, value = text.partition(":")
    if not sign or not name.strip():
        raise ConfigError(f"a header is `Name: value`, not {text!r}")
    return name.strip(), value.strip()
