"""The first gates of the door, and how every gate says no.

A gate raises `CallRefused`, so that none can be passed by mistake. These gates come before anybody
is asked: can the tool be called now, is it the one that was shown, may this caller call it, are its
arguments JSON.
"""

from typing import Literal, cast

from toolcrib.access import why_barred
from toolcrib.api_arguments import fits
from toolcrib.execute.caller import Caller
from toolcrib.model import (
    CALLABLE_STATES,
    Call,
    CallError,
    Entry,
    Json,
    JsonObject,
    Phase,
    ToolInfo,
)
from toolcrib.strict_json import NotJson, plain_json, read_json

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
    "deadline",
    "unknown_handle",
    "store_away",
    "door_failed",
]
"""Each is explained in docs/errors.md."""
DENIED = "approval_denied"


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


def check_limit(limit_s: float) -> None:
    """Return if a call has time. Raises `CallRefused`: what has none is not sent."""
    if not (fits(limit_s, int | float) and limit_s > 0):
        message = f"timeout_s takes a number above 0, not {limit_s!r:.80}; nothing was sent"
        raise CallRefused("deadline", "start", message)


def check_state(entry: Entry, pin: str) -> ToolInfo:
    """The tool of an entry, if it can be called now.

    `pin` is that of the definition that was shown; "" if nobody knows. Raises `CallRefused` with
    the remedy.
    """
    tool = entry.capability
    if not isinstance(tool, ToolInfo):
        todo = "read it" if tool.kind == "skill" else "hand it the work instead"
        raise CallRefused(
            "not_a_tool", "state", f"{entry.name!r} is not a tool but a {tool.kind}: {todo}"
        )
    if entry.state not in CALLABLE_STATES:
        code = cast("RefusalCode", entry.state)
        raise CallRefused(code, "state", f"{entry.name!r} cannot be called now: {entry.remedy}")
    if pin not in ("", tool.pin):
        raise definition_changed(entry)
    return tool


def definition_changed(entry: Entry) -> CallRefused:
    """The refusal of a tool that is not the one it was."""
    message = (
        f"the definition of {entry.name!r} has changed since it was shown; search for it again"
    )
    return CallRefused("definition_changed", "state", message)


def ruled_out(name: str) -> CallRefused:
    """The refusal of a tool that a rule denies."""
    message = f"the operator's rules deny {name!r}; do without it"
    return CallRefused(DENIED, "approval", message)


def check_rights(entry: Entry, caller: Caller) -> None:
    """Return if this caller may call it. Raises `CallRefused`.

    Search hides by the same filters.
    """
    if not caller.may_call:
        message = f"this caller may search, and not call {entry.name!r}; ask the operator for it"
        raise CallRefused("not_allowed", "rights", message)
    reason = why_barred(entry, caller.scope)
    if reason not in ("", "denied"):  # what is denied is for the next gate to refuse
        message = f"this caller may not call {entry.name!r} ({reason}); ask the operator for it"
        raise CallRefused("not_allowed", "rights", message)


def copy_arguments(call: Call, tool: ToolInfo) -> Json:
    """The arguments as JSON, in a copy that nobody else can change.

    So what is approved is what is checked and sent. Raises `CallRefused` for what is not JSON.
    """
    try:
        return read_json(call.text) if call.text else plain_json(call.arguments)
    except NotJson as error:
        message = f"the arguments of {tool.name!r}: {error}"
        raise CallRefused("bad_arguments", "arguments", message, schema=tool.parameters) from None
