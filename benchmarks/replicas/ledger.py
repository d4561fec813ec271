"""What was acknowledged during a run, and what became of it: looked up when the run is over.

Only what somebody was told counts. A request whose answer got lost may have been done or not: it is
in doubt, and neither is a loss.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from benchmarks.replicas.client import McpClient, Reply
from benchmarks.replicas.cluster import Cluster
from toolcrib.gateway.keys import Keys
from toolcrib.store import Decision, EventFilter
from toolcrib.store.postgres import PostgresStores

T = TypeVar("T")

UNLOGGED_S = 2.0
"""So long before a kill what is answered may not be logged: half a second, on a quiet machine."""
LOGGED_S = 60.0
PAGE_EVENTS = 20_000

SET_KEY, TOOLS_KEY = "toolcrib/set", "toolcrib/tools"


class Reveal(NamedTuple):
    """A set as a client was told of it: by which replica, and the tools that it has at least."""

    owner: str
    key: str
    handle: str
    tools: frozenset[str]
    replica: str


@dataclass
class Approval:
    """One call that needs leave. `doubted`: a request about it was never answered.

    `failed`: it was let through, and could not be made for another reason.
    """

    ticket: str
    approved: bool = False
    doubted: bool = False
    failed: bool = False


class Finding(NamedTuple):
    """Of one kind of thing: how many were acknowledged, were in doubt, and are lost."""

    what: str
    acknowledged: int
    doubted: int
    lost: Sequence[str]


class Spending(NamedTuple):
    """What became of leave: calls that were made, made twice, and made without any leave."""

    spent: int
    twice: Sequence[str]
    without: Sequence[str]


class Executed(NamedTuple):
    """A call that was answered: its tool, the hash of its arguments, when and by which replica."""

    name: str
    digest: str
    at: float
    replica: str


@dataclass
class Ledger:
    """Everything that was acknowledged."""

    executed: list[Executed] = field(default_factory=list)

    decisions: list[Decision] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    reveals: dict[str, Reveal] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    doubted: Counter[str] = field(default_factory=Counter)

    def reveal(self, owner: str, client: McpClient, reply: Reply) -> str:
        """Note what a search has shown; its set."""
        handle = str(reply.meta.get(SET_KEY, ""))
        if handle:
            before = self.reveals.get(handle)
            tools = frozenset(map(str, reply.meta.get(TOOLS_KEY, ())))
            tools |= before.tools if before else frozenset()
            self.reveals[handle] = Reveal(owner, client.key, handle, tools, client.replica)
        return handle

    def spending(self, spent: Path) -> Spending:
        """By the file of the server that was called."""
        made = Counter(spent.read_text().split() if spent.exists() else ())
        leave = {order for order, each in self.approvals.items() if each.approved or each.doubted}
        twice = [order for order, times in made.items() if times > 1]
        return Spending(len(made), twice, [order for order in made if order not in leave])

    def lost_approvals(self, spent: Path, stores: PostgresStores) -> Finding:
        """Leave that was given without a doubt, and is neither used nor there."""
        made = {*(spent.read_text().split() if spent.exists() else ())}
        given = {order: each for order, each in self.approvals.items() if each.approved}
        doubted = [order for order, each in self.approvals.items() if each.doubted]
        unused = [
            each
            for order, each in given.items()
            if order not in made and not each.doubted and not each.failed
        ]
        lost = [e.ticket for e in unused if stores.tickets.state(e.ticket) != "approved"]
        return Finding("approvals of calls (tickets)", len(given), len(doubted), lost)


def audit_events(ledger: Ledger, cluster: Cluster, stores: PostgresStores) -> Finding:
    """Look for each call that was answered in the log, until all are there or it takes too long.

    What a replica that was killed has answered just before is in doubt: it is logged a moment
    later. So is what was read just after, for it was answered before.
    """
    doubted, due = list[Executed](), list[Executed]()
    replicas = {each.name: each for each in cluster.replicas}
    for each in ledger.executed:
        killed = replicas[each.replica].was_killed_about(each.at, UNLOGGED_S)
        (doubted if killed else due).append(each)
    end = time.monotonic() + LOGGED_S
    while True:
        logged = _logged(stores)
        lost = [each for each in due if (each.name, each.digest) not in logged]
        if not lost or time.monotonic() > end:
            break
        time.sleep(1.0)
    return Finding("events of calls", len(due), len(doubted), [str(each) for each in lost])


def _logged(stores: PostgresStores) -> set[tuple[str, str]]:
    found, which = set[tuple[str, str]](), EventFilter(("call",), fine=True)
    before = 0
    while some := stores.events.newest(PAGE_EVENTS, which, before):
        found |= {(each.name, str(each.facts["arguments"])) for each in some.values()}
        before = min(some)
    return found


def audit_stores(ledger: Ledger, stores: PostgresStores) -> list[Finding]:
    """Look for decisions and keys in the database, with no replica between."""
    return [
        _finding(ledger, "decisions", ledger.decisions, lambda each: _stands(stores, each)),
        _finding(ledger, "keys", ledger.keys, lambda key: bool(Keys(stores.keys).good(key))),
    ]


async def audit_reveals(ledger: Ledger, cluster: Cluster, stores: PostgresStores) -> Finding:
    """Ask for each set at another replica than the one that told of it, and look what it has."""
    lost: list[str] = []
    for number, reveal in enumerate(ledger.reveals.values()):
        others = [each for each in cluster.replicas if each.name != reveal.replica]
        replica = others[number % len(others)]
        client = McpClient(replica.url, reveal.key, "modern", f"127.0.0.1:{replica.port}")
        reply = await client.call("tool_search", set=reveal.handle)
        await client.close()
        kept = await asyncio.to_thread(stores.sets.set_pins, reveal.owner, reveal.handle) or {}
        if reply.meta.get(SET_KEY) != reveal.handle or not reveal.tools <= {*kept}:
            told = f"{reveal.handle} of {reveal.replica}: {len(kept)} of {len(reveal.tools)} tools"
            lost.append(f"{told}, {reply.code or 'unknown'} at {replica.name}")
    return Finding("reveals (sets)", len(ledger.reveals), ledger.doubted["reveals"], lost)


def _finding(
    ledger: Ledger, what: str, every: Sequence[T], is_there: Callable[[T], bool]
) -> Finding:
    lost = [str(each) for each in every if not is_there(each)]
    return Finding(what, len(every), ledger.doubted[what], lost)


def _stands(stores: PostgresStores, decision: Decision) -> bool:
    found = stores.decisions.of(decision.source).get(decision.name)
    row = found and (found.approved if decision.verdict == "approved" else found.rejected)
    return bool(row and row.pin == decision.pin)
