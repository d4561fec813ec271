"""Tickets: approvals that are given later, by somebody else, for one call each.

A ticket is bound to the caller, the source, name and pin of the tool, and the arguments. It lasts
five minutes and is spent by the first call that fits it. Approving is the operator's: nothing that
a model can call leads here.
"""

import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

from toolcrib.model import Event, Json, PermissionKind, ToolInfo
from toolcrib.observe import Record, drop
from toolcrib.store import TicketBinding, TicketFile, TicketRow, TicketState, TicketStore
from toolcrib.strict_json import canonical_json, json_digest

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What a person is asked: whether this caller may make this very call.

    `source` is the kind and the id of the tool's source; empty for what is no tool of one.
    """

    caller: str
    name: str
    description: str
    permission_kind: PermissionKind
    arguments: Json
    pin: str
    source: str = ""

    @classmethod
    def of(cls, caller: str, tool: ToolInfo, arguments: Json) -> "ApprovalRequest":
        """The request of a caller to call a tool."""
        what = tool.name, tool.description, tool.permission_kind, arguments, tool.pin
        return cls(caller, *what, f"{tool.source}:{tool.source_id or ''}")


@dataclass(frozen=True, slots=True)
class Ticket:
    """A call that waits for approval. `expires` is in seconds since the epoch."""

    id: str
    request: ApprovalRequest
    expires: float


def in_memory() -> TicketStore:
    """For a door that leaves nothing on disk."""
    return TicketFile(Path(":memory:"), secrets.token_bytes(KEY_BYTES))


class Tickets:
    """The calls that wait for approval. Made by `Crib`.

    The file is opened when the first is asked for or looked for. `record` hears who asks, and what
    is answered.

    Everything here raises `StoreError` when it cannot be read or written.
    """

    def __init__(
        self, open_file: Callable[[], TicketStore] = in_memory, record: Record = drop
    ) -> None:
        self._open_file = open_file
        self._record = record
        self._opened: TicketStore | None = None
        self._starting = Lock()

    def ask(self, request: ApprovalRequest) -> Ticket:
        """The ticket that a call waits for: the one it has, or a new one.

        With too many of its caller waiting, the oldest of those makes room.
        """
        row, is_new = self._file.ask(_binding(request), canonical_json(asdict(request)))
        ticket = _read(row)
        if is_new:
            self.record(request, "asked")
        self._record_expired()
        return ticket

    def state(self, id: str) -> TicketState:
        """What has become of a ticket; `gone` where it was not approved, and will not be."""
        return self._file.state(id)

    def extend(self, id: str, lasts_s: float) -> bool:
        """Let a ticket wait for so long from now. False: no such ticket waits, or not any more."""
        return self._file.extend(id, lasts_s)

    def spend(self, request: ApprovalRequest) -> bool:
        """Whether this call was approved. If so, the ticket is used up."""
        return self._file.spend(_binding(request))

    def waiting(self) -> Sequence[Ticket]:
        """The tickets that nobody has decided on, oldest first."""
        return [_read(row) for row in self._file.waiting()]

    def approve(self, id: str) -> bool:
        """Approve one call. False: no such ticket waits, or not any more."""
        return self._decided(self._file.approve(id), "allowed")

    def reject(self, id: str) -> bool:
        """Take a ticket away. False: no such ticket waits, or not any more."""
        return self._decided(self._file.reject(id), "denied")

    def record(self, request: ApprovalRequest, code: str, by: str = "") -> None:
        """That a person was asked, or has answered. `by`: who has."""
        facts: dict[str, Json] = {"kind": request.permission_kind, "pin": request.pin}
        if by:
            facts["by"] = by
        event = Event(
            time.time(), "approval", request.caller, name=request.name, code=code, facts=facts
        )
        self._record(event)

    def close(self) -> None:
        """Let go of the file; what waits in it goes on waiting."""
        with self._starting:
            if self._opened:
                self._opened.close()

    def _decided(self, row: TicketRow | None, code: str) -> bool:
        self._record_expired()
        if row:
            self.record(_read(row).request, code, "operator")
        return row is not None

    def _record_expired(self) -> None:
        for row in self._file.take_expired():
            self.record(_read(row).request, "expired")

    @property
    def _file(self) -> TicketStore:
        with self._starting:
            if self._opened is None:
                self._opened = self._open_file()
            return self._opened


def _binding(request: ApprovalRequest) -> TicketBinding:
    """What makes it this call and no other: caller, pin, hash of source, name and arguments."""
    call: Json = [request.source, request.name, request.arguments]
    return TicketBinding(request.caller, request.pin, json_digest(call))


def _read(row: TicketRow) -> Ticket:
    return Ticket(row.id, ApprovalRequest(**json.loads(row.request)), row.expires)
