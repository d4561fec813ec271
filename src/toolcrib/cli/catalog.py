"""The commands `toolcrib list` and `toolcrib show`: everything in the pool, or one of it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated

import typer

from toolcrib.access import Scope
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, print_json, print_text, safe, table
from toolcrib.crib import HOST, inventory_of
from toolcrib.model import Entry, Kind, State, ToolInfo
from toolcrib.session import Prices, is_offered
from toolcrib.text import token_counter


def show_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="TOOL", help="Its name; the bare name will do if it is unique.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show one capability in full, with its schema."""
    options: GlobalOptions = context.obj
    with options.crib() as crib:
        entry = crib.get(name)
    print_json(_all_fields(entry)) if as_json else _show_entry(entry)


def _all_fields(entry: Entry) -> Mapping[str, object]:
    capability = entry.capability
    state = {"kind": capability.kind, "state": entry.state, "remedy": entry.remedy}
    return {**state, **asdict(capability)}


def _show_entry(entry: Entry) -> None:
    screen = console()
    screen.print(
        safe(f"{entry.name} ({entry.capability.kind}, {entry.state})"), style="bold", soft_wrap=True
    )
    for key, value in _all_fields(entry).items():
        if value not in ("", (), None, {}) and key not in ("name", "kind", "state"):
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


def kinds_of(kinds: Iterable[KindName] | None) -> frozenset[Kind]:
    """The kinds that were asked for; none means every kind."""
    return frozenset(kind.value for kind in kinds or ())


@dataclass(frozen=True, slots=True)
class CapabilityRow:
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
        waits = "" if self.deferral == "automatic" else self.deferral
        hidden = f"hidden in it: {', '.join(self.flags)}" if self.flags else ""
        about = "; ".join(filter(None, (waits, hidden)))
        return self.name, self.kind, self.state, self.tokens, self.source, about


def list_command(
    context: typer.Context,
    kinds: Kinds = None,
    as_json: AsJson = False,
) -> None:
    """List everything in the pool, hidden or not, with its state.

    Tokens count name, description and schema, as they would be sent to a model. Skills and agents
    are sent only when a model asks for them. The sum is over the tools that a model may be shown,
    as in `toolcrib tokens`.

        toolcrib list | grep github
    """
    options: GlobalOptions = context.obj
    with options.crib() as crib:
        entries = sorted(crib.entries().values(), key=lambda entry: entry.name)
        visible = inventory_of(crib).seen_by(HOST)
    prices = Prices(token_counter)
    listed = [entry for entry in entries if not kinds or entry.capability.kind in kinds_of(kinds)]
    rows = [_capability_row(entry, prices) for entry in listed]
    if as_json:
        print_json(rows)
        return
    columns = ["name", "kind", "state", ">tokens", "?source", "/about"]
    console().print(table("", columns, [row.cells() for row in rows]))
    offered = [entry for entry in listed if entry.name in visible and is_offered(entry, Scope())]
    total = prices.of_entries(offered)
    head = f"{len(rows)} capabilities. All {len(offered)} tools that a model may be shown are"
    print_text(f"{head} {total:,} tokens, {prices.counter.how}.")


def _capability_row(entry: Entry, prices: Prices) -> CapabilityRow:
    capability = entry.capability
    return CapabilityRow(
        name=entry.name,
        source=capability.owner_label,
        kind=capability.kind,
        state=entry.state,
        deferral=_deferral(capability) if isinstance(capability, ToolInfo) else "-",
        tokens=prices.of_entries([entry]),
        flags=capability.flags,
    )


def _deferral(tool: ToolInfo) -> str:
    """Whether it waits for a search, and whether its server asks that it does not."""
    return f"{tool.defer} (its server asks: never)" if tool.asks_to_load else tool.defer
