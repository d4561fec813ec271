"""What the benchmark of replicas counts; the whole of it runs where HAProxy is."""

import asyncio
import shutil
import socket
from pathlib import Path

import pytest

from benchmarks.replicas.__main__ import Result, report, run
from benchmarks.replicas.client import Reply
from benchmarks.replicas.cluster import Switched
from benchmarks.replicas.faults import QUICK, Broken
from benchmarks.replicas.ledger import Approval, Finding, Ledger, Spending
from benchmarks.replicas.load import Failure, Tally
from benchmarks.replicas.network import CutNetwork
from tests.plan import SOAK


def test_a_call_that_was_made_twice_or_without_leave_is_found(tmp_path: Path):
    spent, ledger = tmp_path / "spent", Ledger()
    ledger.approvals = {"a": Approval("1", approved=True), "b": Approval("2", approved=True)}
    spent.write_text("a\nb\nb\nc\n")
    assert ledger.spending(spent) == Spending(3, ["b"], ["c"])


def result(
    *,
    lost: tuple[str, ...] = (),
    own: bool = True,
    twice: tuple[str, ...] = (),
    internal: int = 0,
    served: int = 0,
) -> Result:
    failures = [Failure("searches", "http 502", 5.0, own)]
    tally = Tally(failures=failures, acknowledged=[1.0, 6.5, 7], internal=internal)
    findings, broken = [Finding("keys", 3, 1, lost)], [Broken("RST", 5.0, 6.0)]
    return Result(findings, Spending(3, twice, ()), tally, broken, Switched(9, served))


def test_a_run_is_good_if_nothing_is_lost_and_only_killed_connections_failed():
    assert result().is_good
    assert not result(lost=("a key",)).is_good
    assert not result(own=False).is_good
    assert not result(twice=("b",)).is_good
    assert not result(internal=1).is_good
    assert not result(served=1).is_good


def test_the_report_says_what_was_lost_and_how_long_nothing_was_written():
    text = report(result(lost=("a key",)))
    assert "| keys | 3 | 1 | 1 |" in text
    assert "| searches failed, on connections to the killed replica | 1 |" in text
    assert "| RST | 1.0 | 5.5 |" in text
    assert "| calls to a disabled server served | 0 |" in text
    assert "| internal errors (-32603) | 0 |" in text


def test_a_reply_tells_the_ticket_of_a_call_that_waits():
    error = {"code": "approval_needed", "ticket": "3f2a"}
    assert Reply({"structuredContent": {"error": error}}).ticket == "3f2a"
    assert not Reply({}).ticket


def test_a_network_holds_bytes_up_and_resets_connections():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        CutNetwork(server.getsockname()[1]) as network,
        socket.create_connection(("127.0.0.1", network.port)) as client,
        server.accept()[0] as behind,
    ):
        client.sendall(b"a")
        assert behind.recv(1) == b"a"
        network.hold()
        client.sendall(b"b")
        behind.settimeout(0.3)
        with pytest.raises(TimeoutError):
            behind.recv(1)
        behind.settimeout(None)
        network.let_go()
        assert behind.recv(1) == b"b"
        network.reset()
        with pytest.raises(ConnectionResetError):
            client.recv(1)


@pytest.mark.skipif(not SOAK, reason="it takes a minute of a quiet machine; set TOOLCRIB_SOAK=1")
def test_two_faults_lose_nothing(tmp_path: Path):
    if not shutil.which("haproxy"):
        pytest.skip("haproxy is not installed; `python scripts/install_proxies.py` does it")
    found = asyncio.run(run(tmp_path, 4, 8.0, QUICK))
    assert found.is_good, report(found)
    assert all(each.acknowledged for each in found.findings)
