"""What the operator decides, written down. Nothing that a model can reach may import this."""

import time

from toolcrib.store.decision_rows import Decision
from toolcrib.store.decisions import Decisions


def approve(decisions: Decisions, source: str, name: str, pin: str, definition: str) -> None:
    """From now on this definition, and no other of this name, may be shown and called."""
    row = Decision(source, name, "approved", pin, "operator", time.time(), definition)
    with decisions.deciding(source) as db:
        db.execute("DELETE FROM decision WHERE source = ? AND name = ?", (source, name))
        decisions.put(db, row)


def reject(decisions: Decisions, source: str, name: str, pin: str, definition: str) -> None:
    """Leave this definition out, if it was approved too. Another that was approved is still so."""
    row = Decision(source, name, "rejected", pin, "operator", time.time(), definition)
    where = "source = ? AND name = ? AND verdict = 'approved' AND pin = ?"
    with decisions.deciding(source) as db:
        db.execute(f"DELETE FROM decision WHERE {where}", (source, name, pin))  # noqa: S608 - ours
        decisions.put(db, row)


def trust_first_sight(decisions: Decisions) -> None:
    """Trust what is new at first sight again, after a loss that the operator has seen to."""
    with decisions.deciding() as db:
        decisions.set_first_sight(db, trusted=True)
