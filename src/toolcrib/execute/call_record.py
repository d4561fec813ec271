"""What the door has seen of a call, and the event that comes of it: no argument, and no result."""

import time
from dataclasses import dataclass, field

from toolcrib.execute.caller import Caller
from toolcrib.execute.tickets import ApprovalRequest
from toolcrib.model import CallError, Event, Json, Outcome
from toolcrib.strict_json import json_digest


@dataclass(slots=True)
class CallRecord:
    """What the door has seen of a call so far. `request` is there once the tool is known."""

    caller: Caller
    name: str
    at: float = field(default_factory=time.time)
    began: float = field(default_factory=time.monotonic)
    request: ApprovalRequest | None = None
    verdict: str = ""
    source: str = ""
    error: CallError | None = None
    seconds: float = 0.0
    repaired: int = 0

    def end(self, outcome: Outcome) -> None:
        """The call is over. Of its result nothing is held."""
        self.error, self.repaired = outcome.error, len(outcome.repaired)
        self.seconds = time.monotonic() - self.began

    def event(self) -> Event:
        """What is kept of it; hashes the arguments, which may take a while."""
        request, error, origin = self.request, self.error, self.caller.origin
        facts: dict[str, Json] = {
            "pin": request.pin if request else "",
            "arguments": json_digest(request.arguments) if request else "",
            "verdict": self.verdict,
            "effect": error.effect if error else "",
        }
        if self.repaired:
            facts["repaired"] = self.repaired
        return Event(
            at=self.at,
            kind="call",
            caller=self.caller.id,
            client=origin.client,
            conversation=origin.conversation,
            name=request.name if request else self.name,
            server=self.source,
            seconds=self.seconds,
            code=error.code if error else "",
            trace=origin.trace,
            facts=facts,
        )
