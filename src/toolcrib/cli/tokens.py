"""The command `toolcrib tokens`."""

from dataclasses import asdict
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.inquiry import await_vectors
from toolcrib.cli.screen import (
    AsJson,
    Footnote,
    console,
    print_footnotes,
    print_json,
    print_text,
    table,
)
from toolcrib.cli.token_costs import Surface, surfaces
from toolcrib.crib import HOST, inventory_of
from toolcrib.session import Prices, SourceTokens, TokenEstimate
from toolcrib.text import token_counter

ToolSearch = Annotated[
    str | None,
    typer.Option(
        "--tool-search",
        "--mode",
        metavar="VALUE",
        help="Count with this value of the setting `tool_search`; not for the gateway.",
    ),
]

Message = Annotated[
    str,
    typer.Option(
        "--message",
        metavar="WORDS",
        help="Count with what prefetch shows for this message of a user.",
    ),
]


def tokens_command(
    context: typer.Context,
    tool_search: ToolSearch = None,
    message: Message = "",
    as_json: AsJson = False,
) -> None:
    """Count what your tools cost a model, and what deferring saves.

    The first table has the definitions of each source: all of them, and those that are never
    deferred. The second has what is really sent, for each place where a model is shown tools: with
    every tool listed, and before any search. For the gateway that is its instructions and its
    `tools/list`. For a provider it is the tools of a request as its wire sends them, the note and
    the summary; the provider adds text of its own, which is not counted. The column of prefetch has
    the same with the tools that the user's message shows at once: at most, or for `--message`. The
    gateway sees no messages. Below stands which MCP servers ask to load tools always.
    """
    options: GlobalOptions = context.obj
    with options.crib() as crib:
        estimate = crib.session(tool_search=tool_search).token_estimate()
        if message:
            await_vectors(crib)
        costs = list(surfaces(crib, tool_search, token_counter(), message))
        entries = inventory_of(crib).seen_by(HOST).values()
        loads = Prices(token_counter).asked_loads(entries)
    if as_json:
        counted = [asdict(each) | {"share": each.share} for each in costs]
        saving = {"saved": estimate.saved, "share": estimate.share}
        print_json(asdict(estimate) | saving | {"surfaces": counted, "asked_loads": loads})
        return
    _show_costs(estimate, costs)
    for each in loads:
        print_text(f"{each}.")


def _show_costs(estimate: TokenEstimate, costs: list[Surface]) -> None:
    screen = console()
    total = ("all", estimate.tools, f"{estimate.eager:,}", f"{_core(estimate):,}")
    columns = ["definitions of", ">tools", ">tokens", ">never deferred"]
    screen.print(table("", columns, [*map(_source_row, estimate.sources), total]))
    screen.print()
    columns = ["sent by", ">all listed", ">with search", ">saved", ">with prefetch"]
    screen.print(table("", columns, map(_surface_row, costs)))
    print_footnotes(Footnote(each.name, each.note) for each in costs if each.note)
    print_text(_verdict(estimate))


def _source_row(cost: SourceTokens) -> tuple[object, ...]:
    return cost.source, cost.tools, f"{cost.eager:,}", f"{cost.core:,}"


def _core(estimate: TokenEstimate) -> int:
    return sum(cost.core for cost in estimate.sources)


def _surface_row(surface: Surface) -> tuple[object, ...]:
    eager = "too many" if surface.eager is None else f"{surface.eager:,}"
    share = "" if surface.share is None else f"{surface.share:.1%}"
    prefetched = "" if surface.prefetched is None else f"{surface.prefetched:,}"
    return surface.name, eager, f"{surface.sent:,}", share, prefetched


def _verdict(estimate: TokenEstimate) -> str:
    how = f"Tokens are {estimate.how}."
    if not estimate.break_even:
        return f"Nothing is deferred: all {estimate.tools} tools are sent whole. {how}"
    return (
        f"A conversation that has revealed {estimate.break_even} tools costs no less than with all"
        f" listed. {how}"
    )
