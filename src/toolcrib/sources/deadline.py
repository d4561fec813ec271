"""The deadline of a call: how long it has, and what it is when that is over."""

import time

from toolcrib.model import CallContext, CallError

LATE = CallError(
    "deadline",
    "call",
    "no answer by the deadline, so nobody knows whether it took effect; "
    "look before you call again, or allow it more time",
    effect="unknown",
)


def left_s(running: CallContext) -> float:
    """The seconds until the deadline, never below zero."""
    return max(0.0, running.deadline - time.monotonic())
