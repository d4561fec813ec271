"""The events of one server: its starts and ends, and tools that are not as they were approved."""

import time

from toolcrib.model import Event, JsonObject
from toolcrib.observe import Record
from toolcrib.sources.mcp.trust import ServerJudgement, ToolJudgement

WAITING = ("changed", "unreviewed")


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
        old = before.tools
        others = [(name, one) for name, one in now.tools.items() if old.get(name) is not one]
        for name, one in others:
            was = old.get(name)
            is_new = was is None or (was.status, was.pin) != (one.status, one.pin)
            if is_new and one.status in WAITING:
                self._tell_of_tool(name, one)

    def _tell_of_tool(self, name: str, tool: ToolJudgement) -> None:
        facts: JsonObject = {"pin": tool.pin, "flags": list(tool.flags)}
        event = Event(
            time.time(),
            "definition",
            name=name,
            server=self._server,
            code=tool.status,
            facts=facts,
        )
        self._record(event)

    def _tell(self, code: str, seconds: float) -> None:
        event = Event(time.time(), "server", server=self._server, seconds=seconds, code=code)
        self._record(event)
