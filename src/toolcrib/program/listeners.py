"""Who hears what the calls of a program say while it runs, answers what they ask, and approves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Self

from toolcrib.model import Deadline, InputHandler, LogHandler, ProgressHandler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolcrib.execute import ApprovalRequest, Approver, Cover
    from toolcrib.model import InputRequest, JsonObject


@dataclass(frozen=True, slots=True)
class ProgramListeners:
    """The listeners of one run; None means that nobody listens, or answers.

    `approver` is asked where the rules want a person's leave for a call. Without one the program
    waits for the operator. `cover` is the one question for all its calls, where the rules allow it.

    Its calls may run side by side, and progress may only ever rise. So `progress` hears of each
    call that begins and of each report of a call, numbered in the order in which they come.
    """

    approver: Approver | None = None
    progress: ProgressHandler | None = None
    ask: InputHandler | None = None
    log: LogHandler | None = None
    cover: Cover | None = None
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def pausing(self, deadline: Deadline) -> Self:
        """The same, but while a person is asked, the time of this deadline stands still."""
        from toolcrib.execute import DenyingApprover  # noqa: PLC0415 - a search asks nobody

        approver, ask = self.approver, self.ask
        if approver and not isinstance(approver, DenyingApprover):  # a "no" stays what it is
            approver = _PausingApprover(approver, deadline)
        return replace(self, approver=approver, ask=_pausing(ask, deadline) if ask else None)

    def progress_of(self, tool: str) -> ProgressHandler | None:
        """What hears of the progress of one call, which begins now."""
        told = self.progress
        if told is None:
            return None
        told(next(self._numbers), None, f"calls {tool}")

        def report(_done: float, _total: float | None, message: str) -> None:
            told(next(self._numbers), None, f"{tool}: {message}" if message else tool)

        return report


@dataclass(frozen=True, slots=True)
class _PausingApprover:
    asked: Approver
    deadline: Deadline

    async def __call__(self, request: ApprovalRequest, /) -> bool | None:
        with self.deadline.pause():
            return await self.asked(request)


def _pausing(ask: InputHandler, deadline: Deadline) -> InputHandler:
    async def paused(requests: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
        with deadline.pause():
            return await ask(requests)

    return paused
