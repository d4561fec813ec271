"""The programs of a crib: checked and run as their caller, each call through its door."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Collection, Iterable, Mapping
from secrets import token_bytes
from threading import Lock
from typing import TYPE_CHECKING

from toolcrib import program
from toolcrib.crib.crib_events import ProgramRecord
from toolcrib.errors import UnknownTool
from toolcrib.pool import entry_names
from toolcrib.wiring import program_limits_of

if TYPE_CHECKING:
    from toolcrib.crib.calls import Calls
    from toolcrib.crib.inventory import Inventory
    from toolcrib.execute import Caller
    from toolcrib.model import Call, Outcome
    from toolcrib.observe import EventLog
    from toolcrib.program import (
        ProgramCheck,
        ProgramLimits,
        ProgramListeners,
        ProgramOutcome,
        Programs,
        ToolSignature,
    )
    from toolcrib.store import FileStores, ReplicaStores


class CribPrograms:
    """What runs programs is made by the first of them. Safe to share between threads."""

    def __init__(
        self,
        inventory: Inventory,
        calls: Calls,
        stores: FileStores | ReplicaStores,
        events: EventLog,
    ) -> None:
        self._inventory = inventory
        self._events = events
        self._calls = calls
        self._stores = stores
        self._made: Programs | None = None
        self._making = Lock()
        self._memory_key = token_bytes(32)

    def check(self, text: str, caller: Caller) -> ProgramCheck:
        """Whether a program can be run; see `Crib.check_program`."""
        return self._programs.check(text, self._inventory.restricted(caller), self._limits)

    def tools_of(self, text: str, handle: str, caller: Caller) -> Collection[str]:
        """The names of the tools that a program may call, or one that waits under a handle.

        Raises `ConfigError` without the extra, and `StoreError`.
        """
        program.engine_version()
        known = self._inventory.restricted(caller)
        if handle:
            return self._programs.names_in_suspended(handle, known)
        return self._programs.names_in(text, known)

    async def run(
        self,
        text: str,
        listeners: ProgramListeners,
        *,
        caller: Caller,
        limits: ProgramLimits | None = None,
        paged: bool,
    ) -> ProgramOutcome:
        """Run a program; see `Crib.run`."""
        known, limits = self._inventory.restricted(caller), limits or self._limits
        going = self._programs.run(text, known, limits, listeners)
        return await self._ended(going, caller, paged=paged, resumed=False)

    async def resume(
        self,
        handle: str,
        listeners: ProgramListeners,
        *,
        caller: Caller,
        limits: ProgramLimits | None = None,
        paged: bool,
    ) -> ProgramOutcome:
        """Go on with one that waits; see `Crib.resume`."""
        known, limits = self._inventory.restricted(caller), limits or self._limits
        going = self._programs.resume(handle, known, limits, listeners)
        return await self._ended(going, caller, paged=paged, resumed=True)

    async def _ended(
        self, going: Awaitable[ProgramOutcome], caller: Caller, *, paged: bool, resumed: bool
    ) -> ProgramOutcome:
        """The outcome as it is wanted, told to whoever looks on."""
        at, began = time.time(), time.perf_counter()
        outcome = await going
        seconds = time.perf_counter() - began
        outcome = await self._calls.door.paged(outcome, caller) if paged else outcome
        known = self._inventory.pool.entries
        record = ProgramRecord(outcome, caller, known, at, seconds, resumed)
        self._events.append_later("program", record.event)
        return outcome

    def signature(self, name: str, caller: Caller) -> str:
        """A tool as a typed function; see `Crib.signature`."""
        entry = entry_names(self._inventory.seen_by(caller)).resolve(name)
        found = self.signatures(caller, [entry.name])
        if entry.name not in found:
            raise UnknownTool(f"{entry.name!r} is no tool that this caller can call")
        return found[entry.name].text

    def signatures(self, caller: Caller, names: Iterable[str]) -> Mapping[str, ToolSignature]:
        """Tools as typed functions, by name; not those that the caller may not call."""
        return self._programs.signatures_of(names, self._inventory.restricted(caller))

    def make(self) -> Programs:
        """Others that run beside these, with workers of their own; to be closed."""
        door, settings = self._calls.door, self._inventory.settings
        host = program.ProgramHost(
            groups=lambda: self._inventory.groups(self._inventory.entries()),
            call=self._call,
            asks=door.asks,
            covered_kinds=lambda: frozenset(self._inventory.settings.approval.program_kinds),
            tickets=door.tickets,
            suspensions=program.Suspensions(
                lambda: self._stores.suspensions, self.seal_key, settings.tenant
            ),
        )
        return program.Programs(host, settings.program.at_once)

    def seal_key(self) -> bytes:
        """What seals suspended programs; where nothing is to be left on disk, that of a process."""
        if self._inventory.settings.store_path == ":memory:":
            return self._memory_key
        return self._stores.install_key

    def close(self) -> None:
        """End the workers."""
        if self._made:
            self._made.close()

    @property
    def _limits(self) -> ProgramLimits:
        return program_limits_of(self._inventory.settings)

    @property
    def _programs(self) -> Programs:
        with self._making:
            self._made = self._made or self.make()
            return self._made

    async def _call(
        self, call: Call, caller: Caller, timeout_s: float, listeners: ProgramListeners
    ) -> Outcome:
        """One call of a program: it has no more time than any other, or than its program has."""
        return await self._calls.make(
            call,
            caller,
            timeout_s=None,
            most_s=timeout_s,
            approver=listeners.approver,
            cover=listeners.cover,
            progress=listeners.progress_of(call.name),
            ask=listeners.ask,
            log=listeners.log,
        )
