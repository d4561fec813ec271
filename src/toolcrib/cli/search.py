"""The command `toolcrib search`."""

from typing import Annotated

import typer
from rich.table import Table

from toolcrib.cli.kinds import Kinds, chosen
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, counts, print_json, safe, table
from toolcrib.cli.vectors import await_vectors
from toolcrib.model import Answer

NAME = "search"


def run(
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

    Besides plain words, a query may be `select:NAME,NAME` (these, by name), `+word rest` (word has
    to be in the name), `/pattern/` (a regular expression) or empty (what there is).

        toolcrib search "mail an invoice"
        toolcrib search "+file move" --limit 3
        toolcrib search select:read_file,write_file
    """
    opening: Opening = context.obj
    with opening.crib() as crib:
        await_vectors(crib)
        answer = crib.search(query, limit=limit, kinds=chosen(kinds))
    print_json(answer) if as_json else show_answer(answer)


def show_answer(answer: Answer) -> None:
    """An answer as a table, and the way on where it is empty."""
    screen = console()
    if answer.hits:
        screen.print(_hits(answer))
        if answer.confidence != "high":
            screen.print(safe(f"Confidence: {answer.confidence} ({answer.chance:.2f})"))
    for hit in answer:
        if hit.often_with:
            screen.print(safe(f"Often with {hit.name}: {', '.join(hit.often_with)}"))
    for name, nearest in answer.missing.items():
        screen.print(safe(f"Not here: {name}. Nearest: {', '.join(nearest) or 'nothing alike'}"))
    if answer.note:
        screen.print(safe(answer.note))
    if answer.nearest:
        screen.print(safe(f"Nearest names: {', '.join(answer.nearest)}"))
    screen.print(*map(safe, answer.unavailable), sep="\n", end="\n" if answer.unavailable else "")
    for namespace, names in answer.names.items():
        screen.print(safe(f"{namespace} ({len(names)}): {', '.join(names)}"))
    if answer.namespaces and not answer.names:
        screen.print(safe(f"There are: {counts(answer.namespaces)}"))


def _hits(answer: Answer) -> Table:
    rows = [
        (
            place,
            hit.name,
            hit.kind,
            hit.state if not hit.remedy else f"{hit.state}: {hit.remedy}",
            hit.permission_kind,
            f"{hit.score:.4f}",
            hit.description,
        )
        for place, hit in enumerate(answer, 1)
    ]
    return table("", [">", "name", "kind", "state", "permission", ">score", "description"], rows)
