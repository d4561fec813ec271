"""How a gate of the door says no, and the gates before anybody is asked and anything is sent.

A gate raises `CallRefused`, so that none can be passed by mistake.
"""

from typing import Literal, cast

from toolcrib.access import why_barred
from toolcrib.execute.caller import Caller
from toolcrib.model import Call, CallError, Entry, Json, JsonObject, Phase, ToolInfo
from toolcrib.strict_json import NotJson, plain_json, read_json

# How a gate of the door says no: by raising, so that no gate can be passed by mistake.

RefusalCode = Literal[
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


class CallRefused(Exception):
    """A call that is not sent."""

    def __init__(
        self,
        code: RefusalCode,
        phase: Phase,
        message: str,
        *,
        schema: JsonObject | None = None,
        ticket: str = "",
    ) -> None:
        super().__init__(message)
        self.error = CallError(code, phase, message, schema=schema, ticket=ticket)


_CALLABLE = ("ready", "asleep")


def check_state(entry: Entry, shown: str) -> ToolInfo:
    """The tool of an entry that can be called, and is the one that was shown if a pin says which.

    Raises `CallRefused` with the remedy.
    """
    tool = entry.capability
    if not isinstance(tool, ToolInfo):
        todo = "read it" if tool.kind == "skill" else "hand it the work instead"
        raise CallRefused(
            "not_a_tool", "state", f"{entry.name!r} is not a tool but a {tool.kind}: {todo}"
        )
    if entry.state not in _CALLABLE:
        code = cast("RefusalCode", entry.state)
        raise CallRefused(code, "state", f"{entry.name!r} cannot be called now: {entry.remedy}")
    if shown and shown != tool.pin:
        raise changed(entry)
    return tool


def changed(entry: Entry) -> CallRefused:
    """The refusal of a tool that is not the one it was."""
    message = f"{entry.name!r} has another definition than when it was shown; search for it again"
    return CallRefused("definition_changed", "state", message)


def check_rights(entry: Entry, caller: Caller) -> None:
    """Raises `CallRefused` when this caller may not call it: by the filters that search has."""
    if reason := why_barred(entry, caller.scope):
        message = f"this caller may not call {entry.name!r} ({reason}); ask the operator for it"
        raise CallRefused("not_allowed", "rights", message)


def take_in(call: Call, tool: ToolInfo) -> Json:
    """A copy of the arguments that nobody else can change.

    Raises `CallRefused` for what no JSON can say.
    """
    try:
        return read_json(call.text) if call.text else plain_json(call.arguments)
    except NotJson as error:
        message = f"the arguments of {tool.name!r}: {error}"
        raise CallRefused("bad_arguments", "arguments", message, schema=tool.parameters) from None
