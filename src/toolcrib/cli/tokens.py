"""The command `toolcrib tokens`."""

from dataclasses import asdict
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, Note, console, print_json, print_notes, print_text, table
from toolcrib.cli.surfaces import Surface, surfaces
from toolcrib.crib import HOST
from toolcrib.session import Prices, SourceTokens, TokenEstimate, tools_of
from toolcrib.text import token_counter

Mode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="Take this mode in place of the setting `tool_search`; not for the gateway.",
    ),
]


def tokens_command(context: typer.Context, mode: Mode = None, as_json: AsJson = False) -> None:
    """Tell what your tools cost a model, and what deferring saves.

    First the definitions of each source by themselves: all of them, and those that are never
    deferred. Then what is really sent, for each place where a model is shown tools: every tool
    listed, and what stands in their place before any search. For the gateway that is its
    instructions and its `tools/list`; for a provider the tools of a request as its wire has them,
    the note and the summary. A provider adds words of its own, which nobody can count here. What
    MCP servers ask to be always loaded is told below.
    """
    opening: Opening = context.obj
    with opening.crib() as crib:
        estimate = crib.session(mode=mode).token_estimate()
        places = list(surfaces(crib, mode, token_counter()))
        asked = Prices(token_counter).asked_loads(tools_of(crib.seen_by(HOST).values()))
    if as_json:
        told = [asdict(each) | {"share": each.share} for each in places]
        saved = {"saved": estimate.saved, "share": estimate.share}
        print_json(asdict(estimate) | saved | {"surfaces": told, "asked_loads": asked})
        return
    _show(estimate, places)
    for each in asked:
        print_text(f"{each}.")


def _show(estimate: TokenEstimate, places: list[Surface]) -> None:
    screen = console()
    total = ("all", estimate.tools, f"{estimate.eager:,}", f"{_core(estimate):,}")
    columns = ["definitions of", ">tools", ">tokens", ">never deferred"]
    screen.print(table("", columns, [*map(_row, estimate.sources), total]))
    screen.print()
    columns = ["sent by", ">all listed", ">with search", ">saved"]
    screen.print(table("", columns, map(_place, places)))
    print_notes(Note(each.name, each.note) for each in places if each.note)
    print_text(_verdict(estimate))


def _row(cost: SourceTokens) -> tuple[object, ...]:
    return cost.source, cost.tools, f"{cost.eager:,}", f"{cost.core:,}"


def _core(estimate: TokenEstimate) -> int:
    return sum(cost.core for cost in estimate.sources)


def _place(place: Surface) -> tuple[object, ...]:
    eager = "too many" if place.eager is None else f"{place.eager:,}"
    share = "" if place.share is None else f"{place.share:.1%}"
    return place.name, eager, f"{place.sent:,}", share


def _verdict(estimate: TokenEstimate) -> str:
    how = f"Tokens are {estimate.how}."
    if not estimate.break_even:
        return f"Nothing is deferred: all {estimate.tools} tools are sent whole. {how}"
    return (
        f"A conversation that has revealed {estimate.break_even} tools costs no less than with all"
        f" listed. {how}"
    )
