"""From an admitted call to its outcome: one source, a deadline, at most one more try.

Not a gate: whatever comes here has passed them all.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace

from toolcrib.errors import BadArguments, UnknownTool
from toolcrib.model import Call, CallContext, CallError, Outcome, ToolInfo
from toolcrib.sources import Source
from toolcrib.system import DEADLINE_PASSED, CallClock, done_in_time
from toolcrib.text import without_hidden

GRACE_S = 0.25
LONGEST_MESSAGE = 4_000

GAVE_UP = CallError(
    "tool_cancelled",
    "call",
    "the tool gave up before it was done, and nobody knows whether it took effect",
    effect="unknown",
)

_log = logging.getLogger(__name__)


async def dispatch(
    call: Call, tool: ToolInfo, source: Source, running: CallContext, *, patient: bool = False
) -> Outcome:
    """Call it; once more if it is a `read` that failed or was cut off, and there is time left.

    `patient`: whether its clock may be stopped while its source gets ready.

    Every other kind is sent at most once. The kind is the one that the approval went by: what a
    server says of a tool makes it a `read` only as far as it is believed.
    """
    waiting = CallClock(running.ask)
    running = replace(running, ask=waiting.ask, pause=waiting.pause if patient else None)
    outcome = await _attempt(call, tool, source, running, waiting)
    in_time = running.deadline + waiting.spent_s > time.monotonic()
    if _may_repeat(tool, outcome.error) and in_time:
        outcome = await _attempt(call, tool, source, running, waiting)
    return _told(outcome, tool.source_id)


def _may_repeat(tool: ToolInfo, error: CallError | None) -> bool:
    """Whether to send it twice does no harm and may help. A `read` has no effect to be in doubt."""
    return tool.permission_kind == "read" and error is not None and error.retryable


def _told(outcome: Outcome, server: str | None) -> Outcome:
    """The outcome with an error that names its server, in a message fit to be shown.

    The words are a stranger's: nothing hidden, no control characters, and not without end.
    """
    if outcome.error is None:
        return outcome
    said = without_hidden(outcome.error.message[:LONGEST_MESSAGE])
    message = "".join(c if c.isprintable() or c == "\n" else " " for c in said)
    return replace(
        outcome,
        error=replace(outcome.error, message=message, server=outcome.error.server or server),
    )


async def _attempt(
    call: Call, tool: ToolInfo, source: Source, running: CallContext, waiting: CallClock
) -> Outcome:
    try:
        return await _in_time(lambda: source.call(call, running), running.deadline, waiting)
    except BadArguments as error:
        refused = CallError("bad_arguments", "arguments", str(error), schema=tool.parameters)
        return Outcome(error=refused)
    except UnknownTool as error:
        return Outcome(error=CallError("unknown_tool", "resolve", str(error)))
    except Exception as error:  # noqa: BLE001 - it was sent: its outcome is due
        _log.exception("the source of %s broke its promise not to raise", tool.name)
        lost = (
            f"its source failed ({type(error).__name__}), and nobody knows whether it took effect"
        )
        return Outcome(error=CallError("source_failed", "call", lost, effect="unknown"))


async def _in_time(
    start: Callable[[], Coroutine[None, None, Outcome]], deadline: float, waiting: CallClock
) -> Outcome:
    """The outcome, or that it is late: of a source that does not keep to the deadline itself.

    One that does not even listen when it is cancelled is left behind.
    """
    until = max(deadline, time.monotonic() - waiting.spent_s) + GRACE_S
    task = asyncio.ensure_future(start())
    task.add_done_callback(_heard)
    try:
        done = await done_in_time(task, lambda: until + waiting.spent_s - time.monotonic())
    finally:
        task.cancel()
    if not done:
        return Outcome(error=DEADLINE_PASSED)
    return Outcome(error=GAVE_UP) if task.cancelled() else task.result()


def _heard(task: asyncio.Task[Outcome]) -> None:
    """Take note of how a task ended that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
