"""What the page for Prometheus shows of a daemon: counts of events, and how things stand now."""

import asyncio
from collections import Counter
from typing import Protocol

from toolcrib.crib import Crib, events_of, inventory_of, tracer_in
from toolcrib.errors import StoreError
from toolcrib.gateway.http.guard import MetricsPage
from toolcrib.gateway.serving_state import ServingState
from toolcrib.gateway.shim_connections import ShimConnections
from toolcrib.observe import EventCounters, Samples

HTTP = "http"
"""The mode of clients over HTTP, whose sessions are not counted one by one."""


class MeasuredDaemon(Protocol):
    """What is measured of a daemon."""

    @property
    def serving(self) -> ServingState: ...
    @property
    def shims(self) -> ShimConnections: ...


async def metrics_page_of(daemon: MeasuredDaemon) -> MetricsPage:
    """The page of this moment. The extra `metrics` is there."""
    clients = {"toolcrib_clients": _clients(daemon)}
    return await asyncio.to_thread(_page, daemon.serving.crib, clients)


def _page(crib: Crib, others: Samples) -> MetricsPage:
    from toolcrib.observe import CONTENT_TYPE, metrics_page  # noqa: PLC0415 - loads the extra

    return MetricsPage(CONTENT_TYPE, metrics_page({**_samples(crib), **others}))


def _samples(crib: Crib) -> Samples:
    log = events_of(crib)
    counters = log.counters or EventCounters()
    inventory, tracer = inventory_of(crib), tracer_in(crib)
    servers = [source.status() for source in inventory.servers.values()]
    states = Counter[str]()
    for traits, names in inventory.groups(inventory.pool.entries).items():
        states[traits.state] += len(names) if traits.kind == "tool" else 0
    waiting = count_waiting(crib)
    return {
        **counters.samples(),
        "toolcrib_store_up": {(): waiting is not None and not log.spool},
        "toolcrib_events_waiting": {(): len(log.spool)},
        "toolcrib_approvals_waiting": {} if waiting is None else {(): waiting},
        "toolcrib_definitions_waiting": {(each.server,): each.waiting for each in servers},
        "toolcrib_server_up": {(each.server,): each.state == "ready" for each in servers},
        "toolcrib_server_calls": {
            (source.server, state): count
            for source in inventory.servers.values()
            for state, count in zip(("running", "waiting"), source.calls, strict=True)
        },
        "toolcrib_server_memory_bytes": {
            (each.server,): each.memory_bytes for each in servers if each.memory_bytes is not None
        },
        "toolcrib_tools": {(state,): count for state, count in states.items()},
        "toolcrib_events_dropped_total": {(): log.dropped},
        "toolcrib_spans_dropped_total": {(): tracer.dropped if tracer else 0},
    }


def count_waiting(crib: Crib) -> int | None:
    """How many calls wait for approval; None while the store cannot be read."""
    try:
        return len(crib.operator.tickets.waiting())
    except StoreError:
        return None


def _clients(daemon: MeasuredDaemon) -> dict[tuple[str, ...], float]:
    modes = Counter(client.mode or "unknown" for client in daemon.shims.clients.values())
    modes[HTTP] = len(daemon.serving.sessions.principals())
    return {(mode,): count for mode, count in modes.items()}
