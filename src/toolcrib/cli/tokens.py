"""The command `toolcrib tokens`."""

from dataclasses import asdict
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.crib import HOST
from toolcrib.session.accounting import Prices, SourceTokens, TokenEstimate
from toolcrib.session.policy import tools_of
from toolcrib.text.tokens import token_counter

NAME = "tokens"

Mode = Annotated[
    str | None, typer.Option(help="Take this mode in place of the setting `tool_search`.")
]


def run(context: typer.Context, mode: Mode = None, as_json: AsJson = False) -> None:
    """Tell what your tools cost a model with each request, and what deferring them saves.

    Eager is every definition whole. Deferred is what is sent in its place: the tools that are
    never deferred, the search tool, the note and the summary. What MCP servers ask to be always
    loaded is told below.
    """
    opening: Opening = context.obj
    with opening.crib() as crib:
        estimate = crib.session(mode=mode).token_estimate()
        asked = Prices(token_counter).asked_loads(tools_of(crib.seen_by(HOST).values()))
    if as_json:
        figures = {"saved": estimate.saved, "share": estimate.share, "asked_loads": asked}
        print_json(asdict(estimate) | figures)
        return
    columns = ["source", ">tools", ">eager", ">deferred", ">saved"]
    rows = [*map(_row, estimate.sources), *_sums(estimate)]
    console().print(table("", columns, rows))
    console().print(safe(_verdict(estimate)))
    for each in asked:
        console().print(safe(f"{each}."), soft_wrap=True)


def _row(cost: SourceTokens) -> tuple[object, ...]:
    saved = cost.eager - cost.core
    return cost.source, cost.tools, f"{cost.eager:,}", f"{cost.core:,}", f"{saved:,}"


def _sums(estimate: TokenEstimate) -> list[tuple[object, ...]]:
    extra = estimate.deferred - sum(cost.core for cost in estimate.sources)
    total = f"{estimate.eager:,}", f"{estimate.deferred:,}", f"{estimate.saved:,}"
    told = ("(search tool, note, summary)", "", "", f"{extra:,}", f"{-extra:,}")
    return [*([told] if extra else []), ("all", estimate.tools, *total)]


def _verdict(estimate: TokenEstimate) -> str:
    how = f"Tokens are {estimate.how}."
    if not estimate.break_even:
        return f"Nothing is deferred: all {estimate.tools} tools are sent whole. {how}"
    return (
        f"Deferring saves {estimate.share:.1%} of each request's tools, until a conversation has"
        f" revealed {estimate.break_even} of them. {how}"
    )
