"""What traces and metrics add to a search and to a call, in CPU, where somebody waits.

    python -m benchmarks.tracing [--rounds 40]

Three cribs with the same 500 tools take turns, so that whatever else the machine does falls on all
alike: one that tells nobody, not even a log of events; one that counts for Prometheus; one that
sends spans to a collector here. "waits" is the CPU of the thread that asks; "all" that of the whole
process, with the thread that makes spans and sends them, and with the collector, which is in it.
The gate: who searches waits at most 3 % longer. `benchmarks.observe` measures events themselves.
"""

import asyncio
import gc
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import ExitStack
from statistics import quantiles
from time import process_time, thread_time
from typing import Any, NamedTuple

from benchmarks.home import own_state
from tests.observe.otlp_collector import otlp_collector
from toolcrib import Caller, Crib, EventOrigin, Settings

ROUNDS, BATCH = 40, 50
MOST_SHARE = 0.03
QUERIES = ("send an invoice by mail", "what is the weather tomorrow", "delete old backups")
ANN = Caller("ann", origin=EventOrigin(trace=f"00-{'a' * 32}-{'b' * 16}-01"))


class Cost(NamedTuple):
    """CPU of one search or call, in microseconds."""

    waits: float
    all: float


def echo(text: str = "") -> str:
    """Say it again."""
    return text


def crib_with(**observe: Any) -> Crib:  # noqa: ANN401 - settings
    crib = Crib(
        Settings.model_validate(
            {"store": ":memory:", "embed": {"embedder": "none"}, "observe": observe}
        )
    )
    crib.add(echo, permission_kind="read")
    verbs, things = "send read list delete find copy".split(), range(84)
    for verb in verbs:
        for thing in things:
            crib.add(echo, name=f"{verb}_{thing}", description=f"{verb} the thing {thing} by mail")
    crib.search("warm up")
    return crib


def cost(work: Callable[[], None]) -> Cost:
    gc.collect()
    here, everywhere = thread_time(), process_time()
    work()
    here, everywhere = thread_time() - here, process_time() - everywhere
    return Cost(here / BATCH * 1e6, everywhere / BATCH * 1e6)


def searches(crib: Crib) -> None:
    for number in range(BATCH):
        crib.search(QUERIES[number % len(QUERIES)], caller=ANN)


def calls(crib: Crib) -> None:
    async def run() -> None:
        for _ in range(BATCH):
            await crib.call("echo", {"text": "hello"}, caller=ANN)

    asyncio.run(run())


def quarter(values: list[float]) -> float:
    """The lower quartile: what else the machine does only ever adds."""
    return quantiles(values, n=4)[0]


def measured(cribs: dict[str, Crib], rounds: int) -> dict[tuple[str, str], Cost]:
    """The lower quartiles, of each crib and each kind of work, in turns."""
    found: dict[tuple[str, str], list[Cost]] = {}
    for _ in range(rounds):
        for kind, work in (("search", searches), ("call", calls)):
            for name, crib in cribs.items():
                found.setdefault((kind, name), []).append(cost(lambda c=crib, w=work: w(c)))
    return {
        key: Cost(quarter([each.waits for each in costs]), quarter([each.all for each in costs]))
        for key, costs in found.items()
    }


def main() -> None:
    parser = ArgumentParser(description="What traces and metrics cost.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    with ExitStack() as ends:
        ends.enter_context(own_state())
        collector = ends.enter_context(otlp_collector())
        settings: dict[str, dict[str, Any]] = {
            "nobody": {},
            "metrics": {"metrics": True},
            "traces": {"otlp": collector.url},
        }
        cribs = {name: ends.enter_context(crib_with(**each)) for name, each in settings.items()}
        found = measured(cribs, rounds)
        sent = len(collector.spans())
    print(f"CPU in µs, lower quartiles of {rounds} rounds of {BATCH}; {sent:,} spans came\n")
    print(f"{'':8} {'told to':8} {'waits':>8} {'more':>7} {'all':>8}")
    worst = 0.0
    for (kind, name), each in found.items():
        share = each.waits / found[kind, "nobody"].waits - 1
        print(f"{kind:8} {name:8} {each.waits:8.1f} {share:7.1%} {each.all:8.1f}")
        worst = max(worst, share) if kind == "search" else worst
    if worst > MOST_SHARE:
        raise SystemExit(f"a search waits {worst:.1%} longer, and may {MOST_SHARE:.0%}")


if __name__ == "__main__":
    main()
