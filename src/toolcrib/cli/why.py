"""The command `toolcrib why`."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, Listing, console, print_json, print_text, table
from toolcrib.cli.vectors import await_vectors
from toolcrib.index import Arm
from toolcrib.search import Explanation, Wording

LEAST = 0.005
"""A lift that shows in two digits."""


def why_command(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The query, as it was asked.")],
    tool: Annotated[str, typer.Argument(help="The capability that was found, or was not.")],
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The limit, as it was asked.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Explain why a query finds a capability, or does not.

    Shows each wording of the query with the rank and the score that each arm gave, what each arm
    and the name add, beside the best, the several things that are asked for, how sure the answer
    is, the filters, the cut and the limit.

        toolcrib why "save a page" fetch_url
    """
    opening: Opening = context.obj
    with opening.crib() as crib:
        await_vectors(crib)
        explanation = crib.explain(query, tool, limit=limit)
    print_json(explanation) if as_json else show_explanation(explanation)


def show_explanation(why: Explanation) -> None:
    """An explanation, the verdict first."""
    print_text(f"{why.name} for {why.query!r}: {why.summary}.")
    if why.wordings:
        console().print(_wordings(why.wordings))
    best = f"; the best is {why.best[0]} with {why.best[1]:.4f}" if why.best else ""
    print_text(f"Fused: rank {why.rank or '-'}, score {why.score:.4f}{best}.")
    _show_lifts(why)
    if why.learned:
        print_text(f"Learned from use: the score is {why.learned:.1%} higher for it.")
    for part, rank in why.parts:
        print_text(f"Asked for beside: {part!r}, where it has rank {rank or '-'}.")
    print_text(f"Confidence of the answer: {why.confidence} ({why.chance:.2f}){_grounds(why)}.")
    print_text(f"State: {why.state}. Hidden by: {why.hidden or 'no filter'}.")
    print_text(f"The cut leaves {why.cut_at}, the limit {why.limit}.")


def _show_lifts(why: Explanation) -> None:
    """How the places came about: by how many deviations each arm lifts it above the others."""
    if why.lifts:
        print_text(f"What lifts it: {_sum(why.lifts)}.")
    if why.best and why.best[0] != why.name and why.best_lifts:
        print_text(f"What lifts the best: {_sum(why.best_lifts)}.")


def _sum(lifts: Mapping[str, float]) -> str:
    parts = ", ".join(f"{arm} {lift:+.2f}" for arm, lift in lifts.items() if abs(lift) >= LEAST)
    return f"{parts or 'nothing'}; in all {sum(lifts.values()):+.2f}"


def _grounds(why: Explanation) -> str:
    """What the chance comes from, where it is reckoned and not given by a name."""
    if why.chance == 1.0 or not why.wordings:
        return ""
    if why.cosine is not None:
        return f", by meaning: the nearest has a cosine of {why.cosine:.2f}"
    return f", by words alone: the best has {why.share:.0%} of what is asked"


def _wordings(wordings: Sequence[Wording]) -> Listing:
    arms = list(wordings[0].ranks)
    ranks = [f">{arm}" for arm in arms]
    rows = [
        (
            wording.text,
            wording.origin,
            f"{wording.weight:g}",
            *(_seen(wording, arm) for arm in arms),
            f"{wording.bonus:g}",
            wording.rank or "-",
            f"{wording.score:.4f}",
        )
        for wording in wordings
    ]
    return table("", ["wording", "from", ">weight", *ranks, ">bonus", ">rank", ">score"], rows)


def _seen(wording: Wording, arm: Arm) -> str:
    """The rank that an arm gave, and its score."""
    rank = wording.ranks[arm]
    return f"{rank} ({wording.scores[arm]:.2f})" if rank else "-"
