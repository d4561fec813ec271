"""The command `toolcrib why`."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.cli.vectors import await_vectors
from toolcrib.search.explain import Explanation, Wording

NAME = "why"


def run(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The query, as it was asked.")],
    tool: Annotated[str, typer.Argument(help="The capability that was found, or was not.")],
    limit: Annotated[int | None, typer.Option(min=1, help="The limit, as it was asked.")] = None,
    as_json: AsJson = False,
) -> None:
    """Explain why a query finds a capability, or does not.

    Shows each wording of the query with the rank that each arm gave, what its name and its intent
    added, the fused rank, the filters, the cut and the limit.
    """
    opening: Opening = context.obj
    with opening.crib() as crib:
        await_vectors(crib)
        explanation = crib.explain(query, tool, limit=limit)
    print_json(explanation) if as_json else show_explanation(explanation)


def show_explanation(why: Explanation) -> None:
    """An explanation, the verdict first."""
    screen = console()
    screen.print(safe(f"{why.name} for {why.query!r}: {why.summary}."))
    if why.wordings:
        screen.print(_wordings(why.wordings))
    best = f"; the best is {why.best[0]} with {why.best[1]:.4f}" if why.best else ""
    screen.print(safe(f"Fused: rank {why.rank or '-'}, score {why.score:.4f}{best}."))
    if why.learned:
        screen.print(safe(f"Learned from use: the score is {why.learned:.1%} higher for it."))
    for part, rank in why.parts:
        screen.print(safe(f"Asked for beside: {part!r}, where it has rank {rank or '-'}."))
    screen.print(safe(f"Confidence of the answer: {why.confidence} ({why.chance:.2f})."))
    screen.print(safe(f"State: {why.state}. Hidden by: {why.hidden or 'no filter'}."))
    screen.print(safe(f"The cut leaves {why.cut_at}, the limit {why.limit}."))


def _wordings(wordings: Sequence[Wording]) -> Table:
    arms = list(wordings[0].ranks)
    ranks = [f">{arm}" for arm in arms]
    rows = [
        (
            wording.text,
            wording.origin,
            f"{wording.weight:g}",
            *(wording.ranks[arm] or "-" for arm in arms),
            f"{wording.bonus:g}",
            wording.rank or "-",
            f"{wording.score:.4f}",
        )
        for wording in wordings
    ]
    return table("", ["wording", "from", ">weight", *ranks, ">bonus", ">rank", ">score"], rows)
