"""What clients and the operator do while things break.

A client searches, calls with the set that it got, pages through a long result, and now and then
makes a call that needs leave. Once the operator has given it, the same call is sent to two replicas
at once: one of them may be made.
"""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from random import Random
from typing import Any, NamedTuple

from benchmarks.replicas.client import Era, McpClient, Reply
from benchmarks.replicas.cluster import Cluster, Replica
from benchmarks.replicas.ledger import TOOLS_KEY, Approval, Executed, Ledger
from benchmarks.replicas.shop_server import CANCEL, LOOK_UP, REPORT, SERVER
from toolcrib.errors import ConfigError, StoreAway, StoreError
from toolcrib.gateway import DEFAULT_PROFILE, ask_daemon
from toolcrib.gateway.keys import Keys, key_id
from toolcrib.store import Decision
from toolcrib.store.postgres import PostgresStores
from toolcrib.strict_json import json_digest

AWAY, UNHEARD = "store_away", "approval_failed"
"""The codes of a store that is away: of calls, and of the approval of calls."""
INTERNAL = ("rpc -32603", "http 500")
PAUSE_S = 0.1
SET_ROUNDS, TICKET_ROUNDS = 4, 3
"""A client begins a new set, and asks for leave, once in so many rounds."""
DECIDE_S, KEY_S = 0.05, 0.5
SOURCES = 20
TRIES_S = 25.0
NOT_MADE = ("approval_needed", "approval_denied")


def client_name(number: int) -> str:
    """What the key of a client is called."""
    return f"client-{number}"


class Failure(NamedTuple):
    """What failed, when, and whether it was on a connection to a replica that was killed."""

    what: str
    code: str
    at: float
    own: bool


@dataclass
class Tally:
    """What was done, and what came of it. `acknowledged` are the times of durable writes."""

    done: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    acknowledged: list[float] = field(default_factory=list)
    sessions: int = 0
    internal: int = 0

    def failed(self, what: str, *, own: bool | None = None, code: str = "") -> int:
        """How many of a kind failed: on killed connections, on others, or with a code."""
        return sum(
            each.what == what and own in (None, each.own) and code in ("", each.code)
            for each in self.failures
        )


