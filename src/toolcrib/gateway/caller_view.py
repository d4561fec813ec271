"""A crib as one principal has it: what they see, what they find, what they call."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Literal

from toolcrib.crib import Crib, deferral_plan_in, inventory_of, signatures_in
from toolcrib.errors import StoreError
from toolcrib.execute import Approver, Caller, VisibleTools
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.client_approver import client_approver
from toolcrib.gateway.operator_approver import HeldCalls, OperatorApprover
from toolcrib.gateway.principal import Principal
from toolcrib.model import (
    NO_ORIGIN,
    DeferralTrigger,
    Entry,
    EntryTraits,
    EventOrigin,
    JsonObject,
    Kind,
    Outcome,
    ToolInfo,
    UnavailableServer,
)
from toolcrib.program import ProgramOutcome, ToolSignature
from toolcrib.session import DeferralPlan, SearchResult
from toolcrib.settings import GatewayMode, Settings
from toolcrib.wiring import deferral_of


class CallerView:
    """One principal's view of a crib. Safe to share between threads."""

    def __init__(self, crib: Crib, principal: Principal, held: HeldCalls | None = None) -> None:
        self._crib = crib
        self._held = held or HeldCalls()
        self.principal = principal
        self._reader = _read_only(principal.caller)
        self._visible = VisibleTools({})
        self.is_revoked = False
        """Whether the credential of the principal works no longer."""

    @property
    def settings(self) -> Settings:
        """As they are now."""
        return self._crib.settings

    @property
    def visible(self) -> VisibleTools:
        """What the principal may name now."""
        entries = inventory_of(self._crib).seen_by(self.principal.caller)
        if self._visible.entries is not entries:
            why = partial(inventory_of(self._crib).why_unknown, caller=self.principal.caller)
            self._visible = VisibleTools(entries, why)
        return self._visible

    def groups(self) -> Mapping[EntryTraits, Collection[str]]:
        """The names of what the principal may see, by traits."""
        return inventory_of(self._crib).groups_seen_by(self.principal.caller)

    @property
    def mode(self) -> GatewayMode:
        """The mode that the profile says; where it leaves it open, the style of sessions counts."""
        said = self.principal.profile.mode
        return "code" if said == "auto" and self.settings.session.style == "code" else said

    def plan(self, waits: Literal["as set", "all", "nothing"]) -> DeferralPlan:
        """Which tools wait for a search: as it is set, all that may, or none.

        The one place where it is decided what a principal's list has. The pins of the profile never
        wait. How long a conversation is nobody tells the gateway: it counts as long.
        """
        profile = self.principal.profile
        own = deferral_of(self.settings, None, profile.context_window)
        own = replace(own, never_defer=own.never_defer | profile.pins)
        if waits != "as set":
            trigger = DeferralTrigger("on" if waits == "all" else "off")
            own = replace(own, trigger=trigger, threshold=0)
        return deferral_plan_in(self._crib, self.principal.caller, own, own.context_window)

    def asks(self, tool: ToolInfo) -> bool:
        """Whether a person approves each call of this tool by the principal."""
        entry, caller = self.visible.entries.get(tool.name), self.principal.caller
        verdict = inventory_of(self._crib).verdict
        return entry is not None and verdict(entry, caller.profile) == "ask"

    def unavailable(self) -> tuple[UnavailableServer, ...]:
        """The first of the servers that this principal might have tools of, but cannot now."""
        return self._crib.search("", limit=1, caller=self.principal.caller).unavailable

    def search(
        self,
        queries: Sequence[str],
        limit: int | None = None,
        kinds: Iterable[Kind] = (),
        origin: EventOrigin = NO_ORIGIN,
    ) -> SearchResult:
        """What fits each query. May take a while: an embedder may be asked."""
        caller, only = self.principal.caller.at(origin), frozenset(kinds)
        answers = tuple(
            self._crib.search(query, limit=limit, kinds=only, caller=caller) for query in queries
        )
        return SearchResult.of(answers, self.visible.tool)

    def read(self, name: str) -> Outcome:
        """All about an entry that the principal may see. May read the store, or a skill's file."""
        return self._crib.read(name, caller=self.principal.caller)

    async def call(  # noqa: PLR0913 - what a call may have, each by its name
        self,
        entry: Entry,
        arguments: JsonObject | str,
        channel: CallChannel,
        *,
        origin: EventOrigin = NO_ORIGIN,
        pin: str = "",
        read_only: bool = False,
    ) -> Outcome:
        """Call it through the door; with `read_only` the door lets nothing else through."""
        caller = self._reader if read_only else self.principal.caller
        return await self._crib.call(
            entry.name,
            arguments,
            caller=caller.at(origin),
            pin=pin,
            approver=self._approver(channel),
            progress=channel.progress,
            ask=channel.ask,
            log=channel.log,
            paged=True,
        )

    def signatures(self, found: SearchResult) -> Mapping[str, ToolSignature]:
        """What was found as functions of programs, by name; not what cannot be called."""
        return signatures_in(self._crib, [hit.name for hit in found.hits], self.principal.caller)

    async def run(
        self, program: str, channel: CallChannel, origin: EventOrigin = NO_ORIGIN
    ) -> ProgramOutcome:
        """Run a program as this principal. A call that the operator has to approve suspends it."""
        return await self._go_on(self._crib.run, program, channel, origin)

    async def resume(
        self, handle: str, channel: CallChannel, origin: EventOrigin = NO_ORIGIN
    ) -> ProgramOutcome:
        """Go on with a program of this principal that was suspended."""
        return await self._go_on(self._crib.resume, handle, channel, origin)

    async def _go_on(
        self,
        go: Callable[..., Awaitable[ProgramOutcome]],
        text: str,
        channel: CallChannel,
        origin: EventOrigin,
    ) -> ProgramOutcome:
        return await go(
            text,
            caller=self.principal.caller.at(origin),
            approver=self._client_approver(channel),
            progress=channel.progress,
            ask=channel.ask,
            log=channel.log,
            paged=True,
        )

    def propose(self, program: str, purpose: str) -> None:
        """Propose a program that worked to the operator. What cannot be kept is left out."""
        with suppress(StoreError):
            self._crib.propose_recipe(program, purpose, caller=self.principal.caller)

    def _client_approver(self, channel: CallChannel) -> Approver | None:
        return client_approver(self._crib.settings.approval, self.principal, channel)

    def _approver(self, channel: CallChannel) -> Approver | None:
        """Who is asked: the person at the client, then the operator while the call is held."""
        settings = self._crib.settings.approval
        first = self._client_approver(channel)
        if not settings.wait_s:
            return first
        tickets = self._crib.operator.tickets
        return OperatorApprover(
            first,
            tickets,
            self._held,
            channel,
            settings.wait_s,
            is_revoked=lambda: self.is_revoked,
        )

    def result(self, handle: str, page: int, find: str) -> Outcome:
        """A page of a long result of this principal, or of its lines that have some words."""
        return self._crib.result(handle, page=page, find=find, caller=self.principal.caller)


def _read_only(caller: Caller) -> Caller:
    """The same caller, with the right to what is read alone."""
    allowed = caller.scope.permissions
    reads = frozenset({"read"}) if allowed is None else allowed & {"read"}
    return replace(caller, scope=replace(caller.scope, permissions=reads))
