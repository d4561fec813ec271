"""Three replicas on one database while things break: what is lost, and what fails.

    python -m benchmarks.replicas [--clients 50] [--seconds 60] [--quick]

Three `toolcrib serve` with HAProxy in front, a PostgreSQL with a synchronous standby behind, and a
TCP proxy between them. Clients of both eras search, call with sets, page through results and have
calls approved; the operator decides, approves and makes keys. Meanwhile the database is killed, a
replica is killed, the network swallows packets, connections are reset, the database is stopped, a
server is disabled while nobody reaches the database, and at last it fails over. Whatever was
acknowledged is looked for at the end. Exit code 1: something was lost (the event of a call, too), a
ticket was spent twice, a call was served after its server was disabled, an answer was an internal
error (-32603), or a search failed on a connection that was not the killed replica's.

It needs HAProxy (`python scripts/install_proxies.py`) and the packages of `make .venv/.dev`.
"""

import asyncio
import sys
import tempfile
from argparse import ArgumentParser, Namespace, RawTextHelpFormatter
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.home import Unusable
from benchmarks.markdown import NoMarks, put, table
from benchmarks.observe_world import made_up_queries
from benchmarks.replicas.client import until_found
from benchmarks.replicas.cluster import Switched, add_shop, opened_stores, running_cluster
from benchmarks.replicas.faults import FAULTS, QUICK, SWITCHED, Broken, break_things
from benchmarks.replicas.ledger import (
    Finding,
    Spending,
    audit_events,
    audit_reveals,
    audit_stores,
)
from benchmarks.replicas.load import AWAY, Load, Tally, client_name
from benchmarks.replicas.shop_server import LOOK_UP
from toolcrib.gateway.keys import Keys

NAME = "replicas"


class Result(NamedTuple):
    """What a run has shown."""

    findings: Sequence[Finding]
    spending: Spending
    tally: Tally
    broken: Sequence[Broken]
    switched: Switched = Switched()

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost that was acknowledged, and no search failed without cause."""
        lost = any(each.lost for each in self.findings)
        spent = self.spending.twice or self.spending.without
        wrong = self.tally.internal or self.switched.served
        return not (lost or spent or wrong or self.tally.failed("searches", own=False))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(
        prog="python -m benchmarks.replicas",
        description=__doc__,
        formatter_class=RawTextHelpFormatter,
    )
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--quick", action="store_true", help="8 clients, 12 s, two faults")
    parser.add_argument("--keep", type=Path, help="leave logs and files in this folder")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    said = parser.parse_args(arguments)
    if said.quick:
        said.clients, said.seconds = 8, 12.0
    try:
        result = _measured(said)
        text = f"{said.clients} clients, {said.seconds:g} s.\n\n{report(result)}"
        print(text)
        _tell_losses(result)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))
    sys.exit(0 if result.is_good else 1)


def _measured(said: Namespace) -> Result:
    with tempfile.TemporaryDirectory(prefix="tc") as folder:
        place = said.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        faults = QUICK if said.quick else tuple(FAULTS)
        return asyncio.run(run(place, said.clients, said.seconds, faults))


async def run(folder: Path, clients: int, seconds: float, faults: Sequence[str]) -> Result:
    """One whole run in this folder. Raises `Unusable`."""
    async with running_cluster(folder) as cluster:
        spent = folder / "spent"
        await asyncio.to_thread(add_shop, cluster, spent)
        await asyncio.to_thread(add_shop, cluster, folder / "desk-spent", SWITCHED, 0)
        address = cluster.pair.address_at(cluster.network.port)
        with opened_stores(cluster, address, folder / "load") as stores:
            keys = [Keys(stores.keys).add(client_name(number)) for number in range(clients)]
            await asyncio.gather(
                *(until_found(each, keys[0], LOOK_UP) for each in cluster.replicas)
            )
            load = Load(cluster, stores, made_up_queries(200), keys)
            working = asyncio.create_task(load.run())
            breaking = asyncio.create_task(break_things(cluster, faults, seconds, _tell))
            await asyncio.wait({working, breaking}, return_when=asyncio.FIRST_COMPLETED)
            load.is_ending = True
            await working
            broken = await breaking
        _tell("looking for what was acknowledged")
        with opened_stores(cluster, cluster.pair.address, folder / "audit") as stores:
            findings = await asyncio.to_thread(audit_stores, load.ledger, stores)
            findings.append(await audit_reveals(load.ledger, cluster, stores))
            findings.append(load.ledger.lost_approvals(spent, stores))
            findings.append(await asyncio.to_thread(audit_events, load.ledger, cluster, stores))
        spending = load.ledger.spending(spent)
        return Result(findings, spending, load.tally, broken, cluster.switched)


def report(result: Result) -> str:
    """Three tables: what was acknowledged, what was done, what broke."""
    return "\n\n".join([_kept(result), _done(result), _broken(result)])


def _kept(result: Result) -> str:
    rows = [
        [each.what, f"{each.acknowledged:,}", f"{each.doubted:,}", f"{len(each.lost):,}"]
        for each in result.findings
    ]
    return table(["what", ">acknowledged", ">in doubt", ">lost"], rows)


def _done(result: Result) -> str:
    tally, spending = result.tally, result.spending
    calls = tally.failed("calls") - tally.failed("calls", code=AWAY)
    rows = [
        ("searches", tally.done["searches"]),
        (
            "searches failed, on connections to the killed replica",
            tally.failed("searches", own=True),
        ),
        ("searches failed otherwise", tally.failed("searches", own=False)),
        ("calls", tally.done["calls"]),
        ("calls refused `store_away`", tally.failed("calls", code=AWAY)),
        ("calls failed, on connections to the killed replica", tally.failed("calls", own=True)),
        ("calls failed otherwise", calls - tally.failed("calls", own=True)),
        ("pages of long results read", tally.done["pages"]),
        ("pages that failed", tally.failed("pages")),
        ("tickets spent", spending.spent),
        ("tickets spent twice", len(spending.twice)),
        ("calls made without leave", len(spending.without)),
        ("sessions that clients began", tally.sessions),
        ("calls to a disabled server refused", result.switched.refused),
        ("calls to a disabled server served", result.switched.served),
        ("internal errors (-32603)", tally.internal),
    ]
    return table(["what was done", ">number"], [[what, f"{number:,}"] for what, number in rows])


def _broken(result: Result) -> str:
    rows = [
        [each.name, f"{each.ended - each.began:.1f}", f"{_silence(result.tally, each):.1f}"]
        for each in result.broken
    ]
    return table(["fault", ">took, s", ">longest without an acknowledged write, s"], rows)


def _silence(tally: Tally, broken: Broken) -> float:
    """The longest time between two acknowledged writes that a fault was in."""
    times = sorted(tally.acknowledged)
    gaps = [
        after - before
        for before, after in pairwise(times)
        if after >= broken.began and before <= broken.ended
    ]
    return max(gaps, default=0.0)


def _tell_losses(result: Result) -> None:
    """To standard error: whoever mends it needs more than a number."""
    for finding in result.findings:
        for each in finding.lost[:10]:
            _tell(f"lost, {finding.what}: {each}")
    for each in (*result.spending.twice, *result.spending.without):
        _tell(f"spent twice or without leave: {each}")
    codes = Counter((each.what, each.code, each.own) for each in result.tally.failures)
    for (what, code, own), number in codes.most_common(30):
        _tell(f"{number} {what}: {code}{', killed replica' if own else ''}")


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
