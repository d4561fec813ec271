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


def greeting(crib: Crib, guest: Guest, mode: Mode | None = None, client: str = "") -> Greeting:
    """What a client is given; in this mode rather than in its own, if said.

    Without a name it is one that nobody knows; with one, as it is today, of the era before.
    """
    side = Side(crib, guest)
    shown = Shown(side)
    spoken = mode or shown.mode(client, modern=not client)
    told = instructions(spoken, tuple(side.visible.entries.values()), side.unavailable())
    return Greeting(spoken, told, shown.tools(spoken))
