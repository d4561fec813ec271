"""What a check finds, and what every check is given."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolcrib.crib import Crib
from toolcrib.settings import Settings
from toolcrib.sources.mcp import McpServers

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at. A warning or a problem has a remedy."""

    area: str
    level: Level
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What is examined: the settings as they are, and all that they name.

    `start` is whether servers may be started for it.
    """

    settings: Settings
    crib: Crib
    servers: McpServers
    start: bool = False


Check: TypeAlias = Callable[[CheckContext], Iterator[Diagnosis]]
"""Looks and does not touch: what it finds in order is a finding too."""
