"""A program that waits for a person: what is kept of it, and that nobody else may go on with it.

What is kept is the program as the interpreter dumps it, and beside it what the interpreter does not
know: which calls wait, under which tickets, what was called already, what was printed. To load a
dump that another hand has made could do anything, so it has a MAC of this installation, over its
tenant, its caller and its handle. One that is altered, or of somebody else, is not loaded.
"""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolcrib.execute import Cover
from toolcrib.model import JsonObject
from toolcrib.program.outcome import ProgramCall
from toolcrib.program.sandbox import engine_version
from toolcrib.store import SuspensionStore
from toolcrib.strict_json import plain_json

MAC_BYTES = 32
_PURPOSE = b"toolcrib.program"


class ProgramFunction(NamedTuple):
    """A tool as a program calls it: its name and pin, and its parameters in JSON by theirs here."""

    name: str
    pin: str
    keys: Mapping[str, str]


class CallAwaitingApproval(NamedTuple):
    """A call that a person has to approve, under this ticket."""

    function: ProgramFunction
    arguments: JsonObject
    ticket: str


@dataclass(frozen=True, slots=True)
class Suspension:
    """A program that waits.

    `calls` are all that it has made, by number, and `waiting` those that a person has to approve.
    `state` is the dump of the interpreter, `cover` the one question for all its calls.
    """

    functions: Mapping[str, ProgramFunction]
    groups: tuple[str, ...]
    calls: Mapping[int, ProgramCall]
    waiting: Mapping[int, CallAwaitingApproval]
    printed: str
    state: bytes
    cover: Cover | None = None


class Suspensions:
    """The suspended programs of a tenant. The store and the key are asked for when needed.

    Everything here raises `StoreError` when the store cannot be read or written.
    """

    def __init__(
        self,
        open_store: Callable[[], SuspensionStore],
        key: Callable[[], bytes],
        tenant: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._open_store = open_store
        self._key = key
        self._tenant = tenant
        self._clock = clock

    def keep(self, suspension: Suspension, caller: str, lasts_s: float, handle: str = "") -> str:
        """The handle under which it waits, a new one or this; "" if it is too large to be kept."""
        handle = handle or secrets.token_urlsafe(9)
        body = _written(suspension, self._clock() + lasts_s)
        content = self._mac(handle, caller, body) + body
        kept = self._open_store().keep_suspension(handle, caller, content, lasts_s)
        return handle if kept else ""

    def look(self, handle: str, caller: str) -> Suspension | None:
        """What waits under a handle; None if this caller has nothing there, or not any more."""
        return self._read(handle, caller, self._open_store().suspension(handle, caller))

    def take(self, handle: str, caller: str) -> Suspension | None:
        """The same, for one of all who ask; nobody gets it again."""
        return self._read(handle, caller, self._open_store().take_suspension(handle, caller))

    def _read(self, handle: str, caller: str, content: bytes | None) -> Suspension | None:
        if content is None:
            return None
        mac, body = content[:MAC_BYTES], content[MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(handle, caller, body)):
            return None
        return _read(body, self._clock())

    def _mac(self, handle: str, caller: str, body: bytes) -> bytes:
        digest = hashlib.blake2b(key=self._key(), digest_size=MAC_BYTES, person=_PURPOSE)
        for text in (self._tenant, handle, caller):
            part = text.encode("utf-8", "surrogatepass")
            digest.update(len(part).to_bytes(8) + part)
        digest.update(body)
        return digest.digest()


def _written(suspension: Suspension, expires: float) -> bytes:
    head: dict[str, Any] = {
        "engine": engine_version(),
        "expires": expires,
        "functions": suspension.functions,
        "groups": suspension.groups,
        "calls": list(suspension.calls.items()),
        "waiting": [
            (id, [call.function, plain_json(call.arguments), call.ticket])
            for id, call in suspension.waiting.items()
        ],
        "printed": suspension.printed,
        "cover": suspension.cover and suspension.cover.fields(),
    }
    return json.dumps(head).encode() + b"\n" + suspension.state


def _read(body: bytes, now: float) -> Suspension | None:
    """None for one that has expired, or that another version of the interpreter has made."""
    head, _, state = body.partition(b"\n")
    found: dict[str, Any] = json.loads(head)
    if found["engine"] != engine_version() or found["expires"] <= now:
        return None
    functions = {path: ProgramFunction(*each) for path, each in found["functions"].items()}
    waiting: dict[int, CallAwaitingApproval] = {}
    for id, (function, arguments, ticket) in found["waiting"]:
        waiting[id] = CallAwaitingApproval(ProgramFunction(*function), arguments, ticket)
    calls = {id: ProgramCall(*each) for id, each in found["calls"]}
    cover = Cover.of_fields(found["cover"]) if found.get("cover") else None
    groups, printed = tuple(found["groups"]), found["printed"]
    return Suspension(functions, groups, calls, waiting, printed, state, cover)
