"""What breaks during a run, and when. Each fault is over when its function returns."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.home import Unusable
from benchmarks.replicas.client import McpClient
from benchmarks.replicas.cluster import READY_S, Cluster, Replica, opened_stores
from benchmarks.replicas.shop_server import LOOK_UP
from toolcrib.gateway.keys import Keys

BLACK_HOLE_S, PAUSED_S, DOWN_S = 6.0, 7.0, 2.0
CUT_S, HEALED_S, CALL_AGAIN_S = 20.0, 6.0, 0.05
"""Longer than `stale_s`, so that every replica refuses calls; and how long they are made then."""
SWITCHED = "desk"
SWITCHED_TOOL = f"mcp_{SWITCHED}_{LOOK_UP}"
SETTLE_S = 6.0
"""How long clients go on after a fault, at least: a lost standby takes five to come back."""

Fault = Callable[[Cluster], Awaitable[None]]


class Broken(NamedTuple):
    """A fault that was: from when to when, by the monotonic clock."""

    name: str
    began: float
    ended: float


async def kill_database(cluster: Cluster) -> None:
    """Kill -9, and start again."""
    await asyncio.to_thread(cluster.pair.kill)
    await asyncio.sleep(DOWN_S)
    await asyncio.to_thread(cluster.pair.start)


async def kill_replica(cluster: Cluster) -> None:
    """Kill -9 of the second one, and start it again."""
    victim = cluster.replicas[1]
    await asyncio.to_thread(victim.kill)
    await asyncio.sleep(DOWN_S)
    victim.start()
    await victim.wait_ready()


async def black_hole(cluster: Cluster) -> None:
    """The network to the database swallows everything for a while."""
    cluster.network.hold()
    await asyncio.sleep(BLACK_HOLE_S)
    cluster.network.let_go()


async def reset(cluster: Cluster) -> None:
    """Every connection to the database is reset, several times."""
    for _ in range(3):
        cluster.network.reset()
        await asyncio.sleep(0.3)


async def pause_database(cluster: Cluster) -> None:
    """SIGSTOP, and SIGCONT after a while."""
    await asyncio.to_thread(cluster.pair.pause)
    await asyncio.sleep(PAUSED_S)
    await asyncio.to_thread(cluster.pair.resume)


async def fail_over(cluster: Cluster) -> None:
    """The leader is killed for good, and the synchronous standby takes over."""
    await asyncio.to_thread(cluster.pair.fail_over)
    cluster.network.target = cluster.pair.leader.port
    cluster.network.reset()


async def disable_during_cut(cluster: Cluster) -> None:
    """Nothing reaches the database until every replica refuses; meanwhile a server is disabled.

    It is called at every replica all the while. Once a replica has refused it, it must never be
    served again until it is enabled.
    """
    with opened_stores(cluster, cluster.pair.address, cluster.folder / "switch") as stores:
        key = Keys(stores.keys).add(f"switch-{secrets.token_hex(4)}")
    await asyncio.gather(*(_until_served(each, key) for each in cluster.replicas))
    cluster.network.hold()
    await asyncio.to_thread(cluster.switch, SWITCHED, disabled=True)
    ends = asyncio.Event()
    every = [asyncio.create_task(_call_on(cluster, each, key, ends)) for each in cluster.replicas]
    await asyncio.sleep(CUT_S)
    cluster.network.let_go()
    await asyncio.sleep(HEALED_S)
    ends.set()
    await asyncio.gather(*every)
    await asyncio.to_thread(cluster.switch, SWITCHED, disabled=False)


async def _call_on(cluster: Cluster, replica: Replica, key: str, ends: asyncio.Event) -> None:
    client = _client_of(replica, key)
    was_refused = False
    while not ends.is_set():
        reply = await client.call("tool_call_read", name=SWITCHED_TOOL, arguments={"order": "1"})
        refused = bool(reply.code) and not reply.broken
        was_refused |= refused
        cluster.switched.refused += refused
        cluster.switched.served += was_refused and not reply.code
        await asyncio.sleep(CALL_AGAIN_S)
    await client.close()


async def _until_served(replica: Replica, key: str) -> None:
    client, end = _client_of(replica, key), time.monotonic() + READY_S
    while time.monotonic() < end:
        reply = await client.call("tool_call_read", name=SWITCHED_TOOL, arguments={"order": "1"})
        if not reply.code:
            await client.close()
            return
        await asyncio.sleep(CALL_AGAIN_S)
    raise Unusable(f"replica {replica.name} does not serve {SWITCHED_TOOL}")


def _client_of(replica: Replica, key: str) -> McpClient:
    return McpClient(replica.url, key, "modern", f"127.0.0.1:{replica.port}")


FAULTS: Mapping[str, Fault] = {
    "kill -9 of the database": kill_database,
    "kill -9 of a replica": kill_replica,
    "black hole, 6 s": black_hole,
    "RST of all connections": reset,
    "SIGSTOP of the database, 7 s": pause_database,
    "cut of 20 s, a server is disabled meanwhile": disable_during_cut,
    "failover to the standby": fail_over,
}
"""In the order in which they happen."""
QUICK = tuple(FAULTS)[:2]


async def break_things(
    cluster: Cluster, names: Sequence[str], seconds: float, tell: Callable[[str], None]
) -> list[Broken]:
    """Let the faults happen, spread over so many seconds; returns when they are over too."""
    began, broken = time.monotonic(), list[Broken]()
    settled = began
    for number, name in enumerate(names):
        due = max(began + seconds * (number + 0.5) / len(names), settled)
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tell(name)
        started = time.monotonic()
        await FAULTS[name](cluster)
        broken.append(Broken(name, started, time.monotonic()))
        settled = time.monotonic() + SETTLE_S
    await asyncio.sleep(max(settled, began + seconds) - time.monotonic())
    return broken
