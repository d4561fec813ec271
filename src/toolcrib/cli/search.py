"""The commands `toolcrib search` and `toolcrib why`: one query, its answer and the reasons."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.catalog import Kinds, kinds_of
from toolcrib.cli.inquiry import inquire
from toolcrib.cli.screen import (
    AsJson,
    Footnote,
    TextTable,
    console,
    counts,
    print_footnotes,
    print_json,
    print_text,
    table,
)

if TYPE_CHECKING:
    from toolcrib.index import Arm
    from toolcrib.model import Answer
    from toolcrib.search import Explanation, Wording


def search_command(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What is needed, in English or Chinese.")],
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many hits at most. [default: the setting]"),
    ] = None,
    kinds: Kinds = None,
    as_json: AsJson = False,
) -> None:
    """Find capabilities for a need.

    A query is plain words, `select:NAME,NAME` (these names), `+word rest` (the word must be in the
    name), `/pattern/` (a regular expression) or empty (lists what there is).

        toolcrib search "mail an invoice"
        toolcrib search "+file move" --limit 3
        toolcrib search select:read_file,write_file
    """
    asked = {"query": query, "limit": limit, "kinds": sorted(kinds_of(kinds))}
    answer = inquire(context.obj, "search", **asked)["answer"]
    print_json(answer) if as_json else show_answer(_answer_of(answer))


def _answer_of(reply: Mapping[str, Any]) -> "Answer":
    """An answer, out of JSON."""
    from toolcrib.model import Answer, Hit, UnavailableServer

    hits = tuple(Hit(**each) for each in reply["hits"])
    unavailable = tuple(UnavailableServer(**each) for each in reply["unavailable"])
    fields: dict[str, Any] = {**reply, "hits": hits, "unavailable": unavailable}
    return Answer(**fields)


def show_answer(answer: "Answer") -> None:
    """An answer as a table, and the way on where it is empty."""
    if answer.hits:
        console().print(_hit_table(answer))
        remedies = dict.fromkeys((hit.state, hit.remedy) for hit in answer if hit.remedy)
        print_footnotes(Footnote(state, remedy) for state, remedy in remedies)
        if answer.confidence != "high":
            print_text(f"Confidence: {answer.confidence} ({answer.chance:.2f})")
    for hit in answer:
        if hit.often_with:
            print_text(f"Often with {hit.name}: {', '.join(hit.often_with)}")
    for name, nearest in answer.missing.items():
        print_text(f"Not here: {name}. Nearest: {', '.join(nearest) or 'nothing alike'}")
    if answer.note:
        print_text(answer.note)
    _show_servers(answer)
    for namespace, names in answer.names.items():
        print_text(f"{namespace} ({len(names)}): {', '.join(names)}", indent=2)
    if answer.namespaces and not answer.names:
        print_text(f"There are: {counts(answer.namespaces)}")


def _show_servers(answer: "Answer") -> None:
    """The servers that may be meant and whose tools cannot be had."""
    for server in answer.unavailable:
        print_text(str(server))


def _hit_table(answer: "Answer") -> TextTable:
    rows = [
        (
            hit.name,
            hit.kind,
            hit.state,
            f"{hit.permission_kind}, asks" if hit.asks else hit.permission_kind,
            f"{hit.score:.4f}",
            hit.description,
        )
        for hit in answer
    ]
    return table("", ["name", "kind", "state", "permission", ">score", "/description"], rows)


LEAST_CONTRIBUTION = 0.005
"""A contribution that shows in two digits."""


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

    Shows what was corrected in the query; each of its wordings, with the rank and the score of each
    arm; what each arm and the name add, compared with the best hit; the parts of the task; how sure
    the answer is; the filters, the cut and the limit; and what prefetch shows at once, if the user
    writes this to a model.

        toolcrib why "save a page" fetch_url
    """
    reply = inquire(context.obj, "why", query=query, tool=tool, limit=limit)
    if as_json:
        print_json({**reply["explanation"], "prefetch": reply["prefetch"]})
        return
    from toolcrib.search import explanation_of_json

    show_explanation(explanation_of_json(reply["explanation"]))
    print_text(f"Prefetch {reply['prefetch_text']}")


def show_explanation(why: "Explanation") -> None:
    """An explanation, the verdict first."""
    print_text(f"{why.name} for {why.query!r}: {why.summary}.")
    if why.corrections:
        print_text(f"Corrected: {', '.join(why.corrections)}.")
    if why.wordings:
        console().print(_wording_table(why.wordings))
    best = f"; the best is {why.best[0]} with {why.best[1]:.4f}" if why.best else ""
    print_text(f"Fused: rank {why.rank or '-'}, score {why.score:.4f}{best}.")
    _show_contributions(why)
    if why.learned:
        print_text(f"Learned from use: the score is {why.learned:.1%} higher for it.")
    for part, rank in why.parts:
        print_text(f"Part of the task: {part!r}, where it has rank {rank or '-'}.")
    print_text(f"Confidence of the answer: {why.confidence} ({why.chance:.2f}){_grounds(why)}.")
    print_text(f"State: {why.state}. Hidden by: {why.hidden or 'no filter'}.")
    print_text(f"The cut leaves {why.cut_at}, the limit {why.limit}.")


def _show_contributions(why: "Explanation") -> None:
    """How the places came about: by how many deviations each arm lifts it above the others."""
    if why.contributions:
        print_text(f"What lifts it: {_sum(why.contributions)}.")
    if why.best and why.best[0] != why.name and why.best_contributions:
        print_text(f"What lifts the best: {_sum(why.best_contributions)}.")


def _sum(contributions: Mapping[str, float]) -> str:
    parts = ", ".join(
        f"{arm} {part:+.2f}"
        for arm, part in contributions.items()
        if abs(part) >= LEAST_CONTRIBUTION
    )
    return f"{parts or 'nothing'}; in all {sum(contributions.values()):+.2f}"


def _grounds(why: "Explanation") -> str:
    """What the chance comes from, where it is reckoned and not given by a name."""
    if why.chance == 1.0 or not why.wordings:
        return ""
    if why.absent:
        return ": it names a product that nothing here is of"
    if why.cosine is not None and why.look is not None:
        return (
            f", by meaning: the best answers its words to {why.look:.2f}, the nearest has a cosine"
            f" of {why.cosine:.2f}"
        )
    if why.cosine is not None:
        return f", by meaning: the nearest has a cosine of {why.cosine:.2f}"
    return f", by words alone: the best has {why.share:.0%} of what is asked"


def _wording_table(wordings: "Sequence[Wording]") -> TextTable:
    arms = list(wordings[0].ranks)
    ranks = [f">{arm}" for arm in arms]
    rows = [
        (
            wording.text,
            wording.origin,
            f"{wording.weight:g}",
            *(_rank_and_score(wording, arm) for arm in arms),
            f"{wording.bonus:g}",
            wording.rank or "-",
            f"{wording.score:.4f}",
        )
        for wording in wordings
    ]
    return table("", ["wording", "from", ">weight", *ranks, ">bonus", ">rank", ">score"], rows)


def _rank_and_score(wording: "Wording", arm: "Arm") -> str:
    """The rank that an arm gave, and its score."""
    rank = wording.ranks[arm]
    return f"{rank} ({wording.scores[arm]:.2f})" if rank else "-"
