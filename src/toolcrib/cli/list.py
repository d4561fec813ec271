"""The command `toolcrib list`."""

import json
from dataclasses import astuple, dataclass

import typer

from toolcrib.cli.kinds import Kinds, chosen
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.model import Entry, Kind, State, ToolInfo
from toolcrib.text.tokens import estimate_tokens

NAME = "list"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list."""

    name: str
    source: str
    kind: Kind
    state: State
    deferral: str
    tokens: int
    flags: tuple[str, ...] = ()

    def cells(self) -> tuple[object, ...]:
        """What the table shows of it."""
        return (*astuple(self)[:-1], ", ".join(self.flags))


def run(
    context: typer.Context,
    kinds: Kinds = None,
    as_json: AsJson = False,
) -> None:
    """List everything in the pool, hidden or not, with its state and what it costs a model.

    Tokens are estimates of name, description and schema, as a model would be sent them.
    """
    opening: Opening = context.obj
    with opening.crib() as crib:
        entries = sorted(crib.entries().values(), key=lambda entry: entry.name)
    rows = [_row(entry) for entry in entries if not kinds or entry.capability.kind in chosen(kinds)]
    if as_json:
        print_json(rows)
        return
    columns = ["name", "source", "kind", "state", "deferral", ">≈tokens", "flags"]
    total = sum(row.tokens for row in rows)
    console().print(table("", columns, [row.cells() for row in rows]))
    console().print(safe(f"{len(rows)} capabilities, about {total:,} tokens if all were shown."))


def _row(entry: Entry) -> Row:
    capability = entry.capability
    return Row(
        name=entry.name,
        source=":".join(filter(None, (capability.source, capability.source_id))),
        kind=capability.kind,
        state=entry.state,
        deferral=capability.defer if isinstance(capability, ToolInfo) else "-",
        tokens=_tokens(entry),
        flags=capability.flags,
    )


def _tokens(entry: Entry) -> int:
    capability = entry.capability
    shown = {"name": entry.name, "description": capability.description}
    if isinstance(capability, ToolInfo):
        shown |= {"parameters": json.dumps(capability.parameters, ensure_ascii=False)}
    return estimate_tokens(json.dumps(shown, ensure_ascii=False))