class Load:
    """All clients, and the operator, until they are told to end."""

    def __init__(
        self, cluster: Cluster, stores: PostgresStores, queries: Sequence[str], keys: Sequence[str]
    ) -> None:
        self._cluster, self._stores = cluster, stores
        self._queries, self._keys = queries, keys
        self._waiting: asyncio.Queue[tuple[str, str, asyncio.Event]] = asyncio.Queue()
        self.ledger, self.tally = Ledger(), Tally()
        self.is_ending = False

    async def run(self) -> None:
        """Work until `is_ending`, and end what was begun: a call that is given up tells nothing."""
        eras: tuple[Era, Era] = ("modern", "legacy")
        workers = [
            _Worker(self, number, key, eras[number % 2]).run()
            for number, key in enumerate(self._keys)
        ]
        operator = [
            asyncio.create_task(work())
            for work in (self._decide, self._add_keys, self._approve, self._approve)
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in operator:
                task.cancel()
            await asyncio.gather(*operator, return_exceptions=True)

    async def _decide(self) -> None:
        for number in count():
            source = f"mcp:made-{number % SOURCES}#{'0' * 16}"
            verdict = "rejected" if number % 5 == 0 else "approved"
            row = Decision(
                source,
                f"tool_{number}",
                verdict,
                secrets.token_hex(16),
                "operator",
                time.time(),
                "{}",
            )
            write = (
                self._stores.decisions.reject if number % 5 == 0 else self._stores.decisions.approve
            )
            if await self._written("decisions", lambda write=write, row=row: write(row)):
                self.ledger.decisions.append(row)
            await asyncio.sleep(DECIDE_S)

    async def _add_keys(self) -> None:
        for number in count():
            shown: list[str] = []
            if await self._written(
                "keys", lambda n=number, s=shown: s.append(Keys(self._stores.keys).add(f"made-{n}"))
            ):
                self.ledger.keys += shown
            await asyncio.sleep(KEY_S)

    async def _written(self, what: str, write: Callable[[], None]) -> bool:
        """Whether it was acknowledged."""
        try:
            await asyncio.to_thread(write)
        except StoreError as error:
            if not isinstance(error, StoreAway):
                self.tally.failures.append(Failure(what, str(error), time.monotonic(), own=False))
            self.ledger.doubted[what] += 1
            return False
        self.tally.acknowledged.append(time.monotonic())
        return True

    async def leave_for(self, order: str, ticket: str) -> None:
        """Wait until the operator has allowed a call, or has tried for long enough."""
        decided = asyncio.Event()
        await self._waiting.put((order, ticket, decided))
        await decided.wait()

    async def _approve(self) -> None:
        """Allow what waits, at whatever replica, until one says that it is done."""
        chance = Random()
        while True:
            order, ticket, decided = await self._waiting.get()
            approval, end = self.ledger.approvals[order], time.monotonic() + TRIES_S
            while time.monotonic() < end and not approval.approved:
                replica = chance.choice(self._cluster.running())
                try:
                    await asyncio.to_thread(
                        ask_daemon, replica.files, "decide", id=ticket, allowed=True
                    )
                except ConfigError as error:
                    if "no call waits" in str(error):  # it may have been this one, unheard
                        break
                    approval.doubted = True
                    await asyncio.sleep(0.3)
                else:
                    approval.approved = True
                    self.tally.acknowledged.append(time.monotonic())
            decided.set()

    def note(self, what: str, reply: Reply, began: float, replicas: Collection[str]) -> Reply:
        """Count what came of a request. `replicas`: who answered before, and who this time.

        A replica that is back gets its clients back, and knows none of their sessions.
        """
        self.tally.done[what] += 1
        self.see(reply)
        if reply.code:
            own = any(
                each.was_down(began) for each in self._cluster.replicas if each.name in replicas
            )
            self.tally.failures.append(Failure(what, reply.code, time.monotonic(), own))
        return reply

    async def duel(self, key: str, order: str) -> None:
        """Make the call that has leave, at two replicas at once, until one says how it ended."""
        approval, end = self.ledger.approvals[order], time.monotonic() + TRIES_S
        while time.monotonic() < end:
            two = Random().sample(self._cluster.running(), 2)
            replies = await asyncio.gather(*(_call_at(each, key, order) for each in two))
            self.tally.done["calls with leave"] += len(replies)
            codes = [each.code for each in replies]
            for replica, each in zip(two, replies, strict=True):
                self._note_leave(approval, each)
                if not each.code:
                    self.note_executed(f"mcp_{SERVER}_{CANCEL}", {"order": order}, replica.name)
            if "" in codes or all(code in NOT_MADE for code in codes):
                return
            await asyncio.sleep(0.5)

    def see(self, reply: Reply) -> None:
        """Count an answer that says that something of ours is broken."""
        self.tally.internal += reply.code in INTERNAL

    def note_executed(self, name: str, arguments: Mapping[str, str], replica: str) -> None:
        """A call was answered: its event has to be in the log."""
        called = Executed(name, json_digest(dict(arguments)), time.monotonic(), replica)
        self.ledger.executed.append(called)

    def _note_leave(self, approval: Approval, reply: Reply) -> None:
        """A request that got no further than the door of the gateway has spent nothing."""
        self.see(reply)
        if reply.broken or (reply.status == 200 and reply.code in (AWAY, UNHEARD)):
            approval.doubted = True
        elif reply.status == 200 and reply.code and reply.code not in NOT_MADE:
            approval.failed = True
            failure = Failure("calls with leave", reply.code, time.monotonic(), own=False)
            self.tally.failures.append(failure)

    @property
    def queries(self) -> Sequence[str]:
        """What clients ask for."""
        return self._queries

    @property
    def url(self) -> str:
        """Where they ask."""
        return self._cluster.url


class _Worker:
    """One client."""

    def __init__(self, load: Load, number: int, key: str, era: Era) -> None:
        self._load, self._key = load, key
        self._client = McpClient(load.url, key, era)
        self._chance = Random(number)
        self._number = number
        self._owner = f"key:{client_name(number)}#{key_id(key)}@{DEFAULT_PROFILE}"
        self._set = ""

    async def run(self) -> None:
        try:
            for number in takewhile(lambda _: not self._load.is_ending, count()):
                await self._round(number)
                await asyncio.sleep(PAUSE_S * (0.5 + self._chance.random()))
        finally:
            self._load.tally.sessions += self._client.sessions
            await self._client.close()

    async def _round(self, number: int) -> None:
        if number % SET_ROUNDS == 0:
            self._set = ""
        queries = ["look up one order", self._chance.choice(self._load.queries)]
        reply = await self._ask("searches", "tool_search", queries=queries, **self._with_set())
        if not reply.code:
            self._set = self._load.ledger.reveal(self._owner, self._client, reply)
        order = f"{self._number}-{number}"
        read = {"arguments": {"order": order}}
        await self._call(LOOK_UP, read, **self._with_set())
        if number % TICKET_ROUNDS == 0:
            await self._page(read)
            await self._cancel(order)

    def _with_set(self) -> Mapping[str, str]:
        return {"set": self._set} if self._set else {}

    async def _page(self, read: Mapping[str, Any]) -> None:
        reply = await self._call(REPORT, read)
        if handle := reply.meta.get("toolcrib/handle"):
            await self._ask("pages", "tool_result", handle=handle, page=2)

    async def _call(self, tool: str, read: Mapping[str, Any], **more: str) -> Reply:
        name = f"mcp_{SERVER}_{tool}"
        reply = await self._ask("calls", "tool_call_read", name=name, **read, **more)
        if not reply.code:
            self._load.note_executed(name, read["arguments"], self._client.replica)
        return reply

    async def _cancel(self, order: str) -> None:
        name = f"mcp_{SERVER}_{CANCEL}"
        reply = await self._client.call("tool_call", name=name, arguments={"order": order})
        self._load.tally.done["tickets asked for"] += 1
        self._load.see(reply)
        if reply.ticket:
            self._load.ledger.approvals[order] = Approval(reply.ticket)
            await self._load.leave_for(order, reply.ticket)
            await self._load.duel(self._key, order)
        elif reply.code == AWAY:
            self._load.tally.done["refused a ticket"] += 1

    async def _ask(self, what: str, tool: str, **arguments: object) -> Reply:
        began, replica = time.monotonic(), self._client.replica
        reply = await self._client.call(tool, **arguments)
        if what == "searches" and not reply.code and not _found(reply):
            reply = reply._replace(code="found nothing")
        return self._load.note(what, reply, began, {replica, self._client.replica})


def _found(reply: Reply) -> bool:
    """Whether a search has found what is there at all times."""
    return any(name.endswith(LOOK_UP) for name in reply.meta.get(TOOLS_KEY, ()))


async def _call_at(replica: Replica, key: str, order: str) -> Reply:
    client = McpClient(replica.url, key, "modern", f"127.0.0.1:{replica.port}")
    try:
        name = f"mcp_{SERVER}_{CANCEL}"
        return await client.call("tool_call", name=name, arguments={"order": order})
    finally:
        await client.close()
