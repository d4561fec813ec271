"""The door: the one function that reaches a tool.

    name          which tool is meant                                        `resolution`
    state, pin    whether it can be called, and is the one that was shown    `gates`
    rights        whether this caller may call it                            `gates`
    approval      what the rules say: allow, ask a person, deny              `approval`
    arguments     whether they fit the schema, if need be after a repair     `arguments`
    once more     state, pin, rights, and what rules deny: a person may have taken their time
    source        the call itself, by its deadline                           `dispatch`

The arguments are copied before anybody is asked, so that what was approved is what is sent.
Library, adapters, gateway and command line all come through here. What a model says never raises:
a call that is refused is an outcome whose error says why, and that nothing was sent.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Protocol, TypeVar

from toolcrib.execute.approval import Approval, Approver, run_for
from toolcrib.execute.arguments import CHECK_S, ArgumentCheck, is_little
from toolcrib.execute.call_record import CallRecord
from toolcrib.execute.caller import Caller
from toolcrib.execute.cover import Cover
from toolcrib.execute.dispatch import dispatch
from toolcrib.execute.gates import (
    CallRefused,
    check_limit,
    check_rights,
    check_state,
    copy_arguments,
    definition_changed,
)
from toolcrib.execute.resolution import resolve
from toolcrib.execute.results import HeldResults, in_memory, is_json
from toolcrib.execute.rulebook import Rulebook, Verdict
from toolcrib.execute.tickets import ApprovalRequest, Tickets
from toolcrib.model import (
    Call,
    CallContext,
    CallError,
    Deadline,
    Entry,
    InputHandler,
    JsonObject,
    LogHandler,
    Outcome,
    ProgressHandler,
    ToolInfo,
)
from toolcrib.observe import EventLog, Tracer, in_call
from toolcrib.pool import Pool
from toolcrib.sources import Source
from toolcrib.store import ResultStore
from toolcrib.system import FairPlaces

CHECKING_THREADS = 4

_GATE_FAILED = CallError(
    "door_failed", "approval", "a check in Toolcrib itself failed, so nothing was sent; see the log"
)
_NOT_JSON = CallError(
    "bad_result",
    "result",
    "the tool ran, but its result is not JSON; look before you call again",
    effect="failed",
)

_log = logging.getLogger(__name__)

T = TypeVar("T")
OutcomeT = TypeVar("OutcomeT", bound=Outcome)


class WhyUnknown(Protocol):
    """Says why a caller has no tool of a name; "" if there is no more to say than that."""

    def __call__(self, name: str, caller: Caller) -> str: ...


def _no_reason(name: str, caller: Caller) -> str:  # noqa: ARG001 - a `WhyUnknown`
    return ""


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """What the operator set: the rules of approval, and the bounds of every call."""

    rulebook: Rulebook
    timeout_s: float
    page_tokens: int


@dataclass(frozen=True, slots=True)
class _ResolvedCall:
    """The tool that a call means, of a caller who may call it."""

    entry: Entry
    pool: Pool
    tool: ToolInfo


@dataclass(frozen=True, slots=True)
class _AdmittedCall:
    """A call that has passed every gate."""

    call: Call
    tool: ToolInfo
    source: Source
    repaired: tuple[str, ...]


class Door:
    """Lets calls through to the tools of a pool. `tickets` are for the operator's side alone.

    `on_success` hears of every call to a tool of the pool that went well: who called, and what.
    `events` and `tracer` hear of every call, however it ended. `results` opens where long results
    are held. `why_unknown` may say why a caller has no tool of a name.
    """

    def __init__(  # noqa: PLR0913 - what a door is given, each by its name
        self,
        pool: Pool,
        policy: CallPolicy,
        *,
        events: EventLog | None = None,
        tracer: Tracer | None = None,
        tickets: Tickets | None = None,
        results: Callable[[], ResultStore] = in_memory,
        on_success: Callable[[Caller, str], None] = lambda _caller, _tool: None,
        why_unknown: WhyUnknown = _no_reason,
    ) -> None:
        self._pool = pool
        self._events = events or EventLog()
        self._tracer = tracer
        self._on_success = on_success
        self._why_unknown = why_unknown
        self.tickets = tickets or Tickets()
        self._results = HeldResults(policy.page_tokens, results)
        self.policy = policy
        self._arguments = ArgumentCheck()
        self._checking = ThreadPoolExecutor(CHECKING_THREADS, "toolcrib-check")
        self._places = FairPlaces(CHECKING_THREADS)

    @property
    def policy(self) -> CallPolicy:
        """What the operator set. Another one holds for the calls that come then."""
        return self._policy

    @policy.setter
    def policy(self, policy: CallPolicy) -> None:
        self._policy = policy
        self._approval = Approval(policy.rulebook, self.tickets)
        self._results.page_tokens = policy.page_tokens

    async def execute(  # noqa: PLR0913 - what a call may have, each by its name
        self,
        call: Call,
        caller: Caller,
        *,
        timeout_s: float | None = None,
        most_s: float = inf,
        approver: Approver | None = None,
        cover: Cover | None = None,
        progress: ProgressHandler | None = None,
        ask: InputHandler | None = None,
        log: LogHandler | None = None,
    ) -> Outcome:
        """Make one call. With a `cover`, a person is asked about several calls at once.

        Its time begins when all gates are passed. Without `timeout_s` the setting says how long, or
        that of its server, and progress makes it longer: up to `most_s`.
        """
        origin = in_call(self._tracer, caller.origin)
        record = CallRecord(caller, call.name, origin=origin)
        try:
            check_limit(most_s if timeout_s is None else timeout_s)
            admitted = await self._admit(call, caller, approver, cover, record)
        except CallRefused as refused:
            outcome = Outcome(error=refused.error)
        except Exception:  # noqa: BLE001 - closed, whatever failed
            _log.exception("a check in Toolcrib itself failed, so %r is not called", call.name)
            outcome = Outcome(error=_GATE_FAILED)
        else:
            by_default = Deadline.by_default(self._policy.timeout_s, most_s)
            context = CallContext.of(
                by_default if timeout_s is None else Deadline(timeout_s),
                progress,
                ask,
                log,
                caller.id,
                roots=caller.roots,
                patient=timeout_s is None and progress is not None,
                trace=origin.trace,
                trace_state=origin.trace_state,
            )
            with run_for(caller, approver):
                outcome = await self._send(admitted, caller, context)
        self._tell(record, outcome)
        return outcome

    def _tell(self, record: CallRecord, outcome: Outcome) -> None:
        """A call is over, however it ended."""
        tracer = self._tracer
        record.end(outcome, hold=tracer is not None and tracer.content)
        self._events.append_later("call", record.event)
        if tracer:
            tracer.tell(record.span)

    def question(self, call: Call, caller: Caller) -> ApprovalRequest | None:
        """What a person would be asked before this call is made. Sends nothing, asks nobody.

        None where nobody would be asked: the rules allow the call, or it would be refused.
        """
        try:
            resolved = self._resolve(call, caller)
            arguments = copy_arguments(call, resolved.tool)
        except Exception:  # noqa: BLE001 - the call comes to the same gates, and says what is wrong
            return None
        if not self._approval.asks(resolved.entry, caller):
            return None
        return ApprovalRequest.of(caller.id, resolved.tool, arguments)

    def asks(self, name: str, caller: Caller) -> bool:
        """Whether the rules want a person to approve calls of this name, whatever its state."""
        entry = self.means(name, caller)
        return entry is not None and self._approval.asks(entry, caller)

    def check(self, tool: ToolInfo, arguments: JsonObject | str) -> JsonObject:
        """The arguments as this tool would be sent them. Sends nothing. Raises `CallRefused`."""
        copy = copy_arguments(Call.of(tool.name, arguments), tool)
        return self._arguments.check(tool, copy).arguments

    def means(self, name: str, caller: Caller) -> Entry | None:
        """The entry of the pool that a call of this name would reach.

        None if it would reach none, or a tool of the request alone.
        """
        try:
            entry, pool = resolve(name, self._pool, caller)
        except CallRefused:
            return None
        return entry if pool is self._pool else None

    async def paged(self, outcome: OutcomeT, caller: Caller) -> OutcomeT:
        """The outcome as a model gets it: of a long result the first page; see `Outcome.page`."""
        return await self._results.paged(outcome, caller)

    def result(self, handle: str, caller: Caller, page: int, find: str) -> Outcome:
        """A page of a long result; with `find`, of its lines that have these words."""
        try:
            if find:
                return self._results.find(handle, caller, find, page)
            return self._results.page(handle, caller, page)
        except CallRefused as refused:
            return Outcome(error=refused.error)

    async def _admit(
        self,
        call: Call,
        caller: Caller,
        approver: Approver | None,
        cover: Cover | None,
        record: CallRecord,
    ) -> _AdmittedCall:
        """The call past all gates, in their order. Raises `CallRefused`."""
        resolved = self._resolve(call, caller)
        entry, tool = resolved.entry, resolved.tool
        record.source = tool.source_id or ""
        is_small = is_little(call.text or call.arguments)
        arguments = await self._aside(partial(copy_arguments, call, tool), caller, at_once=is_small)
        record.request = request = ApprovalRequest.of(caller.id, tool, arguments)
        record.verdict = verdict = self._approval.verdict(entry, caller)
        await self._approval.grant(verdict, request, approver, cover)
        is_small = self._arguments.takes_a_moment(tool, arguments)
        check = partial(self._arguments.check, tool, arguments)
        checked = await self._aside(check, caller, at_once=is_small)
        source = self._source_if_unchanged(resolved, caller, verdict)
        sent = Call(entry.bare, checked.arguments, pin=tool.pin)
        return _AdmittedCall(sent, tool, source, checked.repaired)

    def _resolve(self, call: Call, caller: Caller) -> _ResolvedCall:
        """The gates that need the name and the caller alone: name, state and pin, rights."""
        why = partial(self._why_unknown, caller=caller)
        entry, pool = resolve(call.name, self._pool, caller, why)
        tool = check_state(entry, call.pin)
        check_rights(entry, caller)
        return _ResolvedCall(entry, pool, tool)

    def _source_if_unchanged(
        self, resolved: _ResolvedCall, caller: Caller, verdict: Verdict
    ) -> Source:
        """The source of a tool that is still the one that was resolved: approval takes time.

        What a person has approved is not what a rule denies by then. Raises `CallRefused`.
        """
        entry, pool = resolved.entry, resolved.pool
        now = pool.entries.get(entry.name)
        if now is None:
            raise definition_changed(entry)
        check_state(now, resolved.tool.pin)
        check_rights(now, caller)
        if verdict == "ask":
            self._approval.check_again(now, caller)
        return pool.source_of(entry.name)

    async def _send(self, admitted: _AdmittedCall, caller: Caller, context: CallContext) -> Outcome:
        outcome = await dispatch(admitted.call, admitted.tool, admitted.source, context)
        if outcome.ok and self._has(admitted.tool):
            self._on_success(caller, admitted.tool.name)
        if not (getattr(admitted.source, "returns_json", False) or is_json(outcome)):
            outcome = Outcome(error=_NOT_JSON)
        repaired = admitted.repaired
        return outcome if outcome.repaired == repaired else replace(outcome, repaired=repaired)

    def _has(self, tool: ToolInfo) -> bool:
        """Whether this very tool is in the pool: one of the request may have the same name."""
        entry = self._pool.entries.get(tool.name)
        return entry is not None and entry.capability == tool

    async def _aside(self, work: Callable[[], T], caller: Caller, *, at_once: bool) -> T:
        """Do work that may take a while in a thread, unless it is done `at_once`.

        The threads are few and only for this, so that checks hold up nothing else, and no caller
        has all of them. Raises `CallRefused` where there is none for too long.
        """
        if at_once:
            return work()
        try:
            async with asyncio.timeout(2 * CHECK_S):
                await self._places.enter(caller.id)
                result = self._checking.submit(work)
                result.add_done_callback(lambda _: self._places.leave(caller.id))
                return await asyncio.wrap_future(result)
        except TimeoutError:
            message = "too much is checked at once; try again later, or send fewer arguments"
            raise CallRefused("overloaded", "arguments", message) from None
