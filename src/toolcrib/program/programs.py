"""`Programs`: what a crib has of this package. It checks programs and runs them, for any caller."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TypeAlias, TypeVar

from toolcrib.errors import StoreError
from toolcrib.execute import Caller, Cover, Tickets
from toolcrib.model import (
    Call,
    CallError,
    Deadline,
    EntryGroups,
    JsonObject,
    Outcome,
    PermissionKind,
)
from toolcrib.program.approval import cover_of
from toolcrib.program.check import (
    ProgramReading,
    check_program,
    for_recipe,
    read_program,
    recipe_reading,
)
from toolcrib.program.ending import ended, gone, waits
from toolcrib.program.listeners import ProgramListeners
from toolcrib.program.outcome import (
    ProgramCheck,
    ProgramLimits,
    ProgramOutcome,
)
from toolcrib.program.recipe import HANDLE, Recipe
from toolcrib.program.run import ProgramRun
from toolcrib.program.sandbox import Blocked, ProgramProcess, Sandbox, Step
from toolcrib.program.signatures import ToolSignature, checked_text
from toolcrib.program.suspension import (
    ProgramFunction,
    Suspension,
    Suspensions,
)
from toolcrib.program.tool_table import ToolTable
from toolcrib.store import TicketState
from toolcrib.system import FairPlaces

PATIENCE_S = 30.0

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
    covered_kinds  tools of these kinds may be approved by one question for a program
    tickets       the calls that wait for approval; nothing here approves one
    suspensions   the programs that wait for one
    """

    groups: Callable[[], EntryGroups]
    call: MakeProgramCall
    asks: Callable[[str, Caller], bool]
    covered_kinds: Callable[[], frozenset[PermissionKind]]
    tickets: Tickets
    suspensions: Suspensions


class Programs:
    """Checks and runs programs. Safe to share between threads and event loops.

    Everything here raises `ConfigError` without the extra. `at_once` programs run side by side, of
    one caller at most half of them; others wait for half a minute.
    """

    def __init__(self, host: ProgramHost, at_once: int) -> None:
        self._host = host
        self._sandbox = Sandbox(at_once)
        self._keeping = Lock()
        self._places = FairPlaces(at_once)
        # A step of each, and the end of each that waits for a step.
        self._running = ThreadPoolExecutor(2 * at_once, "toolcrib-program")

    def signatures_of(self, names: Iterable[str], caller: Caller) -> Mapping[str, ToolSignature]:
        """The functions that tools are in programs, by name; not those this caller may not have."""
        table = ToolTable(self._host.groups(), caller)
        found = ((name, table.signature_of(name)) for name in names)
        return {name: signature for name, signature in found if signature}

    def group_names(self, caller: Caller) -> Sequence[str]:
        """The groups in which there is anything for this caller."""
        return ToolTable(self._host.groups(), caller).group_names()

    def names_in(self, program: str, caller: Caller) -> Collection[str]:
        """The tools that a program may call, by its words; it is not checked."""
        return {each.tool.name for each in self._read(program, caller).mentioned.tools}

    def names_in_suspended(self, handle: str, caller: Caller) -> Collection[str]:
        """Those of a program that waits; none if none does. Raises `StoreError`."""
        kept = self._host.suspensions.look(handle, caller.id)
        return {each.name for each in kept.functions.values()} if kept else ()

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
            kinds: Collection[PermissionKind] = () if handle else self._host.covered_kinds()
            heard = replace(listeners, cover=cover_of(reading, check, caller, kinds))
            run = self._made(process, functions, caller, limits, heard)
            run.handle = handle
            first = await self._in_thread(process.start)
            return await self._driven(run, first, caller)

        return await self._in_process(limits, reading, caller, started)

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
            return gone()
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
            return gone()
        states = await asyncio.to_thread(self._states, kept)
        if listeners.approver is None and set(states.values()) == {"waiting"}:
            return waits(handle, kept.waiting, kept.printed, kept.calls)

        async def loaded(process: ProgramProcess) -> ProgramOutcome:
            step = await self._in_thread(partial(process.load, kept.state, kept.groups))
            if await asyncio.to_thread(suspensions.take, handle, caller.id) is None:
                return gone()
            heard = replace(listeners, cover=self._still_covered(kept, states))
            run = self._made(process, kept.functions, caller, limits, heard)
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

        return await self._in_process(limits, None, caller, loaded)

    def close(self) -> None:
        """End the workers."""
        self._running.shutdown(wait=True)
        self._sandbox.close()

    async def _in_process(
        self,
        limits: ProgramLimits,
        reading: ProgramReading | None,
        caller: Caller,
        work: Callable[[ProgramProcess], Awaitable[ProgramOutcome]],
    ) -> ProgramOutcome:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._places.enter(caller.id)
        except TimeoutError:
            message = "too many programs run at once; try again later"
            return ProgramOutcome(error=CallError("overloaded", "start", message))
        opening = self._running.submit(self._open, limits, reading)
        try:
            return await work(await asyncio.wrap_future(opening))
        finally:
            opening.add_done_callback(partial(self._end_soon, caller))

    def _end_soon(self, caller: Caller, opening: "Future[ProgramProcess]") -> None:
        """In a thread: if its run was cancelled, a step may still be under way."""
        self._running.submit(self._end, caller, opening)

    def _end(self, caller: Caller, opening: "Future[ProgramProcess]") -> None:
        """Give a process back, if there is one, and its place."""
        try:
            if not (opening.cancelled() or opening.exception()):
                opening.result().close()
        finally:
            self._places.leave(caller.id)

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
        return ended(last, run.printed, run.made.values())

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
        kept = Suspension(
            run.functions, process.groups, run.made, run.waiting, run.printed, state, run.cover
        )
        suspensions, lasts_s = self._host.suspensions, run.limits.suspended_s
        with self._keeping:
            if run.handle and suspensions.look(run.handle, caller.id):
                return None  # the same call came twice at once, and the other one waits
            handle = suspensions.keep(kept, caller.id, lasts_s, run.handle)
        return waits(handle, run.waiting, run.printed, run.made) if handle else None

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

        run = ProgramRun(process, functions, call, limits, deadline, self._in_thread)
        run.cover = listeners.cover
        return run

    def _still_covered(self, kept: Suspension, states: Mapping[int, TicketState]) -> Cover | None:
        """The one question of a program that goes on, with the answer that was given meanwhile."""
        cover = kept.cover
        if cover is None or not cover.kinds <= self._host.covered_kinds():
            return None
        denied = {kept.waiting[id].ticket for id, state in states.items() if state == "gone"}
        if cover.answer is None and cover.ticket in denied:
            cover.answer = False
        return cover

    def _asks(self, caller: Caller, name: str) -> bool:
        return self._host.asks(name, caller)

    def _in_thread(self, work: Callable[[], T], /) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(self._running, work)
