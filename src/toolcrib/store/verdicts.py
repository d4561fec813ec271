"""What the operator decides, written down. Nothing that a model can reach may import this."""

import time

from toolcrib.store.decisions import Decision, Decisions


def approve(decisions: Decisions, source: str, name: str, pin: str, definition: str) -> None:
    """From now on this definition, and no other of this name, may be shown and called."""
    row = Decision(source, name, "approved", pin, "operator", time.time(), definition)
    with decisions.deciding(source) as db:
        db.execute("DELETE FROM decision WHERE source = ? AND name = ?", (source, name))
        decisions.put(db, row)


def reject(decisions: Decisions, source: str, name: str, pin: str, definition: str) -> None:
    """Leave this definition out. What was approved before is approved still."""
    row = Decision(source, name, "rejected", pin, "operator", time.time(), definition)
    with decisions.deciding(source) as db:
        decisions.put(db, row)


def trust_first_sight(decisions: Decisions) -> None:
    """Trust what is new at first sight again, after a loss that the operator has seen to."""
    with decisions.deciding() as db:
        decisions.set_first_sight(db, trusted=True)
