"""The command `toolcrib search`."""

from typing import Annotated

import typer

from toolcrib.cli.kinds import Kinds, chosen
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import (
    AsJson,
    Listing,
    Note,
    console,
    counts,
    print_json,
    print_notes,
    print_text,
    table,
)
from toolcrib.cli.vectors import await_vectors
from toolcrib.model import Answer


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
    if answer.hits:
        console().print(_hits(answer))
        remedies = dict.fromkeys((hit.state, hit.remedy) for hit in answer if hit.remedy)
        print_notes(Note(state, remedy) for state, remedy in remedies)
        if answer.confidence != "high":
            print_text(f"Confidence: {answer.confidence} ({answer.chance:.2f})")
    for hit in answer:
        if hit.often_with:
            print_text(f"Often with {hit.name}: {', '.join(hit.often_with)}")
    for name, nearest in answer.missing.items():
        print_text(f"Not here: {name}. Nearest: {', '.join(nearest) or 'nothing alike'}")
    if answer.note:
        print_text(answer.note)
    if answer.nearest:
        print_text(f"Nearest names: {', '.join(answer.nearest)}")
    _show_servers(answer)
    for namespace, names in answer.names.items():
        print_text(f"{namespace} ({len(names)}): {', '.join(names)}", indent=2)
    if answer.namespaces and not answer.names:
        print_text(f"There are: {counts(answer.namespaces)}")


def _show_servers(answer: Answer) -> None:
    """The servers that may be meant and whose tools cannot be had."""
    for server in answer.unavailable:
        print_text(str(server))


def _hits(answer: Answer) -> Listing:
    rows = [
        (
            hit.name,
            hit.kind,
            hit.state,
            hit.permission_kind,
            f"{hit.score:.4f}",
            hit.description,
        )
        for hit in answer
    ]
    return table("", ["name", "kind", "state", "permission", ">score", "/description"], rows)
