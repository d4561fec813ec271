"""The commands `toolcrib list` and `toolcrib show`: everything in the pool, or one of it."""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.inquiry import inquire
from toolcrib.cli.screen import AsJson, console, print_json, print_text, safe, table

if TYPE_CHECKING:
    from toolcrib.model import Kind


def show_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="TOOL", help="Its name; the bare name will do if it is unique.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show one capability in full, with its schema."""
    fields = inquire(context.obj, "show", tool=name)
    print_json(fields) if as_json else _show_fields(fields)


def _show_fields(fields: Mapping[str, Any]) -> None:
    screen = console()
    head = f"{fields['name']} ({fields['kind']}, {fields['state']})"
    screen.print(safe(head), style="bold", soft_wrap=True)
    for key, value in fields.items():
        if value not in ("", [], None, {}) and key not in ("name", "kind", "state"):
            screen.print(safe(f"{key}: {_field_text(value)}"), soft_wrap=not isinstance(value, str))


def _field_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


class KindName(StrEnum):
    """The kinds as words on the command line."""

    tool = "tool"
    skill = "skill"
    agent = "agent"


Kinds = Annotated[
    list[KindName] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="Only tools, skills or agents: `tool`, `skill`, `agent`; may be repeated.",
    ),
]


def kinds_of(kinds: Iterable[KindName] | None) -> "frozenset[Kind]":
    """The kinds that were asked for; none means every kind."""
    return frozenset(kind.value for kind in kinds or ())


def list_command(
    context: typer.Context,
    kinds: Kinds = None,
    as_json: AsJson = False,
) -> None:
    """List everything in the pool, hidden or not, with its state.

    A tool waits for a search, is always shown to models, or is never found: with the reason.
    Tokens count name, description and schema, as they would be sent to a model. Skills and agents
    are sent only when a model asks for them. The sum is over the tools that a model may be shown,
    as in `toolcrib tokens`.

        toolcrib list | grep github
    """
    listed = inquire(context.obj, "list", kinds=sorted(kinds_of(kinds)))
    if as_json:
        print_json(listed["rows"])
        return
    columns = ["name", "kind", "state", "shown", ">tokens", "?source", "/about"]
    console().print(table("", columns, map(_cells, listed["rows"])))
    head = f"{len(listed['rows'])} capabilities. All {listed['offered']} tools that a model may be"
    print_text(f"{head} shown are {listed['tokens']:,} tokens, {listed['how']}.")
    for line in listed.get("cut", ()):
        print_text(line)


def _cells(row: Mapping[str, Any]) -> tuple[object, ...]:
    """What the table shows of a capability."""
    hidden = f"hidden in it: {', '.join(row['flags'])}" if row["flags"] else ""
    rules = "" if row["rules"] in ("allow", "") else f"rules: {row['rules']}"
    about = "; ".join(filter(None, (rules, hidden)))
    shown = row["deferral"]
    return row["name"], row["kind"], row["state"], shown, row["tokens"], row["source"], about
