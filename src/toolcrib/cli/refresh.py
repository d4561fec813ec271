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

# Lists the tools of MCP servers for a command, and shows each as it comes.

MOST_SHOWN = 2


def list_servers(
    options: GlobalOptions,
    names: Sequence[str] = (),
    told: Callable[[RefreshResult], None] = lambda _: None,
    waiting: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> list[RefreshResult]:
    """List the tools of these servers, or of all that are not switched off; `told` hears of each.

    `waiting` hears about once a second what those are at that are not done, by name. In the order
    of the configuration. One that fails costs no other. A server takes as long as its own times
    let it, installs included. Raises `ConfigError` for a name that none has.
    """
    place = daemon_place(options)
    if is_daemon_running(place):

        def heard(news: Json) -> None:
            match news:
                case {"listed": how}:
                    told(RefreshResult(**cast("dict[str, Any]", how)))
                case {"listing": doing}:
                    waiting(cast("dict[str, str]", doing))
                case _:
                    return  # of another version

        done = ask_daemon(place, "refresh", heard, servers=list(names))
        return [RefreshResult(**each) for each in cast("list[dict[str, Any]]", done)]
    with options.mcp() as servers:
        return refresh_all(_sources_named(names, servers.sources), told, waiting)


def show_listing(options: GlobalOptions, names: Sequence[str] = ()) -> list[RefreshResult]:
    """The same, with a line for each server on the screen as it comes, and what the others are at.

    Where it is no terminal, that is a line on standard error now and then. Why one failed, and what
    to do about it, stands below.
    """
    screen = console()
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task, last = bar.add_task("listing the tools of MCP servers"), monotonic()

        def told(done: RefreshResult) -> None:
            bar.console.print(safe(listed_line(done)), soft_wrap=True)

        def waiting(doing: Mapping[str, str]) -> None:
            nonlocal last
            bar.update(task, description=waiting_line(doing))
            if not screen.is_terminal and monotonic() - last >= EVERY_S:
                last = monotonic()
                console(to_stderr=True).print(safe(waiting_line(doing)), soft_wrap=True)

        every = list_servers(options, names, told, waiting)
    print_footnotes(Footnote(each.server, each.error, each.remedy) for each in every if each.error)
    return every


def waiting_line(doing: Mapping[str, str]) -> str:
    """What the first of those are at that are not listed yet, and how many more there are."""
    told = [f"{name}: {words}" if words else name for name, words in doing.items()]
    more = f"; {len(told) - MOST_SHOWN} more" if len(told) > MOST_SHOWN else ""
    return safe("; ".join(told[:MOST_SHOWN]) + more).plain


def listed_line(done: RefreshResult) -> str:
    """How it went with one server, in a line."""
    if done.error:
        return f"  {done.server}: failed, {done.seconds:.1f} s"
    waiting = f", {done.waiting} wait for `toolcrib review {done.server}`" if done.waiting else ""
    return f"  {done.server}: {number(done.tools, 'tool')}, {done.seconds:.1f} s{waiting}"


def _sources_named(names: Sequence[str], sources: Sequence[McpSource]) -> Sequence[McpSource]:
    if names:
        return [find_server(name, sources) for name in names]
    return [each for each in sources if not each.config.disabled]


def refresh_command(
    context: typer.Context,
    servers: Annotated[
        list[str] | None, typer.Argument(metavar="SERVER...", help="Only these, by their names.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the configured MCP servers once and remember what they list.

    A gateway that runs does it itself, and has the tools at once. After that, search finds them
    while their servers sleep, and a call starts the one it needs. What was known of a server that
    does not start stays. Exit code 1 if one did not. Tools that are new since the first time, or
    others than they were, wait for `toolcrib review`.

        toolcrib refresh
        toolcrib refresh github time
    """
    options: GlobalOptions = context.obj
    names = servers or []
    done = list_servers(options, names) if as_json else show_listing(options, names)
    if as_json:
        print_json([each._asdict() for each in done])
    elif not done:
        console().print("No MCP server is configured: `toolcrib add` or `toolcrib import`.")
    if any(each.error for each in done):
        raise typer.Exit(1)
