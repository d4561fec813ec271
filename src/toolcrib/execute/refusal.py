"""How a gate of the door says no: by raising, so that no gate can be passed by mistake."""

from collections.abc import Sequence
from typing import Literal

from toolcrib.model import CallError, JsonObject, Phase

Code = Literal[
    "unknown_tool",
    "ambiguous_name",
    "not_a_tool",
    "disabled",
    "other_platform",
    "needs_login",
    "changed",
    "unreviewed",
    "definition_changed",
    "not_revealed",
    "unknown_set",
    "not_read",
    "not_allowed",
    "approval_needed",
    "approval_denied",
    "approval_failed",
    "schema_refused",
    "bad_arguments",
    "overloaded",
    "unknown_handle",
    "door_failed",
]


class Refused(Exception):
    """A call that is not sent."""

    def __init__(
        self,
        code: Code,
        phase: Phase,
        message: str,
        *,
        schema: JsonObject | None = None,
        ticket: str = "",
    ) -> None:
        super().__init__(message)
        self.error = CallError(code, phase, message, schema=schema, ticket=ticket)


def listed(names: Sequence[str]) -> str:
    """Names for a message; "none" where there are none."""
    return ", ".join(names) or "none"
