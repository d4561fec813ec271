"""The command `toolcrib refresh`, and the listing of tools that other commands do as well.

A gateway that runs lists them itself: it owns the servers, and nobody starts them twice. Where none
runs, this process starts them once.
"""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Annotated, Any, cast

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from toolcrib.cli.global_options import GlobalOptions, daemon_place
from toolcrib.cli.progress import EVERY_S
from toolcrib.cli.screen import (
    AsJson,
    Footnote,
    console,
    number,
    print_footnotes,
    print_json,
    safe,
)
from toolcrib.gateway import ask_daemon, is_daemon_running
from toolcrib.model import Json
from toolcrib.sources.mcp import McpSource, RefreshResult, find_server, refresh_all

MOST_SHOWN = 2


def list_servers(
    options: GlobalOptions,
    names: Sequence[str] = (),
    on_result: Callable[[RefreshResult], None] = lambda _: None,
    on_progress: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> list[RefreshResult]:
    """List the tools of these servers, or of all that are enabled, in the order of the settings.

    `on_result` is called with each result as it comes, `on_progress` about once a second with what
    the other servers do, by name. A server that fails costs no other. Each takes as long as its own
    times let it, installs included. Raises `ConfigError` for a name that no server has.
    """
    place = daemon_place(options)
    if is_daemon_running(place):

        def on_news(news: Json) -> None:
            match news:
                case {"listed": result}:
                    on_result(RefreshResult(**cast("dict[str, Any]", result)))
                case {"listing": doing}:
                    on_progress(cast("dict[str, str]", doing))
                case _:
                    return  # of another version

        results = ask_daemon(place, "refresh", on_news, servers=list(names))
        return [RefreshResult(**each) for each in cast("list[dict[str, Any]]", results)]
    with options.mcp() as servers:
        return refresh_all(_sources_named(names, servers.sources), on_result, on_progress)


def show_listing(options: GlobalOptions, names: Sequence[str] = ()) -> list[RefreshResult]:
    """The same, with a line for each server on the screen as it comes, and what the others do.

    Where the screen is no terminal, progress is a line on standard error now and then. Failures,
    with what to do about them, stand below.
    """
    screen = console()
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task, last = bar.add_task("listing the tools of MCP servers"), monotonic()

        def on_result(result: RefreshResult) -> None:
            bar.console.print(safe(listed_line(result)), soft_wrap=True)

        def on_progress(doing: Mapping[str, str]) -> None:
            nonlocal last
            bar.update(task, description=waiting_line(doing))
            if not screen.is_terminal and monotonic() - last >= EVERY_S:
                last = monotonic()
                console(to_stderr=True).print(safe(waiting_line(doing)), soft_wrap=True)

        results = list_servers(options, names, on_result, on_progress)
    failed = [each for each in results if each.error]
    print_footnotes(Footnote(each.server, each.error, each.remedy) for each in failed)
    return results


def waiting_line(doing: Mapping[str, str]) -> str:
    """What the first servers do that are not listed yet, and how many more there are."""
    servers = [f"{name}: {words or 'is waited for'}" for name, words in doing.items()]
    more = f"; {len(servers) - MOST_SHOWN} more" if len(servers) > MOST_SHOWN else ""
    return safe("; ".join(servers[:MOST_SHOWN]) + more).plain


def listed_line(result: RefreshResult) -> str:
    """The result of one server, in a line."""
    server, seconds = result.server, f"{result.seconds:.1f} s"
    if result.error:
        return f"  {server}: failed, {seconds}"
    waiting = f", {result.waiting} wait for `toolcrib review {server}`" if result.waiting else ""
    cut = f"; {result.cut}" if result.cut else ""
    return f"  {server}: {number(result.tools, 'tool')}, {seconds}{waiting}{cut}"


def _sources_named(names: Sequence[str], sources: Sequence[McpSource]) -> Sequence[McpSource]:
    if names:
        return [find_server(name, sources) for name in names]
    return [each for each in sources if not each.config.disabled]


def refresh_command(
    context: typer.Context,
    servers: Annotated[
        list[str] | None, typer.Argument(metavar="SERVER", help="Only these, by their names.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the configured MCP servers once and remember what they list.

    If a gateway runs, it does this itself and has the tools at once. Afterwards search finds the
    tools while their servers sleep, and a call starts the server it needs. If a server does not
    start, its earlier list stays, and the exit code is 1. Tools that are new or changed since the
    first time wait for `toolcrib review`.

        toolcrib refresh
        toolcrib refresh github time
    """
    options: GlobalOptions = context.obj
    names = servers or []
    results = list_servers(options, names) if as_json else show_listing(options, names)
    if as_json:
        print_json([each._asdict() for each in results])
    elif not results:
        console().print("No MCP server is configured: `toolcrib add` or `toolcrib import`.")
    if any(each.error for each in results):
        raise typer.Exit(1)
