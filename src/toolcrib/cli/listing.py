"""Lists the tools of MCP servers for a command, and shows each as it comes.

A gateway that runs does it itself: it owns the servers, and nobody starts them twice. Where none
runs, this process starts them once.
"""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, cast

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from toolcrib.cli.opening import Opening
from toolcrib.cli.place import place_for
from toolcrib.cli.progress import EVERY_S
from toolcrib.cli.screen import Note, console, number, print_notes, safe, warn
from toolcrib.errors import ConfigError
from toolcrib.gateway import ask_operator, is_daemon_running
from toolcrib.model import Json
from toolcrib.sources.last_good import LastGood
from toolcrib.sources.mcp import McpSource, RefreshResult, find_server, read_servers, refresh_all

MOST_SHOWN = 2


def list_servers(
    opening: Opening,
    names: Sequence[str] = (),
    told: Callable[[RefreshResult], None] = lambda _: None,
    waiting: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> list[RefreshResult]:
    """List the tools of these servers, or of all that are not switched off; `told` hears of each.

    `waiting` hears about once a second what those are at that are not done, by name. In the order
    of the configuration. One that fails costs no other. A server takes as long as its own times
    let it, installs included. Raises `ConfigError` for a name that none has.
    """
    place = place_for(opening)
    if is_daemon_running(place):

        def heard(news: Json) -> None:
            match news:
                case {"listed": how}:
                    told(RefreshResult(**cast("dict[str, Any]", how)))
                case {"listing": doing}:
                    waiting(cast("dict[str, str]", doing))
                case _:
                    return  # of another version

        done = ask_operator(place, "refresh", heard, servers=list(names))
        return [RefreshResult(**each) for each in cast("list[dict[str, Any]]", done)]
    with opening.mcp() as servers:
        return refresh_all(_meant(names, servers.sources), told, waiting)


def show_listing(opening: Opening, names: Sequence[str] = ()) -> list[RefreshResult]:
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

        every = list_servers(opening, names, told, waiting)
    print_notes(Note(each.server, each.error, each.remedy) for each in every if each.error)
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


def tell_gateway(opening: Opening) -> None:
    """Let a gateway that runs take what was changed, at once.

    Should it not answer, it takes the change by itself a moment later. Without one, all there is to
    do is that the copies of the files, which may hold secrets, are those of now.
    """
    if is_daemon_running(place_for(opening)):
        ask_if_running(opening, "changed")
    else:
        settings = opening.settings()
        read_servers(settings.mcp_config, LastGood(settings.state_folder))


def ask_if_running(opening: Opening, do: str, **more: Json) -> Json:
    """What the gateway says; None if none runs. That it says no is a warning, and no error."""
    place = place_for(opening)
    if not is_daemon_running(place):
        return None
    try:
        return ask_operator(place, do, **more)
    except ConfigError as error:
        warn(str(error))
        return None


def _meant(names: Sequence[str], sources: Sequence[McpSource]) -> Sequence[McpSource]:
    if names:
        return [find_server(name, sources) for name in names]
    return [each for each in sources if not each.config.disabled]
