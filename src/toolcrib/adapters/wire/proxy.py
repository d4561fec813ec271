"""The proxy tool: one tool of constant bytes that calls every tool a search has found."""

from dataclasses import replace
from typing import Final

from toolcrib.adapters.wire.calls import ToolCall
from toolcrib.adapters.wire.outcome_text import is_error_text
from toolcrib.execute import CallRefused
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.session import SEARCH_TOOL, Session, begins_with_page_note, revealed_in
from toolcrib.strict_json import parse_strictly

SEARCH: Final = SEARCH_TOOL.name
NAME: Final = "call_tool"

PROXY_TOOL: Final = ToolInfo(
    name=NAME,
    description=(
        f"Call a tool that `{SEARCH}` has found, by the name that it gave, with arguments that fit"
        " the parameters that it showed."
    ),
    pin=NAME,
    parameters={
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "description": f"The name, as `{SEARCH}` gave it.",
            },
            "arguments": {"type": "object", "description": "The arguments of that tool."},
        },
        "required": ["name", "arguments"],
        "additionalProperties": False,
    },
)
"""The same for every session: its bytes are part of what a provider caches."""

PROXY_NOTE: Final = (
    "You have more tools than are listed. Before you say that something cannot be done, call"
    f" `{SEARCH}` with what you need, then call what it finds with `{NAME}`. Do not guess the name"
    " or the arguments of a tool that you have not been shown."
)


def search_note(session: Session, *, proxy: bool = False) -> str:
    """How to find tools, with the proxy tool or without, and what waits; "" where nothing does.

    The same bytes as long as the catalog is the same.
    """
    note = session.system_note()
    how = PROXY_NOTE if note and proxy and session.style != "code" else note
    return "\n\n".join(filter(None, (how, session.deferred_summary())))


def proxy_tools(session: Session) -> tuple[ToolInfo, ...]:
    """The tools of a session with the proxy tool: the same list, whatever is revealed.

    In code mode a program calls what was found, and the proxy tool is not needed.
    """
    needed = session.deferring and session.style != "code"
    return (*session.stable_tools(), *([PROXY_TOOL] if needed else []))


def unwrap_proxy_call(call: ToolCall) -> ToolCall:
    """The call inside a call of the proxy tool; any other call as it is.

    A call of the proxy tool that names no tool is refused.
    """
    if call.name != NAME:
        return call
    match _read(call.arguments):
        case {"name": str(name), "arguments": dict() | str() as inner}:
            return ToolCall(call.id, name, inner)
        case {"name": str(name)}:
            return ToolCall(call.id, name, {})
        case _:
            return replace(call, refused=_MISUSED)


_MISUSED: Final = CallRefused(
    "bad_arguments",
    "arguments",
    f"{NAME!r} wants an object with the `name` of a tool that `{SEARCH}` has found, and its"
    " `arguments`; make the call again",
    schema=PROXY_TOOL.parameters,
).error


def revealed_by_call(call: ToolCall, text: str) -> tuple[str, ...]:
    """The names that a call and the text of its answer show to be revealed.

    After a search: what it made callable. After any other call: the tool, unless the call failed.
    """
    if call.is_search:
        return revealed_in(text)
    if is_error_text(text):
        return ()
    return (unwrap_proxy_call(call).name, *paging_tool_in(text))


def paging_tool_in(text: str) -> tuple[str, ...]:
    """The search tool, if the model can read on with it after this result; else nothing."""
    return (SEARCH,) if begins_with_page_note(text) else ()


def _read(arguments: JsonObject | str) -> Json:
    """Arguments as JSON, also where the provider sends text; None where that is not JSON."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return parse_strictly(arguments)
    except (ValueError, RecursionError):
        return None
