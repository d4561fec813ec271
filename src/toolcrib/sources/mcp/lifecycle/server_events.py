"""The events of one server: its starts and ends, and tools that are not as they were approved."""

import time

from toolcrib.model import Event, JsonObject
from toolcrib.observe import Record
from toolcrib.sources.mcp.trust import ServerJudgement

MOST_TOOLS = 100
"""Events of one listing, at most: a server may change all of its tools at once."""


class ServerEvents:
    """Tells of one server what happens to it."""

    def __init__(self, server: str, record: Record) -> None:
        self._server = server
        self._record = record

    def started(self, start_s: float) -> None:
        """It is up, after so many seconds."""
        self._tell("started", start_s)

    def failed(self, code: str) -> None:
        """It did not start, or wants a login."""
        self._tell(code, 0.0)

    def ended(self, up_s: float, *, crashed: bool) -> None:
        """It ended after so many seconds; `crashed`: by itself."""
        self._tell("crashed" if crashed else "stopped", up_s)

    def judged(self, before: ServerJudgement, now: ServerJudgement) -> None:
        """Its tools are judged anew: tell of those that wait for the operator and did not."""
        for name in now.waiting()[:MOST_TOOLS]:
            tool, was = now.tools[name], before.tools.get(name)
            if was is None or (was.status, was.pin) != (tool.status, tool.pin):
                facts: JsonObject = {"pin": tool.pin, "flags": list(tool.flags)}
                self._record(
                    Event(
                        time.time(),
                        "definition",
                        name=name,
                        server=self._server,
                        code=tool.status,
                        facts=facts,
                    )
                )

    def _tell(self, code: str, seconds: float) -> None:
        event = Event(time.time(), "server", server=self._server, seconds=seconds, code=code)
        self._record(event)
