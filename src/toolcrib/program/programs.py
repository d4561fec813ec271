"""`Programs`: what a crib has of this package. It checks programs and runs them, for any caller."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TypeAlias, TypeVar

from toolcrib.errors import StoreError
from toolcrib.execute import Caller, Tickets
from toolcrib.model import Call, CallError, Deadline, EntryGroups, JsonObject, Outcome
from toolcrib.program.check import (
    ProgramReading,
    check_program,
    for_recipe,
    read_program,
    recipe_reading,
)
from toolcrib.program.listeners import ProgramListeners
from toolcrib.program.outcome import (
    ProgramCall,
    ProgramCheck,
    ProgramLimits,
    ProgramOutcome,
    effect_of,
)
from toolcrib.program.recipe import HANDLE, Recipe
from toolcrib.program.run import ProgramRun
from toolcrib.program.sandbox import Blocked, Ended, Failed, ProgramProcess, Sandbox, Step
from toolcrib.program.signatures import ToolSignature, checked_text
from toolcrib.program.suspension import (
    CallAwaitingApproval,
    ProgramFunction,
    Suspension,
    Suspensions,
)
from toolcrib.program.tool_table import ToolTable
from toolcrib.program.values import returned_value, shown_value
from toolcrib.store import TicketState
from toolcrib.text import printable

OPENING_THREADS = 4
LONGEST_MESSAGE = 2_000

_GONE = (
    "no program waits under this handle: it has gone on already, or was not resumed in time, or"
    " belongs to another caller. What it has called was called: run it anew only if that is safe"
)

_log = logging.getLogger(__name__)

T = TypeVar("T")


MakeProgramCall: TypeAlias = Callable[[Call, Caller, float, ProgramListeners], Awaitable[Outcome]]
"""Calls through the door as a caller, in so many seconds, for those who listen to a program."""


@dataclass(frozen=True, slots=True)
class ProgramHost:
    """What programs reach of a crib.

    groups        the entries of the pool as they are now, by traits
    call          a call through the door
    asks          whether the rules want a person to approve calls of a name
    tickets       the calls that wait for approval; nothing here approves one
    suspensions   the programs that wait for one
    """

    groups: Callable[[], EntryGroups]
    call: MakeProgramCall
    asks: Callable[[str, Caller], bool]
    tickets: Tickets
    suspensions: Suspensions


class Programs:
    """Checks and runs programs. Safe to share between threads and event loops.

    Everything here raises `ConfigError` without the extra. `at_once` programs run side by side;
    others wait for half a minute.
    """

    def __init__(self, host: ProgramHost, at_once: int) -> None:
        self._host = host
        self._sandbox = Sandbox(at_once)
        self._keeping = Lock()
        self._opening = ThreadPoolExecutor(OPENING_THREADS, "toolcrib-program-open")
        self._running = ThreadPoolExecutor(at_once, "toolcrib-program")

    def signatures_of(self, names: Iterable[str], caller: Caller) -> Mapping[str, ToolSignature]:
        """The functions that tools are in programs, by name; not those this caller may not have."""
        table = ToolTable(self._host.groups(), caller)
        found = ((name, table.signature_of(name)) for name in names)
        return {name: signature for name, signature in found if signature}

    def group_names(self, caller: Caller) -> Sequence[str]:
        """The groups in which there is anything for this caller."""
        return ToolTable(self._host.groups(), caller).group_names()

    def check(self, program: str, caller: Caller, limits: ProgramLimits) -> ProgramCheck:
        """The verdict on a program. Nothing of it is run, and nothing is called."""
        return self._checked(self._read(program, caller), caller, limits)

    def check_recipe(
        self, program: str, parameters: JsonObject, caller: Caller, limits: ProgramLimits
    ) -> tuple[ProgramCheck, Sequence[ToolSignature]]:
        """The same of a program with inputs, and the tools that it may call. No recipe is one."""
        reading = for_recipe(self._read(program, caller), parameters)
        return self._checked(reading, caller, limits), reading.mentioned.tools

    def _checked(
        self, reading: ProgramReading, caller: Caller, limits: ProgramLimits
    ) -> ProgramCheck:
        process = self._open(limits, reading)
        try:
            return check_program(reading, process, partial(self._asks, caller))
        finally:
            process.close()

    async def run(
        self,
        program: str,
        caller: Caller,
        limits: ProgramLimits,
        listeners: ProgramListeners,
    ) -> ProgramOutcome:
        """Check a program, and run it if it is ok. What a model writes never raises."""
        return await self._run(self._read(program, caller), caller, limits, listeners)

    async def run_recipe(
        self,
        recipe: Recipe,
        arguments: JsonObject,
        caller: Caller,
        limits: ProgramLimits,
        listeners: ProgramListeners,
    ) -> ProgramOutcome:
        """Run a recipe, or go on with it where the same call of this caller waits for a person.

        Raises `CallRefused` if its tools are not what they were, or not all for this caller.
        """
        reading = recipe_reading(recipe, arguments, ToolTable(self._host.groups(), caller))
        handle = recipe.handle(arguments, caller.id)
        if await asyncio.to_thread(self._host.suspensions.look, handle, caller.id):
            return await self._resume(handle, caller, limits, listeners)
        return await self._run(reading, caller, limits, listeners, handle=handle)

    async def _run(
        self,
        reading: ProgramReading,
        caller: Caller,
        limits: ProgramLimits,
        listeners: ProgramListeners,
        *,
        handle: str = "",
    ) -> ProgramOutcome:
        async def started(process: ProgramProcess) -> ProgramOutcome:
            asks = partial(self._asks, caller)
            check = await self._in_thread(partial(check_program, reading, process, asks))
            if not check.ok:
                return ProgramOutcome(error=CallError("bad_program", "arguments", check.text))
            functions = {
                each.path: ProgramFunction(each.tool.name, each.tool.pin, each.keys)
                for each in reading.mentioned.tools
            }
            run = self._made(process, functions, caller, limits, listeners)
            run.handle = handle
            first = await self._in_thread(process.start)
            return await self._driven(run, first, caller)

        return await self._in_process(limits, reading, started)

    async def resume(
        self,
        handle: str,
        caller: Caller,
        limits: ProgramLimits,
        listeners: ProgramListeners,
    ) -> ProgramOutcome:
        """Go on with a program that waits for a person, if one has answered, or its approver does.

        It goes on once, for one of all who ask. Raises `StoreError`.
        """
        if handle.startswith(HANDLE):  # the recipe itself is checked before it goes on
            return _gone()
        return await self._resume(handle, caller, limits, listeners)

    async def _resume(
        self,
        handle: str,
        caller: Caller,
        limits: ProgramLimits,
        listeners: ProgramListeners,
    ) -> ProgramOutcome:
        suspensions = self._host.suspensions
        kept = await asyncio.to_thread(suspensions.look, handle, caller.id)
        if kept is None:
            return _gone()
        states = await asyncio.to_thread(self._states, kept)
        if listeners.approver is None and set(states.values()) == {"waiting"}:
            return _waiting(handle, kept.waiting, kept.printed, kept.calls)

        async def loaded(process: ProgramProcess) -> ProgramOutcome:
            step = await self._in_thread(partial(process.load, kept.state, kept.groups))
            if await asyncio.to_thread(suspensions.take, handle, caller.id) is None:
                return _gone()
            run = self._made(process, kept.functions, caller, limits, listeners)
            run.handle = handle if handle.startswith(HANDLE) else ""
            run.printed_before = kept.printed
            run.made |= kept.calls
            for id, waiting in kept.waiting.items():
                run.waiting[id] = waiting
                if states[id] == "gone":
                    run.deny(id)
                else:  # what nobody has answered gets its ticket again
                    run.begin_again([id])
            return await self._driven(run, step, caller)

        return await self._in_process(limits, None, loaded)

    def close(self) -> None:
        """End the workers."""
        self._opening.shutdown(wait=False, cancel_futures=True)
        self._running.shutdown(wait=True)
        self._sandbox.close()

    async def _in_process(
        self,
        limits: ProgramLimits,
        reading: ProgramReading | None,
        work: Callable[[ProgramProcess], Awaitable[ProgramOutcome]],
    ) -> ProgramOutcome:
        loop = asyncio.get_running_loop()
        try:
            process = await loop.run_in_executor(self._opening, self._open, limits, reading)
        except TimeoutError:
            message = "too many programs run at once; try again later"
            return ProgramOutcome(error=CallError("overloaded", "start", message))
        try:
            return await work(process)
        finally:
            # In a thread: if this was cancelled, a step may still be under way.
            self._running.submit(process.close)

    async def _driven(self, run: ProgramRun, step: Step, caller: Caller) -> ProgramOutcome:
        """The outcome of a run: its end, or that it waits for a person."""
        while isinstance(last := await run.drive(step), Blocked):
            step = last
            try:
                if decided := await self._in_thread(partial(self._decided, run)):
                    run.begin_again(decided)
                elif suspended := await self._in_thread(partial(self._suspend, run, caller)):
                    return suspended
                else:
                    run.deny(*run.waiting)
            except StoreError as error:
                _log.warning("a program cannot wait for a person: %s", error)
                run.deny(*run.waiting)
        return _outcome(last, run.printed, run.made.values())

    def _decided(self, run: ProgramRun) -> Sequence[int]:
        """The calls whose tickets wait no longer; the others wait as long as the program may."""
        lasts_s, tickets = run.limits.suspended_s, self._host.tickets
        waiting = run.waiting.items()
        return [id for id, each in waiting if not tickets.extend(each.ticket, lasts_s)]

    def _suspend(self, run: ProgramRun, caller: Caller) -> ProgramOutcome | None:
        """Keep a program that waits for a person; None if it is too large, or its handle is taken.

        The process is done with it by then: it goes on in another.
        """
        process, state = run.process, run.process.dump()
        kept = Suspension(run.functions, process.groups, run.made, run.waiting, run.printed, state)
        suspensions, lasts_s = self._host.suspensions, run.limits.suspended_s
        with self._keeping:
            if run.handle and suspensions.look(run.handle, caller.id):
                return None  # the same call came twice at once, and the other one waits
            handle = suspensions.keep(kept, caller.id, lasts_s, run.handle)
        return _waiting(handle, run.waiting, run.printed, run.made) if handle else None

    def _states(self, kept: Suspension) -> Mapping[int, TicketState]:
        tickets = self._host.tickets
        return {id: tickets.state(each.ticket) for id, each in kept.waiting.items()}

    def _read(self, program: str, caller: Caller) -> ProgramReading:
        return read_program(program, ToolTable(self._host.groups(), caller))

    def _open(self, limits: ProgramLimits, reading: ProgramReading | None) -> ProgramProcess:
        if reading is None:
            return self._sandbox.open(limits)
        mentioned = reading.mentioned
        stubs = checked_text(mentioned.tools, mentioned.groups) + reading.stubs
        return self._sandbox.open(limits, stubs)

    def _made(
        self,
        process: ProgramProcess,
        functions: Mapping[str, ProgramFunction],
        caller: Caller,
        limits: ProgramLimits,
        listeners: ProgramListeners,
    ) -> ProgramRun:
        """A run whose time stands still while a person is asked."""
        deadline = Deadline(limits.timeout_s)
        heard = listeners.pausing(deadline)

        def call(made: Call, timeout_s: float) -> Awaitable[Outcome]:
            return self._host.call(made, caller, timeout_s, heard)

        return ProgramRun(process, functions, call, limits, deadline, self._in_thread)

    def _asks(self, caller: Caller, name: str) -> bool:
        return self._host.asks(name, caller)

    def _in_thread(self, work: Callable[[], T], /) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(self._running, work)


def _gone() -> ProgramOutcome:
    return ProgramOutcome(error=CallError("unknown_handle", "start", _GONE))


def _waiting(
    handle: str,
    waiting: Mapping[int, CallAwaitingApproval],
    printed: str,
    calls: Mapping[int, ProgramCall],
) -> ProgramOutcome:
    """That a program waits, for whom, and how it goes on."""
    named = ", ".join(f"{each.function.name} (ticket {each.ticket})" for each in waiting.values())
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


def _outcome(last: Step, printed: str, made: Iterable[ProgramCall]) -> ProgramOutcome:
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
