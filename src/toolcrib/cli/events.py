"""The commands `toolcrib events` and `toolcrib calls`: what happened, and what was called."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, cast

import typer

from toolcrib.cli.global_options import GlobalOptions, daemon_place
from toolcrib.cli.logs import POLL_S, Follow, Lines
from toolcrib.cli.screen import AsJson, console, print_json, print_json_line, safe, table
from toolcrib.cli.time_span import span_s
from toolcrib.errors import ConfigError
from toolcrib.gateway import query_daemon
from toolcrib.model import Event, EventKind
from toolcrib.names import Origin
from toolcrib.settings import Settings
from toolcrib.sources.mcp import read_servers, unknown_server
from toolcrib.store import EventFilter, EventStore
from toolcrib.wiring import opened_events

EVENT_LINES = 30
MOST_AT_ONCE = 10_000
MOST_NAMED = 3
TIMED = frozenset[EventKind]({"search", "call", "program", "list", "server", "client"})


OfServer = Annotated[
    str, typer.Option("--server", metavar="SERVER", help="Only those of this MCP server.")
]
Failed = Annotated[bool, typer.Option("--failed", help="Only those that did not end well.")]


class EventKindName(StrEnum):
    """The kinds of events as words on the command line."""

    search = "search"
    call = "call"
    program = "program"
    list = "list"
    reveal = "reveal"
    approval = "approval"
    definition = "definition"
    server = "server"
    client = "client"


class EventView(NamedTuple):
    """How a command shows events: `when` is the second of the cells."""

    columns: tuple[str, ...]
    cells: Callable[[Event], tuple[str, ...]]
    as_json: Callable[[int, Event], Mapping[str, object]]


class LogReader(NamedTuple):
    """Which events of which file a command shows, and how. `texts` has those of queries."""

    file: EventStore
    which: EventFilter
    view: EventView
    texts: Callable[[Mapping[int, Event]], Mapping[int, Event]] = lambda found: found

    def last(self, lines: int) -> Mapping[int, Event]:
        """The last events, the latest last."""
        return self.texts(self.file.after(0, lines, self.which))

    def coming(self, newest: int) -> Iterator[tuple[int, Event]]:
        """The events after that one, as they come, for ever."""
        while True:
            found = self.file.after(newest, MOST_AT_ONCE, self.which)
            yield from self.texts(found).items()
            newest = max(found, default=newest)
            time.sleep(POLL_S)


def events_command(
    context: typer.Context,
    kind: Annotated[
        list[EventKindName] | None,
        typer.Option("--kind", help="Only events of this kind; may be repeated."),
    ] = None,
    client: Annotated[
        str,
        typer.Option("--client", metavar="NAME", help="Only those of this client or caller."),
    ] = "",
    server: OfServer = "",
    failed: Failed = False,
    since: Annotated[
        str, typer.Option("--since", metavar="AGO", help="None that is older: 30m, 2h, 7d.")
    ] = "",
    follow: Follow = False,
    lines: Lines = EVENT_LINES,
    as_json: AsJson = False,
) -> None:
    """Show what happened, the newest last: searches, calls, approvals, servers, clients and more.

    The text of a query is shown if the running gateway still has it in memory, or if the setting
    `observe.keep_queries` is on. Arguments and results are not logged. With `--follow` and `--json`
    each event is a line of JSON.

        toolcrib events --kind search --since 1h
        toolcrib events --failed -f
    """
    options: GlobalOptions = context.obj
    kinds = cast("tuple[EventKind, ...]", tuple(each.value for each in kind or ()))
    which = EventFilter(kinds, client, failed=failed, since=_since(since))

    def texts(found: Mapping[int, Event]) -> Mapping[int, Event]:
        return _with_texts(options, found)

    _show(options.settings(), server, which, _EVENTS, texts, lines, follow, as_json)


def calls_command(
    context: typer.Context,
    server: OfServer = "",
    failed: Failed = False,
    follow: Follow = False,
    lines: Lines = EVENT_LINES,
    as_json: AsJson = False,
) -> None:
    """Show the last calls, the newest last: who called what, what the rules said, how it ended.

    Arguments and results are not logged. `ended` is `ok` or the code of the error, with the effect
    if the call was sent. With `--follow` and `--json` each call is a line of JSON.
    """
    options: GlobalOptions = context.obj
    which = EventFilter(("call",), failed=failed)
    _show(options.settings(), server, which, _CALLS, dict, lines, follow, as_json)


def _show(
    settings: Settings,
    server: str,
    which: EventFilter,
    view: EventView,
    texts: Callable[[Mapping[int, Event]], Mapping[int, Event]],
    lines: int,
    follow: bool,  # noqa: FBT001 - an option
    as_json: bool,  # noqa: FBT001 - the same
) -> None:
    """Raises `ConfigError` where nothing is logged, and for an unknown server."""
    if settings.events_path is None:
        raise ConfigError("these settings log no events: see `observe.enabled` and `store`")
    which = _of_server(settings, server, which) if server else which
    with opened_events(settings, make=follow) as file:
        if file is None:
            print_json([]) if as_json else console(to_stderr=True).print("Nothing is logged yet.")
            return
        reader = LogReader(file, which, view, texts)
        _follow(reader, lines, as_json=as_json) if follow else _print(reader, lines, as_json)


def _print(reader: LogReader, lines: int, as_json: bool) -> None:  # noqa: FBT001 - an option
    found, view = reader.last(lines), reader.view
    if as_json:
        print_json([view.as_json(id, event) for id, event in found.items()])
    else:
        console().print(table("", view.columns, map(view.cells, found.values())))


def _follow(reader: LogReader, lines: int, *, as_json: bool) -> None:
    newest = max(reader.file.after(0, 1), default=0)
    with suppress(KeyboardInterrupt):
        last = reader.last(lines)
        for id, event in last.items():
            _print_line(reader.view, id, event, as_json=as_json)
        for id, event in reader.coming(max((newest, *last))):
            _print_line(reader.view, id, event, as_json=as_json)


def _print_line(view: EventView, id: int, event: Event, *, as_json: bool) -> None:
    """One event on a line: the widths of later ones are not known yet."""
    if as_json:
        print_json_line(view.as_json(id, event))
        return
    name, when, *more = view.cells(event)
    line = "  ".join(filter(None, (when, name, *more)))
    console().print(safe(line.replace("\n", " ")), soft_wrap=True)


def _since(text: str) -> float:
    """The moment so long ago. Raises `ConfigError`."""
    return time.time() - span_s(text, "--since") if text else 0.0


def _of_server(settings: Settings, server: str, which: EventFilter) -> EventFilter:
    """The same of one server. Raises `ConfigError` with the nearest names."""
    servers = {each.id: each for each in read_servers(settings.mcp_config).servers}
    if server not in servers:
        raise unknown_server(server, list(servers))
    source = servers[server].prefix or server
    return which._replace(server=source, stem=Origin("mcp", source, "").stem)


def _with_texts(options: GlobalOptions, found: Mapping[int, Event]) -> Mapping[int, Event]:
    """The same events; searches with their queries, as far as the running gateway has them."""
    ids = [id for id, event in found.items() if event.kind == "search"]
    reply = query_daemon(daemon_place(options), "queries", ids=ids) if ids else None
    texts = cast("Mapping[str, str]", (reply or {}).get("texts") or {})
    return {
        id: event._replace(query=texts[str(id)]) if str(id) in texts else event
        for id, event in found.items()
    }


def _when(event: Event) -> str:
    when = datetime.fromtimestamp(event.at, UTC).astimezone()
    return when.strftime("%m-%d %H:%M:%S")


def _call_cells(event: Event) -> tuple[str, ...]:
    facts = event.facts
    effect = str(facts.get("effect", ""))
    sent = f" ({effect})" if effect not in ("", "not_sent") else ""
    return (
        event.name,
        _when(event),
        f"{event.code or 'ok'}{sent}",
        f"{event.seconds * 1000:.0f}",
        event.caller,
        str(facts.get("verdict", "")) or "-",
    )


def _call_json(_id: int, event: Event) -> Mapping[str, object]:
    keys = ("pin", "arguments", "verdict", "effect")
    return {
        "at": event.at,
        "caller": event.caller,
        "tool": event.name,
        **{key: event.facts.get(key, "") for key in keys},
        "code": event.code,
        "seconds": event.seconds,
        "source": event.server,
    }


def _event_cells(event: Event) -> tuple[str, ...]:
    return (
        event.kind,
        _when(event),
        _about(event),
        event.code or "ok",
        f"{event.seconds * 1000:.0f}" if event.kind in TIMED else "",
        event.caller,
        event.client,
    )


def _event_json(id: int, event: Event) -> Mapping[str, object]:
    return {"id": id, **event._asdict()}


def _about(event: Event) -> str:
    """What an event is about, in a few words."""
    facts: Mapping[str, Any] = event.facts
    match event.kind:
        case "search":
            asked = f'"{event.query}" ' if event.query else ""
            return f"{asked}→ {_named(facts.get('hits'))}"
        case "reveal" | "program":
            calls = f"{facts.get('calls', 0)} calls: " if event.kind == "program" else ""
            return f"{calls}{_named(facts.get('tools'))}"
        case "list":
            return f"{facts.get('tools', 0)} tools, {facts.get('sent', 0)} tokens"
        case "definition":
            return f"{event.server}/{event.name}"
        case "server":
            return event.server
        case _:
            return event.name


def _named(names: object) -> str:
    """The first of some names, and how many more there are."""
    if not isinstance(names, list) or not names:
        return "-"
    every = cast("Sequence[object]", names)
    more = f" and {len(every) - MOST_NAMED} more" if len(every) > MOST_NAMED else ""
    return ", ".join(map(str, every[:MOST_NAMED])) + more


_CALLS = EventView(("tool", "when", "ended", ">ms", "?by", "?rules"), _call_cells, _call_json)
_EVENTS = EventView(
    ("event", "when", "about", "ended", ">ms", "?by", "?client"),
    _event_cells,
    _event_json,
)
