"""`Programs`: what a crib has of this package. It checks programs and runs them, for any caller."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from toolcrib.execute import Approver, Caller
from toolcrib.model import CallError, Effect, EntryGroups, JsonObject, Outcome
from toolcrib.program.check import ProgramReading, check_program, read_program
from toolcrib.program.outcome import (
    ProgramCall,
    ProgramCheck,
    ProgramLimits,
    ProgramOutcome,
)
from toolcrib.program.run import ProgramFunction, ProgramRun
from toolcrib.program.sandbox import Ended, Failed, ProgramProcess, Sandbox, Step
from toolcrib.program.signatures import ToolSignature, checked_text
from toolcrib.program.tool_table import ToolTable
from toolcrib.program.values import returned_value, shown_value

OPENING_THREADS = 4

T = TypeVar("T")


class MakeProgramCall(Protocol):
    """Calls through the door."""

    async def __call__(  # noqa: PLR0913 - what a call has, each by its name
        self,
        name: str,
        arguments: JsonObject,
        *,
        caller: Caller,
        pin: str,
        timeout_s: float,
        approver: Approver | None,
    ) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class ProgramHost:
    """What programs reach of a crib.

    groups   the entries of the pool as they are now, by traits
    call     a call through the door
    asks     whether the rules want a person to approve calls of a name
    """

    groups: Callable[[], EntryGroups]
    call: MakeProgramCall
    asks: Callable[[str, Caller], bool]


class Programs:
    """Checks and runs programs. Safe to share between threads and event loops.

    Everything here raises `ConfigError` without the extra. `at_once` programs run side by side;
    others wait for half a minute.
    """

    def __init__(self, host: ProgramHost, at_once: int) -> None:
        self._host = host
        self._sandbox = Sandbox(at_once)
        self._opening = ThreadPoolExecutor(OPENING_THREADS, "toolcrib-program-open")
        self._running = ThreadPoolExecutor(at_once, "toolcrib-program")

    def signature_of(self, name: str, caller: Caller) -> ToolSignature | None:
        """The function that a tool is in programs; None if this caller may not have it."""
        return ToolTable(self._host.groups(), caller).signature_of(name)

    def check(self, program: str, caller: Caller, limits: ProgramLimits) -> ProgramCheck:
        """The verdict on a program. Nothing of it is run, and nothing is called."""
        reading = self._read(program, caller)
        process = self._open(reading, limits)
        try:
            return check_program(reading, process, partial(self._asks, caller))
        finally:
            process.close()

    async def run(
        self, program: str, caller: Caller, limits: ProgramLimits, approver: Approver | None
    ) -> ProgramOutcome:
        """Check a program, and run it if it is ok. What a model writes never raises."""
        loop = asyncio.get_running_loop()
        reading = self._read(program, caller)
        try:
            process = await loop.run_in_executor(self._opening, self._open, reading, limits)
        except TimeoutError:
            message = "too many programs run at once; try again later"
            return ProgramOutcome(error=CallError("overloaded", "start", message))
        try:
            return await self._checked_and_run(reading, process, caller, limits, approver)
        finally:
            # Behind the step that may still be running if this was cancelled: one at a time.
            self._running.submit(process.close)

    async def _checked_and_run(
        self,
        reading: ProgramReading,
        process: ProgramProcess,
        caller: Caller,
        limits: ProgramLimits,
        approver: Approver | None,
    ) -> ProgramOutcome:
        asks = partial(self._asks, caller)
        check = await self._in_thread(partial(check_program, reading, process, asks))
        if not check.ok:
            return ProgramOutcome(error=CallError("bad_program", "arguments", check.text))
        functions = {
            each.path: ProgramFunction(each.tool.name, each.tool.pin, each.keys)
            for each in reading.mentioned.tools
        }
        call = partial(self._host.call, caller=caller, approver=approver)
        run = ProgramRun(process, functions, call, limits, self._in_thread)
        last = await run.drive(await self._in_thread(process.start))
        return _outcome(last, process.printed, tuple(run.made.values()))

    def close(self) -> None:
        """End the workers."""
        self._opening.shutdown(wait=False, cancel_futures=True)
        self._running.shutdown(wait=True)
        self._sandbox.close()

    def _read(self, program: str, caller: Caller) -> ProgramReading:
        return read_program(program, ToolTable(self._host.groups(), caller))

    def _open(self, reading: ProgramReading, limits: ProgramLimits) -> ProgramProcess:
        mentioned = reading.mentioned
        return self._sandbox.open(limits, checked_text(mentioned.tools, mentioned.groups))

    def _asks(self, caller: Caller, name: str) -> bool:
        return self._host.asks(name, caller)

    def _in_thread(self, work: Callable[[], T], /) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(self._running, work)


def _outcome(last: Step, printed: str, calls: tuple[ProgramCall, ...]) -> ProgramOutcome:
    match last:
        case Ended():
            value = returned_value(last.value)
            content = shown_value(value, printed)
            return ProgramOutcome(content, value=value, printed=printed, calls=calls)
        case Failed():
            where = f"line {last.line}: " if last.line else ""
            error = CallError(last.code, "call", f"{where}{last.message}", effect=_effect_of(calls))
            return ProgramOutcome(printed or None, error=error, printed=printed, calls=calls)
        case _:
            raise AssertionError(f"a program does not end with {last}")


def _effect_of(calls: tuple[ProgramCall, ...]) -> Effect:
    """What became of a program that failed: of its calls the one that matters most."""
    effects = {call.effect for call in calls}
    if "unknown" in effects:
        return "unknown"
    return "failed" if effects & {"done", "failed"} else "not_sent"
