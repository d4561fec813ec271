"""How a run comes back: over, with its value or its error; or waiting; or not there any more."""

from collections.abc import Iterable, Mapping

from toolcrib.model import CallError
from toolcrib.program.outcome import ProgramCall, ProgramOutcome, effect_of
from toolcrib.program.recipe import HANDLE
from toolcrib.program.sandbox import Ended, Failed, Step
from toolcrib.program.suspension import CallAwaitingApproval
from toolcrib.program.values import returned_value, shown_value
from toolcrib.text import printable

LONGEST_MESSAGE = 2_000

_GONE = (
    "no program waits under this handle: it has gone on already, or was not resumed in time, or"
    " belongs to another caller. What it has called was called: run it anew only if that is safe"
)


def gone() -> ProgramOutcome:
    """That nothing waits under a handle."""
    return ProgramOutcome(error=CallError("unknown_handle", "start", _GONE))


def waits(
    handle: str,
    waiting: Mapping[int, CallAwaitingApproval],
    printed: str,
    calls: Mapping[int, ProgramCall],
) -> ProgramOutcome:
    """That a program waits, for whom, and how it goes on."""
    by_ticket: dict[str, list[str]] = {}
    for each in waiting.values():
        by_ticket.setdefault(each.ticket, []).append(each.function.name)
    named = ", ".join(f"{', '.join(names)} (ticket {id})" for id, names in by_ticket.items())
    again = handle.startswith(HANDLE)
    how = "make the same call again" if again else f"resume it with the handle {handle}"
    message = (
        f"the program waits for the operator's approval: {named}. It goes on where it is: once the"
        f" approval is given, {how}"
    )
    ticket = next(each.ticket for each in waiting.values())
    error = CallError("approval_needed", "approval", message, ticket=ticket)
    made = tuple(calls.values())
    return ProgramOutcome(error=error, printed=printed, calls=made, suspended=handle)


def ended(last: Step, printed: str, made: Iterable[ProgramCall]) -> ProgramOutcome:
    """What a program gives back that is over: `last` is `Ended` or `Failed`."""
    # A call that waits when its program is over is never sent.
    calls = tuple(
        each._replace(effect="refused") if each.effect == "waiting" else each for each in made
    )
    match last:
        case Ended():
            value = returned_value(last.value)
            content = shown_value(value, printed)
            return ProgramOutcome(content, value=value, printed=printed, calls=calls)
        case Failed():
            where = f"line {last.line}: " if last.line else ""
            message = where + printable(last.message[:LONGEST_MESSAGE])
            error = CallError(last.code, "call", message, effect=effect_of(calls))
            return ProgramOutcome(printed or None, error=error, printed=printed, calls=calls)
        case _:
            raise AssertionError(f"a program does not end with {last}")
