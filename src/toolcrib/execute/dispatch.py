"""From an admitted call to its outcome: one source, a deadline, at most one more try.

Not a gate: whatever comes here has passed them all.
"""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace

from toolcrib.errors import BadArguments, UnknownTool
from toolcrib.model import Call, CallContext, CallError, Deadline, Outcome, ToolInfo
from toolcrib.sources import Source
from toolcrib.system import CallQuestions, DeadlineTimer, deadline_passed, done_in_time
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


async def dispatch(call: Call, tool: ToolInfo, source: Source, context: CallContext) -> Outcome:
    """Call it; once more if it is a `read` that failed or was cut off, and there is time left.

    Every other kind is sent at most once. The kind is the one that the approval went by: what a
    server says of a tool makes it a `read` only as far as it is believed.
    """
    context = context.changed(ask=CallQuestions(context.ask, context.deadline).ask)
    outcome = await _attempt(call, tool, source, context)
    if _may_repeat(tool, outcome.error) and context.deadline.left_s > 0:
        outcome = await _attempt(call, tool, source, context)
    return _with_plain_error(outcome, tool)


def _may_repeat(tool: ToolInfo, error: CallError | None) -> bool:
    """Whether to send it twice does no harm and may help. A `read` has no effect to be in doubt."""
    return tool.permission_kind == "read" and error is not None and error.retryable


def _with_plain_error(outcome: Outcome, tool: ToolInfo) -> Outcome:
    """The outcome with an error that names its server, in a message fit to be shown.

    The message is a stranger's: nothing hidden, no control characters, and not without end. What
    may have taken effect is not to be tried again, unless it only reads.
    """
    error = outcome.error
    if error is None:
        return outcome
    visible = without_hidden(error.message[:LONGEST_MESSAGE])
    message = "".join(c if c.isprintable() or c == "\n" else " " for c in visible)
    retryable = error.retryable and (error.effect != "unknown" or tool.permission_kind == "read")
    server = error.server or tool.source_id
    return replace(
        outcome, error=replace(error, message=message, server=server, retryable=retryable)
    )


async def _attempt(call: Call, tool: ToolInfo, source: Source, context: CallContext) -> Outcome:
    in_time = _in_this_task if getattr(source, "ends_when_cancelled", False) else _in_time
    try:
        return await in_time(source.call(call, context), context.deadline)
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


async def _in_this_task(work: Coroutine[None, None, Outcome], deadline: Deadline) -> Outcome:
    """The same as `_in_time` of a source that ends when it is cancelled: it needs no task."""
    task = asyncio.current_task()
    try:
        with DeadlineTimer(deadline.with_grace(GRACE_S)):
            return await work
    except TimeoutError:
        return Outcome(error=deadline_passed(deadline))
    except asyncio.CancelledError:
        if task and task.cancelling():
            raise
        return Outcome(error=GAVE_UP)


async def _in_time(work: Coroutine[None, None, Outcome], deadline: Deadline) -> Outcome:
    """The outcome, or that it is late: of a source that does not keep to the deadline itself.

    One that does not even listen when it is cancelled is left behind.
    """
    task = asyncio.ensure_future(work)
    task.add_done_callback(_retrieve_exception)
    try:
        done = await done_in_time(task, deadline.with_grace(GRACE_S))
    finally:
        task.cancel()
    if not done:
        return Outcome(error=deadline_passed(deadline))
    return Outcome(error=GAVE_UP) if task.cancelled() else task.result()


def _retrieve_exception(task: asyncio.Task[Outcome]) -> None:
    """Look at how a task ended that nobody waits for any more; asyncio would warn of it."""
    if not task.cancelled():
        task.exception()
