"""The `--kind` option, alike for every command that has it."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import typer

from toolcrib.model import Kind


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


def chosen(kinds: Iterable[KindName] | None) -> frozenset[Kind]:
    """The kinds that were asked for; none means every kind."""
    return frozenset(kind.value for kind in kinds or ())
