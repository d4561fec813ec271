"""The command `toolcrib review`."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Annotated, NamedTuple

import typer

from toolcrib.cli.consent import at_terminal
from toolcrib.cli.global_options import GlobalOptions, tell_gateway
from toolcrib.cli.screen import AsJson, console, print_json, print_text, safe
from toolcrib.errors import ConfigError
from toolcrib.review import Change, Desk, ReviewItem, find_item, undecided

PIN_SHOWN = 12


class ReviewDecisions(NamedTuple):
    """What to approve and what to reject."""

    approved: list[ReviewItem]
    rejected: list[ReviewItem]


def review_command(
    context: typer.Context,
    server: Annotated[str, typer.Argument(help="Only this server, by its name.")] = "",
    approve: Annotated[
        list[str] | None,
        typer.Option(
            "--approve",
            metavar="TOOL",
            help="Approve this tool, by server/tool or its name; may be repeated.",
        ),
    ] = None,
    reject: Annotated[
        list[str] | None,
        typer.Option(
            "--reject",
            metavar="TOOL",
            help="Reject this tool, by server/tool or its name; may be repeated.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Approve all that wait.")] = False,
    pin: Annotated[
        str,
        typer.Option(
            "--pin", metavar="PIN", help="Decide only if the tool's pin begins with this."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show the MCP tools and servers that wait for review, and decide about them.

    A server that stands in a file that others may write is not started until you approve its entry,
    by the server's name; another value in it, and it waits again.

    A tool waits if its definition has changed since you approved it, or if nobody has approved it
    yet. Shows what its server listed last next to what was approved, with hidden characters spelt
    out. On a terminal, you are asked about each. A rejected tool stays out until it changes again
    or you approve it. Exit code 1: something still waits.

        toolcrib review
        toolcrib review github --approve create_issue
    """
    options: GlobalOptions = context.obj
    with _desk(options) as desk:
        items = desk.items(server)
        decided = _decided(items, desk.every(server), approve or (), reject or (), every=every)
        _check_pin(pin, decided)
        if not as_json:
            for problem in desk.problems():
                console().print(safe(problem), style="red", soft_wrap=True)
            _show([*decided.approved, *decided.rejected] or items)
        if not any(decided) and not as_json and at_terminal():
            decided = _ask_about(undecided(items))
        for item in decided.approved:
            desk.approve(item)
        for item in decided.rejected:
            desk.reject(item)
        settled, left = desk.settle(), undecided(desk.items(server))
    if any(decided):
        tell_gateway(options)
    _show_result(decided, left, settled=settled, as_json=as_json)
    if left:
        raise typer.Exit(1)


@contextmanager
def _desk(options: GlobalOptions) -> Generator[Desk]:
    with options.mcp() as servers:
        if servers.decisions is None:
            raise ConfigError("there are no MCP servers to review; name a file with --mcp-config")
        yield Desk(servers.sources, servers.decisions, servers.record)


def _decided(
    items: Sequence[ReviewItem],
    listed: Sequence[ReviewItem],
    approve: Sequence[str],
    reject: Sequence[str],
    *,
    every: bool,
) -> ReviewDecisions:
    """Raises `AmbiguousName`, `UnknownTool`, and `ConfigError` for a tool that is both.

    What is approved already can be rejected too.
    """
    rejected = [find_item(name, listed) for name in reject]
    approved = [find_item(name, items) for name in approve]
    if both := [item.name for item in approved if item in rejected]:
        raise ConfigError(f"{both[0]!r} cannot be approved and rejected; leave one out")
    if every:
        approved += [each for each in undecided(items) if each not in (*approved, *rejected)]
    return ReviewDecisions(approved, rejected)


def _check_pin(pin: str, decided: ReviewDecisions) -> None:
    for item in (*decided.approved, *decided.rejected):
        if not item.pin.startswith(pin):
            current = item.pin[:PIN_SHOWN]
            raise ConfigError(f"the pin of {item.name!r} is {current}, not {pin}; look at it again")


def _ask_about(items: Sequence[ReviewItem]) -> ReviewDecisions:
    """Ask the person at the terminal about each."""
    decided = ReviewDecisions([], [])
    for item in items:
        question = f"{item.spelt_out}: [a]pprove, [r]eject, [s]kip or [q]uit?"
        match typer.prompt(safe(question).plain, default="s")[:1].lower():
            case "a":
                decided.approved.append(item)
            case "r":
                decided.rejected.append(item)
            case "q":
                break
            case _:
                continue
    return decided


def _show(items: Sequence[ReviewItem]) -> None:
    screen = console()
    named: set[str] = set()
    for item in items:
        if item.configuration and item.server not in named:
            named.add(item.server)
            screen.print(safe(f"{item.server} has another configuration now:"), style="bold")
            _show_changes(item.configuration)
        of = f"{item.server}, " if item.tool else "an entry in a file of others, "
        head = f"{item.name} ({of}{item.status}, pin {item.pin[:PIN_SHOWN]})"
        screen.print(safe(head), style="bold", soft_wrap=True)
        if item.flags:
            places = "; ".join(item.hidden)
            told = safe(f"  hidden in it: {', '.join(item.flags)}: {places}")
            screen.print(told, style="red", soft_wrap=True)
        _show_changes(item.changes)


def _show_changes(changes: Sequence[Change]) -> None:
    screen = console()
    for change in changes:
        screen.print(safe(f"  {change.field}"))
        for line, style in _lines(change):
            screen.print(safe(f"    {line}"), style=style, soft_wrap=True)


def _lines(change: Change) -> Generator[tuple[str, str]]:
    for mark, text, style in (("-", change.old, "red"), ("+", change.new, "green")):
        for line in text.splitlines() if text is not None else ():
            yield f"{mark} {line}", style


def _show_result(
    decided: ReviewDecisions, left: Sequence[ReviewItem], *, settled: bool, as_json: bool
) -> None:
    names = {
        "approved": [item.name for item in decided.approved],
        "rejected": [item.name for item in decided.rejected],
    }
    if as_json:
        print_json({**names, "waiting": left})
        return
    for word, some in names.items():
        if some:
            print_text(f"{word}: {', '.join(some)}", indent=2)
    if settled:
        console().print("The first list of a new server is trusted again.")
    console().print(safe(f"Waiting for review: {len(left) or 'nothing'}."))
