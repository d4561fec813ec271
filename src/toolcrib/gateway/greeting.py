"""What a client has of the gateway before it asks for anything: instructions, and the list."""

import json
from dataclasses import dataclass

from toolcrib.crib import Crib
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.instructions import instructions
from toolcrib.gateway.modes import Mode
from toolcrib.gateway.sdk import Result
from toolcrib.gateway.shown import Shown
from toolcrib.gateway.side import Side


@dataclass(frozen=True, slots=True)
class Greeting:
    """What is told in one mode, and the `tools` of a `tools/list` as they are sent."""

    mode: Mode
    told: str
    tools: list[Result]

    @property
    def text(self) -> str:
        """All of it, as it stands on the wire."""
        listed = json.dumps(self.tools, ensure_ascii=False, separators=(",", ":"))
        return f"{self.told}\n{listed}"


def greeting(crib: Crib, guest: Guest, mode: Mode | None = None) -> Greeting:
    """What a client that nobody knows is given; in this mode rather than in its own, if said."""
    side = Side(crib, guest)
    shown = Shown(side)
    spoken = mode or shown.mode("", modern=True)
    told = instructions(spoken, tuple(side.visible.entries.values()))
    return Greeting(spoken, told, shown.tools(spoken))
