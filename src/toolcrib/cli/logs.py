"""The commands `toolcrib logs` and `toolcrib calls`: what servers wrote, and what was called."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, print_json, print_json_line, safe, table
from toolcrib.errors import ConfigError
from toolcrib.gateway import log_file
from toolcrib.names import Origin
from toolcrib.settings import Settings
from toolcrib.sources.mcp import last_log_lines, log_path, read_servers, unknown_server
from toolcrib.store import AuditFile, AuditRow, CallFilter
from toolcrib.wiring import retention_of

POLL_S = 0.3
LOG_LINES = 50
CALL_LINES = 30
MOST_AT_ONCE = 10_000
CALL_COLUMNS = ("tool", "when", "ended", ">ms", "?by", "?rules")

Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on with new ones, until Ctrl-C.")]
Lines = Annotated[
    int, typer.Option("--lines", "-n", metavar="N", min=0, help="How many of the last ones.")
]


def new_lines(path: Path) -> Iterator[str]:
    """What is written from now on, line by line, for ever: also to the file that comes after."""
    at = path.stat().st_size if path.exists() else 0
    while True:
        with suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(at)
            yield from _while_there(path, file)
        at = 0
        time.sleep(POLL_S)


def _while_there(path: Path, file: BufferedReader) -> Iterator[str]:
    """The lines that come to an open file, until another is in its place."""
    unread, is_there = b"", True
    while is_there:
        is_there = _is_at(path, file)  # looked at first: what it has by then is read to the end
        *lines, unread = (unread + file.read()).split(b"\n")
        yield from map(_decoded, lines)
        if not lines:
            time.sleep(POLL_S)


def _is_at(path: Path, file: BufferedReader) -> bool:
    """Whether an open file is still the one at its path."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\n")


def logs_command(
    context: typer.Context,
    server: Annotated[
        str, typer.Argument(help="The MCP server; without one, the log of the gateway.")
    ] = "",
    follow: Follow = False,
    lines: Lines = LOG_LINES,
    as_json: AsJson = False,
) -> None:
    """Show the log of an MCP server: its starts and ends, and what it writes to stderr.

    This works with and without a gateway, and starts nothing. Secrets of the server's entry are
    taken out before a line is written. With `--json` each line is a JSON text.
    """
    options: GlobalOptions = context.obj
    settings = options.settings()
    path = _log_path(settings, server)
    last = last_log_lines(path, lines)
    if not last and not follow and not path.exists():
        console(to_stderr=True).print(safe(_no_log(server)), soft_wrap=True)
        return
    with suppress(KeyboardInterrupt):
        for line in chain(last, new_lines(path) if follow else ()):
            print_json_line(line) if as_json else console().print(safe(line), soft_wrap=True)


def _log_path(settings: Settings, server: str) -> Path:
    """The log of a server, or of the gateway. Raises `ConfigError` with the nearest names."""
    if not server:
        return log_file(settings.state_folder)
    configured = read_servers(settings.mcp_config)
    names = [*(each.id for each in configured.servers), *configured.broken]
    if server not in names:
        raise unknown_server(server, names)
    return log_path(settings.state_folder, server)


def _no_log(server: str) -> str:
    if server:
        return f"{server} has no log: it was never started. `toolcrib refresh {server}` starts it."
    return (
        "The gateway has no log file: it has one when a client starts it. "
        "One that you started with `toolcrib serve` logs to its terminal."
    )


def calls_command(
    context: typer.Context,
    server: Annotated[
        str, typer.Option("--server", metavar="SERVER", help="Only those of this MCP server.")
    ] = "",
    failed: Annotated[
        bool, typer.Option("--failed", help="Only those that did not end well.")
    ] = False,
    follow: Follow = False,
    lines: Lines = CALL_LINES,
    as_json: AsJson = False,
) -> None:
    """Show the last calls, the newest last: who called what, what the rules said, how it ended.

    Arguments and results are not logged. `ended` is `ok` or the code of the error, with the effect
    if the call was sent. With `--follow` and `--json` each call is a line of JSON.
    """
    options: GlobalOptions = context.obj
    settings = options.settings()
    path = settings.audit_path
    if path is None:
        raise ConfigError("these settings log no calls: see `audit.enabled` and `store`")
    which = _calls_of_server(settings, server) if server else CallFilter()
    which = which._replace(failed=failed)
    if not (path.exists() or follow):
        print_json([]) if as_json else console(to_stderr=True).print("No call is logged yet.")
        return
    file = AuditFile(path, retention_of(settings))
    try:
        _show_calls(file, which, lines, follow=follow, as_json=as_json)
    finally:
        file.close()


def _show_calls(
    file: AuditFile, which: CallFilter, lines: int, *, follow: bool, as_json: bool
) -> None:
    before = file.after(0, 1)
    last = file.after(0, lines, which)
    if as_json and not follow:
        print_json([_as_json(row) for row in last.values()])
        return
    if not follow:
        console().print(table("", CALL_COLUMNS, map(_cells, last.values())))
        return
    with suppress(KeyboardInterrupt):
        _print_rows(last.values(), as_json=as_json)
        _print_rows(_new_calls(file, which, max((*before, *last), default=0)), as_json=as_json)


def _print_rows(rows: Iterable[AuditRow], *, as_json: bool) -> None:
    for row in rows:
        print_json_line(_as_json(row)) if as_json else _print_call(_cells(row))


def _new_calls(file: AuditFile, which: CallFilter, newest: int) -> Iterator[AuditRow]:
    """The calls after that one, as they are made, for ever."""
    while True:
        rows = file.after(newest, MOST_AT_ONCE, which)
        yield from rows.values()
        newest = max(rows, default=newest)
        time.sleep(POLL_S)


def _print_call(cells: tuple[str, ...]) -> None:
    """One call on a line: the widths of later calls are not known yet."""
    tool, when, ended, took, by, rules = cells
    line = f"{when}  {tool}  {ended}  {took} ms  {by}  {rules}"
    console().print(safe(line.replace("\n", " ")), soft_wrap=True)


def _cells(row: AuditRow) -> tuple[str, ...]:
    when = datetime.fromtimestamp(row.at, UTC).astimezone()
    sent = f" ({row.effect})" if row.effect not in ("", "not_sent") else ""
    return (
        row.tool,
        when.strftime("%m-%d %H:%M:%S"),
        f"{row.code or 'ok'}{sent}",
        f"{row.seconds * 1000:.0f}",
        row.caller,
        row.verdict or "-",
    )


def _as_json(row: AuditRow) -> dict[str, object]:
    return row._asdict()


def _calls_of_server(settings: Settings, server: str) -> CallFilter:
    """The calls of one server. Raises `ConfigError` with the nearest names."""
    servers = {each.id: each for each in read_servers(settings.mcp_config).servers}
    if server not in servers:
        raise unknown_server(server, list(servers))
    source = servers[server].prefix or server
    return CallFilter(source, Origin("mcp", source, "").stem)
