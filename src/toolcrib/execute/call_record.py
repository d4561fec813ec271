"""What the door has seen of a call, and the event that comes of it: no argument, and no result."""

import time
from dataclasses import dataclass, field

from toolcrib.execute.caller import Caller
from toolcrib.execute.tickets import ApprovalRequest
from toolcrib.model import (
    NO_ORIGIN,
    CallError,
    Event,
    EventOrigin,
    Json,
    Outcome,
    SpanRecord,
    read_traceparent,
    trace_id,
)
from toolcrib.observe import mask_personal
from toolcrib.strict_json import json_digest


@dataclass(slots=True)
class CallRecord:
    """What the door has seen of a call so far. `request` is there once the tool is known.

    `origin` has its span. `outcome` is held only for a span that is to say what came of it.
    """

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
    origin: EventOrigin = NO_ORIGIN
    outcome: Outcome | None = None

    def end(self, outcome: Outcome, *, hold: bool = False) -> None:
        """The call is over. Of its result nothing is held, unless the operator wants it sent."""
        self.outcome = outcome if hold else None
        self.error, self.repaired = outcome.error, len(outcome.repaired)
        self.seconds = time.monotonic() - self.began

    def event(self) -> Event:
        """What is kept of it; hashes the arguments, which may take a while."""
        request, error, origin = self.request, self.error, self.origin
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
            trace=trace_id(origin.trace),
            facts=facts,
        )

    def span(self) -> SpanRecord:
        """The span of it, which its origin has."""
        request, error, origin = self.request, self.error, self.origin
        facts: dict[str, Json] = {"verdict": self.verdict, "repaired": self.repaired}
        if error:
            facts["effect"] = error.effect
        if self.source:
            facts["server"] = self.source
        if self.outcome and request:
            facts |= {"arguments": request.arguments, "result": self.outcome.content}
        parent = read_traceparent(self.caller.origin.trace)
        name = request.name if request else mask_personal(self.name)
        code = error.code if error else ""
        return SpanRecord(
            "execute",
            self.at,
            self.seconds,
            origin.trace,
            parent,
            origin.trace_state,
            name,
            code,
            facts,
        )
