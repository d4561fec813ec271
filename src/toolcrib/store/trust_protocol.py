"""What a store of trust promises: decisions about definitions, tickets for calls, logins.

Nothing here may be lost or made up: what was acknowledged is on the disk, or at the database. In
doubt it approves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from toolcrib.model import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from toolcrib.model import JsonObject
    from toolcrib.store.decision_rows import Decision
    from toolcrib.store.decisions import ToolDecisions
    from toolcrib.store.tickets import AskedTicket, TicketBinding, TicketRow, TicketState


class DecisionStore(Protocol):
    """What was decided about definitions, by source: `mcp:name#fingerprint`. For all threads.

    A server is the part of a source before `#`. Everything here raises `StoreError` when the place
    behind it cannot be read or written, and when what is asked for cannot be vouched for: then
    nothing of it is approved. What was written is seen by the next read, in whatever process.
    """

    def check_current(self) -> None:
        """Raises `StoreAway` where others may have decided something too long ago to be unknown.

        Whoever acts on a decision asks this first. A place that is asked each time needs nothing.
        """
        ...

    @property
    def trusts_first_sight(self) -> bool:
        """Whether a server that was never seen may be approved for that; not after a loss."""
        ...

    def version(self) -> object:
        """Another one, by `==`, whenever something may have been decided, in whatever process."""
        ...

    def mark(self, source: str) -> str:
        """The same as long as nothing else was decided about the server of this source.

        Cheap, and no decision is read. Empty if nobody vouches for what is decided.
        """
        ...

    def of(self, source: str) -> Mapping[str, ToolDecisions]:
        """What was decided about the tools of a source, by their own names; empty if nothing."""
        ...

    def elsewhere(self, source: str) -> Mapping[str, Decision]:
        """What was approved last of the same server's tools under its other sources, by name.

        Of sources that nobody vouches for nothing counts.
        """
        ...

    def configuration(self, source: str) -> str | None:
        """How a source was configured when all of it was approved; None if nobody knows."""
        ...

    def configuration_elsewhere(self, source: str) -> str | None:
        """The same of that other source of the server of which something was approved last."""
        ...

    def configured(self, source: str, entry: str) -> None:
        """Note how a source is configured now; nothing if the source is not known."""
        ...

    def inherit(self, source: str, former: str, renew: Callable[[Decision], Decision]) -> None:
        """Move all that was decided about `former` to this source, if that is not known yet.

        Each row goes through `renew`, and its source becomes this one. Nothing is left out: what
        was rejected stays so. Nothing of `former` is left but that its server is known, so that no
        second source inherits from it.
        """
        ...

    def is_known(self, source: str) -> bool:
        """Whether the server was listed before, under this source or another."""
        ...

    def trust(self, source: str, seen: Mapping[str, tuple[str, str]]) -> None:
        """Approve what a server lists for the first time: pins and definitions by name.

        The source is known from then on, also if nothing is seen. Never changes a decision that
        is there. Does nothing for a server that is known, nor unless first sight is trusted. Of
        several at once the first counts.
        """
        ...

    def used(self, *sources: str) -> None:
        """Note, once a day, that somebody has these.

        Decisions about a source that nobody has had for 180 days are let go; that its server is
        known is not forgotten. A clock that is set wrong adds one day at most.
        """
        ...

    def approve(self, decision: Decision) -> None:
        """The operator's verdict, in place of every row of this source and name. Whole or not.

        What nobody vouches for is gone first: of this source its decisions; if that is true of the
        whole, those of all sources, and with them the trust at first sight. That servers are known
        is not forgotten.
        """
        ...

    def reject(self, decision: Decision) -> None:
        """The same, in place of the row that rejects; one that approves the same pin goes.

        An approval of another pin stays.
        """
        ...

    def set_first_sight(self, *, trusted: bool) -> None:
        """Whether what is new may be trusted at first sight. The operator's too."""
        ...

    def close(self) -> None:
        """Let go of the place; whatever comes after it raises `StoreError`."""
        ...


class TicketStore(Protocol):
    """Calls that wait for approval, or have it. For all threads and processes.

    A ticket lasts for `TicketFile.LIFETIME_S` by the clock of the place, or as `extend` says,
    approved or not. Those of one caller make room for one another, the oldest first, at 100 and at
    8 MiB of requests; of more than 1,000 that wait the oldest goes of whoever has most. What is
    approved makes room for none. Everything here raises `StoreError` when the place behind it
    cannot be read or written.
    """

    def ask(self, binding: TicketBinding, request: str) -> AskedTicket:
        """The ticket that a call waits for: the one it has, approved or not, or a new one."""
        ...

    def spend(self, binding: TicketBinding) -> bool:
        """Whether this very call was approved; if so, that approval is gone now.

        Of any number who ask at once, in whatever process, one gets it. Leave that another hand
        has written is none, and is gone too.
        """
        ...

    def extend(self, id: str, lasts_s: float) -> bool:
        """Let a ticket wait for so long from now. False: no such ticket waits, or not any more."""
        ...

    def state(self, id: str) -> TicketState:
        """What has become of a ticket. `gone`: it was rejected, spent, crowded out or expired."""
        ...

    def waiting(self) -> Sequence[TicketRow]:
        """The tickets that nobody has decided on, oldest first."""
        ...

    def approve(self, id: str) -> TicketRow | None:
        """Give leave for one call. None: no such ticket waits, or not any more."""
        ...

    def reject(self, id: str) -> TicketRow | None:
        """Take a ticket away. None: no such ticket waits, or not any more."""
        ...

    def take_expired(self) -> Sequence[TicketRow]:
        """Tickets that were found to have expired with no answer since the last time.

        Each is returned once, in one process: the one whose `ask`, `approve` or `reject` found it.
        """
        ...

    def close(self) -> None:
        """Let go of the place; what waits goes on waiting."""
        ...


@dataclass(frozen=True, slots=True)
class Login:
    """What the authorization server gave, as it gave it. `expires_at` is since the epoch.

    `authority` is what the authorization server says of itself, `resource` what the server says of
    who guards it: a refresh goes where the login went.
    """

    url: str
    tokens: JsonObject = field(repr=False)
    client: JsonObject = field(repr=False)
    expires_at: float | None = None
    authority: JsonObject = field(default_factory=dict[str, Json], repr=False)
    resource: JsonObject = field(default_factory=dict[str, Json], repr=False)


class LoginStore(Protocol):
    """The OAuth logins at servers, one a server. They are secrets.

    Everything here raises `StoreError` when the place behind it cannot be read or written.
    """

    def read(self, server: str, url: str) -> Login | None:
        """The login for this very address; None where there is none, or nothing that can be used.

        An address that has changed gets no token that was given for the old one.
        """
        ...

    def write(self, server: str, login: Login, *, renews: bool = False) -> None:
        """Keep a login in place of the last. When it raises, the old one stays.

        One that only `renews` another is not kept if that was removed meanwhile.
        """
        ...

    def forget(self, server: str) -> bool:
        """Remove the login; whether there was one."""
        ...

    def written(self, server: str) -> float:
        """When it was last written, since the epoch; 0 if it is not there."""
        ...

    def renewing(self, server: str) -> AbstractContextManager[None]:
        """A block in which nobody else, in whatever process, is in such a block for this server.

        Waits for its turn, 30 seconds at most. It may be left in another thread. Whoever refreshes
        a token reads the login again in it first: a token that another has refreshed meanwhile may
        be good for nothing by now.
        """
        ...
