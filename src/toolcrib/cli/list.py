"""The command `toolcrib list`."""

from dataclasses import dataclass

import typer

from toolcrib.access import Scope
from toolcrib.cli.kinds import Kinds, chosen
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, print_text, table
from toolcrib.crib import HOST
from toolcrib.model import Entry, Kind, State, ToolInfo
from toolcrib.session import Prices, is_offered, tools_of
from toolcrib.text import token_counter


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
        waits = "" if self.deferral == "automatic" else self.deferral
        told = (waits, f"hidden in it: {', '.join(self.flags)}" if self.flags else "")
        about = "; ".join(filter(None, told))
        return self.name, self.kind, self.state, self.tokens, self.source, about


def list_command(
    context: typer.Context,
    kinds: Kinds = None,
    as_json: AsJson = False,
) -> None:
    """List everything in the pool, hidden or not, with its state.

    Tokens are those of name, description and schema, as a model would be sent them; skills and
    agents are sent when they are asked for. The sum is that of `toolcrib tokens`: of the tools that
    a model may be shown.

        toolcrib list | grep github
    """
    opening: Opening = context.obj
    with opening.crib() as crib:
        entries = sorted(crib.entries().values(), key=lambda entry: entry.name)
        seen = crib.seen_by(HOST)
    prices = Prices(token_counter)
    listed = [entry for entry in entries if not kinds or entry.capability.kind in chosen(kinds)]
    rows = [_row(entry, prices) for entry in listed]
    if as_json:
        print_json(rows)
        return
    columns = ["name", "kind", "state", ">tokens", "?source", "/about"]
    console().print(table("", columns, [row.cells() for row in rows]))
    shown = [entry for entry in listed if entry.name in seen and is_offered(entry, Scope())]
    total = prices.of(tools_of(shown))
    told = f"{len(rows)} capabilities. All {len(shown)} tools that a model may be shown are"
    print_text(f"{told} {total:,} tokens, {prices.counter.how}.")


def _row(entry: Entry, prices: Prices) -> Row:
    capability = entry.capability
    return Row(
        name=entry.name,
        source=capability.owner_label,
        kind=capability.kind,
        state=entry.state,
        deferral=_deferral(capability) if isinstance(capability, ToolInfo) else "-",
        tokens=prices.of(tools_of([entry])),
        flags=capability.flags,
    )


def _deferral(tool: ToolInfo) -> str:
    """Whether it waits for a search, and whether its server asks that it does not."""
    return f"{tool.defer} (its server asks: never)" if tool.asks_to_load else tool.defer
