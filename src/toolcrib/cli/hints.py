"""The command `toolcrib hints`."""

from collections.abc import Iterator
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, print_json, print_text, safe, table
from toolcrib.crib import Crib, use_history_of
from toolcrib.errors import UnknownTool
from toolcrib.store import UseRecord
from toolcrib.uses import UseHints

MOST_SHOWN = 20


def hints_command(
    context: typer.Context,
    tool: Annotated[
        str, typer.Argument(help="The tool; without one, all that is kept about use.")
    ] = "",
    forget: Annotated[
        bool,
        typer.Option("--forget", help="Erase what is kept about it; without a tool, all of it."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --forget: erase all without being asked.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a tool is used with, before it and after it.

    Shows the links that its author declared, and the tools that were called soon before or after
    it. Without a tool, shows everything that is kept about use: the counts of pairs and, if
    `search.learn` is on, how many words led to which tool. `--json` prints all of it.

        toolcrib hints create_issue
    """
    options: GlobalOptions = context.obj
    with options.crib() as crib:
        if forget:
            if not (tool or yes):
                uses = use_history_of(crib).record()
                amount = f"{len(uses.pairs)} pairs and {len(uses.lessons)} learned words"
                typer.confirm(f"Erase all {amount}?", default=False, abort=True, err=True)
            _forget(crib, tool, as_json=as_json)
        elif tool:
            found = crib.operator.hints(tool)
            print_json(found) if as_json else _show(found)
        else:
            uses = use_history_of(crib).record()
            print_json(_exported(uses)) if as_json else _show_all(uses)


def _forget(crib: Crib, tool: str, *, as_json: bool) -> None:
    """Also of a tool that is not here any more."""
    try:
        name = crib.get(tool).name if tool else ""
    except UnknownTool:
        name = tool
    erased = crib.operator.forget_use(name)
    if as_json:
        print_json({"tool": name, "erased": erased})
    else:
        console().print(safe(f"Erased: {erased} pairs and words about {name or 'all tools'}."))


def _show(hints: UseHints) -> None:
    rows = list(_rows(hints))
    screen = console()
    print_text(f"{hints.name}: often with {', '.join(hints.often_with) or 'nothing yet'}.")
    if rows:
        screen.print(table("", ["name", "when", ">times"], rows))
    if hints.lessons:
        screen.print(safe(f"{hints.lessons} words of queries led to it."))


def _rows(hints: UseHints) -> Iterator[tuple[str, str, str | int]]:
    yield from ((name, "declared", "") for name in hints.links)
    yield from ((name, "after it", count) for name, count in hints.followers.items())
    yield from ((name, "before it", count) for name, count in hints.predecessors.items())


def _show_all(uses: UseRecord) -> None:
    screen = console()
    if not (uses.pairs or uses.lessons):
        screen.print("Nothing is kept about use.")
        return
    rows = [(*pair, count) for pair, count in list(uses.pairs.items())[:MOST_SHOWN]]
    screen.print(table("", ["tool", "then", ">times"], rows))
    more = len(uses.pairs) - len(rows)
    rest = f" ({more} more with --json)" if more > 0 else ""
    screen.print(safe(f"{len(uses.pairs)} pairs{rest}, {len(uses.lessons)} learned words."))


def _exported(uses: UseRecord) -> object:
    pairs = [{**pair._asdict(), "count": count} for pair, count in uses.pairs.items()]
    lessons = [
        {"profile": key.rights.hex(), "word": key.word.hex(), "tool": key.tool} | lesson._asdict()
        for key, lesson in uses.lessons.items()
    ]
    return {"pairs": pairs, "lessons": lessons}
