"""Who hears what the calls of a program say while it runs, answers what they ask, and approves."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from toolcrib.model import InputHandler, LogHandler, ProgressHandler

if TYPE_CHECKING:
    from toolcrib.execute import Approver


@dataclass(frozen=True, slots=True)
class ProgramListeners:
    """The listeners of one run; None means that nobody listens, or answers.

    `approver` is asked where the rules want a person's leave for a call. Without one the program
    waits for the operator.

    Its calls may run side by side, and progress may only ever rise. So `progress` hears of each
    call that begins and of each report of a call, numbered in the order in which they come.
    """

    approver: Approver | None = None
    progress: ProgressHandler | None = None
    ask: InputHandler | None = None
    log: LogHandler | None = None
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def progress_of(self, tool: str) -> ProgressHandler | None:
        """What hears of the progress of one call, which begins now."""
        told = self.progress
        if told is None:
            return None
        told(next(self._numbers), None, f"calls {tool}")

        def report(_done: float, _total: float | None, message: str) -> None:
            told(next(self._numbers), None, f"{tool}: {message}" if message else tool)

        return report
