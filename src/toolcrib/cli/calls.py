"""The command `toolcrib calls`."""

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

import typer

from toolcrib.cli.log_lines import POLL_S
from toolcrib.cli.logs import Follow, Lines
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, print_json_line, safe, table
from toolcrib.errors import ConfigError
from toolcrib.names import Origin
from toolcrib.settings import Settings
from toolcrib.sources.mcp import read_servers
from toolcrib.store import AuditFile, AuditRow, CallFilter, Retention
from toolcrib.text import nearest_names

LINES = 30
MOST_AT_ONCE = 10_000
COLUMNS = ("tool", "when", "ended", ">ms", "?by", "?rules")


def calls_command(
    context: typer.Context,
    server: Annotated[
        str, typer.Option("--server", metavar="SERVER", help="Only those of this MCP server.")
    ] = "",
    failed: Annotated[
        bool, typer.Option("--failed", help="Only those that did not end well.")
    ] = False,
    follow: Follow = False,
    lines: Lines = LINES,
    as_json: AsJson = False,
) -> None:
    """Show the last calls, the newest last: who called what, what the rules said, how it ended.

    No argument and no result is logged. `ended` is `ok`, or the code of the error and, where the
    call was sent, what became of it. With `--follow` and `--json` each call is a line of JSON.
    """
    opening: Opening = context.obj
    settings = opening.settings()
    path = settings.audit_path
    if path is None:
        raise ConfigError("calls are not logged by these settings: see `audit.enabled`, `store`")
    which = (
        _of_server(settings, server)._replace(failed=failed)
        if server
        else CallFilter(failed=failed)
    )
    if not (path.exists() or follow):
        print_json([]) if as_json else console(to_stderr=True).print("No call is logged yet.")
        return
    said = settings.audit
    file = AuditFile(path, Retention(said.rows, said.days))
    try:
        _show(file, which, lines, follow=follow, as_json=as_json)
    finally:
        file.close()


def _show(file: AuditFile, which: CallFilter, lines: int, *, follow: bool, as_json: bool) -> None:
    before = file.after(0, 1)
    last = file.after(0, lines, which)
    if as_json and not follow:
        print_json([_plain(row) for row in last.values()])
        return
    if not follow:
        console().print(table("", COLUMNS, map(_cells, last.values())))
        return
    with suppress(KeyboardInterrupt):
        _print_rows(last.values(), as_json=as_json)
        _print_rows(_coming(file, which, max((*before, *last), default=0)), as_json=as_json)


def _print_rows(rows: Iterable[AuditRow], *, as_json: bool) -> None:
    for row in rows:
        print_json_line(_plain(row)) if as_json else _print(_cells(row))


def _coming(file: AuditFile, which: CallFilter, newest: int) -> Iterator[AuditRow]:
    """The calls after that one, as they are made, for ever."""
    while True:
        found = file.after(newest, MOST_AT_ONCE, which)
        yield from found.values()
        newest = max(found, default=newest)
        time.sleep(POLL_S)


def _print(cells: tuple[str, ...]) -> None:
    """One call on a line: nobody knows how wide those are that come."""
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


def _plain(row: AuditRow) -> dict[str, object]:
    return row._asdict()


def _of_server(settings: Settings, server: str) -> CallFilter:
    """The calls of one server. Raises `ConfigError` with the nearest names."""
    found = {each.id: each for each in read_servers(settings.mcp_config).servers}
    if server not in found:
        near = ", ".join(nearest_names(server, list(found))) or "none"
        raise ConfigError(f"no MCP server {server!r} is configured; nearest: {near}")
    source = found[server].prefix or server
    return CallFilter(source, Origin("mcp", source, "").stem)
