"""A crib as one principal has it: what they see, what they find, what they call."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from toolcrib.crib import Crib, inventory_of, signatures_in
from toolcrib.errors import StoreError
from toolcrib.execute import Approver, Caller, VisibleTools
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.client_approver import client_approver
from toolcrib.gateway.operator_approver import HeldCalls, OperatorApprover
from toolcrib.gateway.principal import Principal
from toolcrib.model import (
    NO_ORIGIN,
    Entry,
    EntryTraits,
    EventOrigin,
    JsonObject,
    Kind,
    Outcome,
    ToolInfo,
    UnavailableServer,
)
from toolcrib.names import any_grants
from toolcrib.program import ProgramOutcome, ToolSignature
from toolcrib.session import SearchResult


class CallerView:
    """One principal's view of a crib. Safe to share between threads."""

    def __init__(self, crib: Crib, principal: Principal, held: HeldCalls | None = None) -> None:
        self._crib = crib
        self._held = held or HeldCalls()
        self.principal = principal
        self.settings = crib.settings
        self._reader = _read_only(principal.caller)
        self._session = crib.session(caller=principal.caller, tool_search="off")
        self._visible = VisibleTools({})
        self.is_revoked = False
        """Whether the credential of the principal works no longer."""

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

    def tools(self) -> tuple[ToolInfo, ...]:
        """Every tool that may be listed, by source and name; the same while the catalog is."""
        return self._session.core_tools()

    def tool_names(self) -> tuple[str, ...]:
        """The names of `tools`; no definition is read for them."""
        return self._session.core_names

    def tool_entries(self) -> tuple[Entry, ...]:
        """The entries of `tools`; the same holds of them."""
        entries = self.visible.entries
        return tuple(entries[name] for name in self.tool_names() if name in entries)

    def asks(self, tool: ToolInfo) -> bool:
        """Whether a person approves each call of this tool by the principal."""
        entry, caller = self.visible.entries.get(tool.name), self.principal.caller
        verdict = inventory_of(self._crib).verdict
        return entry is not None and verdict(entry, caller.profile) == "ask"

    def pinned(self) -> tuple[ToolInfo, ...]:
        """The tools that are listed whatever the mode, by source and name."""
        pins, visible = self.principal.profile.pins, self.visible
        listed = ((name, visible.entries.get(name)) for name in (self.tool_names() if pins else ()))
        names = [name for name, entry in listed if entry and any_grants(pins, entry)]
        return tuple(filter(None, map(visible.tool, names)))

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
