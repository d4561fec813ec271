"""One program from its first step to its last: its calls go through the door, side by side.

    process ── ToolCalled ──▶ a call begins, the program goes on
            ── Blocked ─────▶ wait for one of its calls, hand the result over
            ── Ended, Failed ▶ wait for what is still under way, then tell what happened

A call that failed is an error in the program, which may catch it. No call is ever made twice.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

from toolcrib.execute import Cover
from toolcrib.model import Call, CallError, Deadline, JsonObject, Outcome
from toolcrib.program.outcome import CallEffect, ProgramCall, ProgramLimits
from toolcrib.program.sandbox import (
    Blocked,
    CallResult,
    Failed,
    ProgramProcess,
    Step,
    ToolCalled,
)
from toolcrib.program.suspension import CallAwaitingApproval, ProgramFunction
from toolcrib.program.values import result_value, size_of
from toolcrib.system import done_in_time

GRACE_S = 1.0
LOOK_AGAIN_S = 0.05
"""How soon at the latest a time that is up is noticed, or one that goes on again."""
LONGEST_ERROR = 2_000
DENIED = "approval_denied"

T = TypeVar("T")


CallFromProgram: TypeAlias = Callable[[Call, float], Awaitable[Outcome]]
"""Calls through the door in so many seconds, as the caller of the program."""


class InThread(Protocol):
    """Does what waits for a process off the event loop."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


@dataclass
class ProgramRun:
    """The run of one program. `functions` are those that it may call, by path.

    Its `deadline` may be paused, as it is while a person is asked.

    `handle` is the one that it has to wait under; "" for any. `cover` is kept with it while it
    waits.
    """

    process: ProgramProcess
    functions: Mapping[str, ProgramFunction]
    call: CallFromProgram
    limits: ProgramLimits
    deadline: Deadline
    in_thread: InThread
    handle: str = ""
    cover: Cover | None = None
    printed_before: str = ""
    made: dict[int, ProgramCall] = field(default_factory=dict[int, ProgramCall])
    waiting: dict[int, CallAwaitingApproval] = field(
        default_factory=dict[int, CallAwaitingApproval]
    )
    _tasks: dict[int, asyncio.Task[CallResult]] = field(
        default_factory=dict[int, "asyncio.Task[CallResult]"]
    )

    def __post_init__(self) -> None:
        self._turns = asyncio.Semaphore(self.limits.calls_at_once)

    async def drive(self, step: Step) -> Step:
        """Go on from a step to the last: `Ended`, `Failed`, or `Blocked` where a person is needed.

        Nothing is under way any more when it is there. If it is cancelled, so are its calls.
        """
        try:
            while isinstance(step, ToolCalled | Blocked):
                if isinstance(step, ToolCalled):
                    step = await self._begin(step)
                elif ready := await self._settled(step.ids):
                    step = await self.in_thread(partial(self.process.settle, ready))
                elif any(id in self._tasks for id in step.ids):
                    message = f"the program took longer than {self.limits.timeout_s:g} s"
                    step = Failed("program_limit", message)
                else:
                    break
            await self._finish()
        finally:
            for task in self._tasks.values():
                task.cancel()
        return step

    def begin(self, id: int, function: ProgramFunction, arguments: JsonObject) -> None:
        """Make a call; its result is handed over when the program waits for it."""
        self.made[id] = ProgramCall(function.name, "unknown")
        work = self._make(id, function, arguments)
        self._tasks[id] = asyncio.get_running_loop().create_task(work)

    def begin_again(self, ids: Iterable[int]) -> None:
        """Make calls that were not sent yet, because a person was needed."""
        for id in ids:
            waiting = self.waiting.pop(id)
            self.begin(id, waiting.function, waiting.arguments)

    def deny(self, *ids: int) -> None:
        """Have calls raise that a person has not approved."""
        for id in ids:
            name = self.waiting.pop(id).function.name
            self.made[id] = ProgramCall(name, "refused", code=DENIED)
            self._tasks[id] = asyncio.get_running_loop().create_task(_denied(name))

    @property
    def printed(self) -> str:
        """All that the program has printed, before it was suspended too."""
        return self.printed_before + self.process.printed

    async def _begin(self, called: ToolCalled) -> Step:
        path = f"{called.group}.{called.function}"
        function = self.functions.get(path)
        problem = self._problem(called, function, path)
        if problem or function is None:
            self.made[called.id] = ProgramCall(function.name if function else path, "refused")
            return await self.in_thread(lambda: self.process.refuse(problem))
        named = {function.keys.get(key, key): value for key, value in called.arguments.items()}
        self.begin(called.id, function, named)  # pyright: ignore[reportArgumentType] - the door checks it
        return await self.in_thread(self.process.go_on)

    def _problem(self, called: ToolCalled, function: ProgramFunction | None, path: str) -> str:
        """Why a call is not even tried; "" if it is."""
        if function is None:
            return f"there is no function {path!r:.200} for this program"
        if called.problem:
            return f"the arguments of {path} cannot be read: {called.problem}"
        if called.positional:
            return f"{path} takes its arguments by name: {path}(name=value)"
        if len(self.made) >= self.limits.calls:
            return f"a program may make {self.limits.calls} calls; this one has made them"
        return ""

    async def _make(self, id: int, function: ProgramFunction, arguments: JsonObject) -> CallResult:
        async with self._turns:
            left_s = max(self.deadline.left_s, 0.001)
            asked = Call(function.name, arguments, pin=function.pin)
            outcome = await self.call(asked, left_s)
        error = outcome.error
        if error is None:
            value = result_value(outcome)
            self.made[id] = ProgramCall(function.name, "done", size_of(value))
            return CallResult(value)
        self.made[id] = ProgramCall(function.name, _effect(error), code=error.code)
        if error.ticket:
            self.waiting[id] = CallAwaitingApproval(function, arguments, error.ticket)
        return CallResult(error=f"{function.name}: {error.message[:LONGEST_ERROR]} ({error.code})")

    async def _settled(self, ids: Sequence[int]) -> Mapping[int, CallResult]:
        """The results of those that are done; none if all that are left wait for a person."""
        while running := [self._tasks[id] for id in ids if id in self._tasks]:
            seconds = max(self.deadline.left_s, LOOK_AGAIN_S)
            done, _ = await asyncio.wait(
                running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            ready = self._take(ids)
            if ready or not (done or self.deadline.left_s):
                return ready
        return {}

    def _take(self, ids: Iterable[int]) -> Mapping[int, CallResult]:
        """The results of calls that are done, each once; not of those that wait for a person."""
        done = [id for id in ids if id in self._tasks and self._tasks[id].done()]
        results = {id: self._tasks.pop(id).result() for id in done}
        return {id: result for id, result in results.items() if id not in self.waiting}

    async def _finish(self) -> None:
        """Wait for calls that nobody waits for, to know what became of them."""
        ends = self.deadline.with_grace(GRACE_S)
        for task in self._tasks.values():
            await done_in_time(task, ends)


async def _denied(name: str) -> CallResult:
    return CallResult(error=f"{name}: this call was not approved; do without it ({DENIED})")


def _effect(error: CallError) -> CallEffect:
    if error.ticket:
        return "waiting"
    return "refused" if error.effect == "not_sent" else error.effect
