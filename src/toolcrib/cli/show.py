"""The command `toolcrib show`."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, safe
from toolcrib.model import Entry


def show_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="TOOL", help="Its name; the bare name will do if it is unique.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show one capability in full, with its schema."""
    opening: Opening = context.obj
    with opening.crib() as crib:
        entry = crib.get(name)
    print_json(_whole(entry)) if as_json else _show(entry)


def _whole(entry: Entry) -> Mapping[str, object]:
    capability = entry.capability
    state = {"kind": capability.kind, "state": entry.state, "remedy": entry.remedy}
    return {**state, **asdict(capability)}


def _show(entry: Entry) -> None:
    screen = console()
    screen.print(
        safe(f"{entry.name} ({entry.capability.kind}, {entry.state})"), style="bold", soft_wrap=True
    )
    for key, value in _whole(entry).items():
        if value not in ("", (), None, {}) and key not in ("name", "kind", "state"):
            screen.print(safe(f"{key}: {_text(value)}"), soft_wrap=not isinstance(value, str))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
