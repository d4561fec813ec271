from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.connect.fakes import FakeDaemon, echoing, files_in, launched
from tests.connect.kept import GREETING, LISTED, greet, keep
from tests.waiting import let_pass, until
from toolcrib.connect import NoDaemon, loading_progress
from toolcrib.connect import shim as shims
from toolcrib.connect.daemon_connection import DaemonConnector
from toolcrib.connect.messages import LONGEST_LINE, NOT_STARTED

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}}


@pytest.fixture(autouse=True)
def starts(monkeypatch: pytest.MonkeyPatch) -> list[DaemonConnector]:
    """No daemon is started here but by a test; whoever would have started one is noted."""
    noted: list[DaemonConnector] = []

    def note(connector: DaemonConnector) -> None:
        if connector not in noted:
            noted.append(connector)

    monkeypatch.setattr(DaemonConnector, "_start", note)
    return noted


def test_what_is_said_goes_through_and_back(tmp_path: Path):
    daemon = FakeDaemon(files_in(tmp_path))
    with launched(tmp_path, profile="small") as client:
        client.say("tools/list", id="a")
        assert client.hear() == {"jsonrpc": "2.0", "id": "a", "result": {"method": "tools/list"}}
        daemon.say(method="notifications/progress", params={})
        assert client.hear()["method"] == "notifications/progress"
    assert daemon.hellos[0]["profile"] == "small"
    daemon.end()


def test_what_is_said_before_there_is_a_daemon_waits_for_it(tmp_path: Path, starts: list[Any]):
    with launched(tmp_path) as client:
        client.say("initialize", id=1, **INITIALIZE)
        client.say("tools/list", id=2)
        until(lambda: starts)
        daemon = FakeDaemon(files_in(tmp_path))
        assert [client.hear()["id"] for _ in range(2)] == [1, 2]
    daemon.end()
    assert len(starts) == 1


def test_a_daemon_that_cannot_start_is_told_to_every_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(_connector: DaemonConnector) -> None:
        raise NoDaemon("the daemon ended while it started: bad settings; mend them")

    monkeypatch.setattr(DaemonConnector, "_start", fail)
    with launched(tmp_path) as client:
        client.say("initialize", id=1, **INITIALIZE)
        client.say("notifications/initialized")
        client.say("tools/list", id="two")
        for id in (1, "two"):
            answer = client.hear()
            assert answer["id"] == id
            assert "bad settings; mend them" in answer["error"]["message"]


def test_it_tries_again_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shims, "RETRY_S", 0.0)
    with launched(tmp_path, start_s=0.0) as client:
        client.say("tools/list", id=1)
        assert "too long" in client.hear()["error"]["message"]
        daemon = FakeDaemon(files_in(tmp_path))
        client.say("tools/list", id=2)
        assert client.hear()["result"]
    daemon.end()


def test_a_refusal_is_told_and_starts_nothing(tmp_path: Path, starts: list[Any]):
    daemon = FakeDaemon(files_in(tmp_path), hello="there is no profile 'x'; nearest: y")
    with launched(tmp_path) as client:
        client.say("initialize", id=1, **INITIALIZE)
        assert "no profile 'x'" in client.hear()["error"]["message"]
    daemon.end()
    assert not starts


def test_a_client_of_the_handshake_era_survives_another_daemon(tmp_path: Path):
    first = FakeDaemon(files_in(tmp_path), with_list_changed)
    with launched(tmp_path) as client:
        client.say("initialize", id=0, **INITIALIZE)
        client.hear()
        client.say("notifications/initialized")
        client.say("logging/setLevel", id=1, level="info")
        client.hear()
        client.say("resources/subscribe", id=2, uri="file:///a")
        client.hear()
        first.end()
        second = FakeDaemon(files_in(tmp_path))
        assert client.hear()["method"] == "notifications/tools/list_changed"
        client.say("tools/list", id=3)
        assert client.hear()["id"] == 3  # the answers to what was repeated are not the client's
        methods = [said["method"] for said in second.heard]
        second.end()
    assert methods == [
        "initialize",
        "notifications/initialized",
        "logging/setLevel",
        "resources/subscribe",
        "tools/list",
    ]


def with_list_changed(said: dict[str, Any]) -> dict[str, Any] | None:
    answer = echoing(said)
    if answer and said["method"] == "initialize":
        answer["result"]["capabilities"] = {"tools": {"listChanged": True}}
    return answer


def test_what_was_under_way_is_asked_again_or_unknown(tmp_path: Path):
    first = FakeDaemon(files_in(tmp_path), lambda _said: None)
    with launched(tmp_path) as client:
        client.say("tools/list", id=1)
        client.say("tools/call", id=2, name="tool_call", arguments={})
        client.say("tools/call", id=3, name="tool_search", arguments={})
        until(lambda: len(first.heard) == 3)
        first.end()
        lost = client.hear()
        assert lost["id"] == 2
        assert "nobody knows" in lost["error"]["message"]
        second = FakeDaemon(files_in(tmp_path))
        assert client.hear() == {"jsonrpc": "2.0", "id": 1, "result": {"method": "tools/list"}}
        until(lambda: len(second.heard) == 2)
        assert [said["id"] for said in second.heard] == [1, 3]
        second.end()
        FakeDaemon(files_in(tmp_path)).end()


@pytest.mark.parametrize("listens", [False, True])
def test_a_daemon_that_was_stopped_stays_so_until_there_is_work(
    tmp_path: Path, starts: list[Any], listens: bool
):
    first = FakeDaemon(
        files_in(tmp_path), lambda said: None if "listen" in said["method"] else echoing(said)
    )
    with launched(tmp_path) as client:
        if listens:
            client.say("subscriptions/listen", id=9)
        client.say("ping", id=1)
        client.hear()
        first.end()
        let_pass()
        assert not starts
        client.say("ping", id=2)
        until(lambda: starts)
        second = FakeDaemon(files_in(tmp_path))
        assert client.hear()["id"] == (9 if listens else 2)
    second.end()


def test_nothing_is_asked_a_third_time(tmp_path: Path):
    with launched(tmp_path) as client:
        client.say("tools/list", id=1)
        for _ in range(2):
            daemon = FakeDaemon(files_in(tmp_path), lambda _said: None)
            until(lambda daemon=daemon: daemon.heard)
            daemon.end()
        assert "nobody knows" in client.hear()["error"]["message"]


def test_a_question_of_a_daemon_that_is_gone_is_cancelled(tmp_path: Path):
    first = FakeDaemon(files_in(tmp_path))
    with launched(tmp_path) as client:
        client.say("ping", id=1)
        client.hear()
        first.say(id=7, method="elicitation/create", params={})
        assert client.hear()["id"] == 7
        first.end()
        cancelled = client.hear()
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"] == {"requestId": 7}
        second = FakeDaemon(files_in(tmp_path))
        client.send(b'{"jsonrpc":"2.0","id":7,"result":{}}\n')
        client.say("ping", id=2)
        assert client.hear()["id"] == 2
        assert [said.get("method") for said in second.heard] == ["ping"]
        second.end()


def test_it_ends_with_the_client_and_gives_the_last_answers_first(tmp_path: Path):
    daemon = FakeDaemon(files_in(tmp_path))
    with launched(tmp_path) as client:
        client.say("ping", id=1)
        client.say("ping", id=2)
        assert client.end().count(b"\n") == 2
    daemon.end()


def test_a_cancelled_request_keeps_nobody_waiting(tmp_path: Path):
    daemon = FakeDaemon(files_in(tmp_path))
    with launched(tmp_path) as client:
        client.say("hang", id=1)
        client.say("notifications/cancelled", requestId=1)
        until(lambda: len(daemon.heard) == 2)
        assert client.end() == b""
    daemon.end()


def test_a_line_without_end_is_refused_and_the_next_one_is_heard(tmp_path: Path):
    daemon = FakeDaemon(files_in(tmp_path))
    with launched(tmp_path) as client:
        client.send(b"x" * (LONGEST_LINE + 10) + b"\n")
        assert client.hear()["error"]["code"] == -32700
        client.say("ping", id=1)
        assert client.hear()["id"] == 1
    assert len(daemon.heard) == 1
    daemon.end()


def test_large_messages_go_both_ways_at_once(tmp_path: Path):
    def large(said: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": said["id"], "result": {"text": "y" * 1_000_000}}

    daemon = FakeDaemon(files_in(tmp_path), large)
    with launched(tmp_path) as client:
        for id in range(4):
            client.say("ping", id=id, text="x" * 300_000)
        assert [len(client.hear()["result"]["text"]) for _ in range(4)] == [1_000_000] * 4
    daemon.end()


def test_first_requests_are_answered_before_there_is_a_daemon(tmp_path: Path, starts: list[Any]):
    keep(tmp_path)
    with launched(tmp_path) as client:
        client.say("initialize", id=1, **greet(1)["params"])
        client.say("tools/list", id=2)
        assert client.hear()["result"] == GREETING
        assert client.hear()["result"] == LISTED
        until(lambda: starts)
        client.say("tools/call", id=3, name="tool_search")
        daemon = FakeDaemon(files_in(tmp_path), as_kept)
        assert client.hear()["id"] == 3  # and no second answer to the others
    assert [said.get("id") for said in daemon.heard] == [1, 2, 3]
    daemon.end()


def test_a_client_is_told_that_the_daemon_lists_other_tools(tmp_path: Path):
    keep(tmp_path)
    with launched(tmp_path) as client:
        client.say("initialize", id=1, **greet(1)["params"])
        client.say("tools/list", id=2)
        assert [client.hear()["id"] for _ in range(2)] == [1, 2]
        daemon = FakeDaemon(files_in(tmp_path), with_list_changed)
        assert client.hear()["method"] == "notifications/tools/list_changed"
    daemon.end()


def test_a_daemon_that_ends_before_its_own_answer_leaves_one_answer(tmp_path: Path):
    keep(tmp_path)
    with launched(tmp_path) as client:
        client.say("initialize", id=1, **greet(1)["params"])
        client.hear()
        for _ in range(2):
            dying = FakeDaemon(files_in(tmp_path), lambda _said: None)
            until(partial(len, dying.heard))
            dying.end()
        client.say("tools/call", id=2, name="tool_search")
        last = FakeDaemon(files_in(tmp_path), as_kept)
        assert client.hear()["id"] == 2
    last.end()


def test_where_no_daemon_can_start_only_what_has_no_answer_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(_connector: DaemonConnector) -> None:
        raise NoDaemon("no port is free")

    keep(tmp_path)
    monkeypatch.setattr(DaemonConnector, "_start", fail)
    with launched(tmp_path) as client:
        client.say("initialize", id=1, **greet(1)["params"])
        assert client.hear()["result"] == GREETING
        client.say("tools/call", id=2, name="tool_search")
        answer = client.hear()
        assert (answer["id"], answer["error"]["code"]) == (2, NOT_STARTED)


def test_a_call_that_waits_for_the_daemon_gets_the_progress_that_it_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(loading_progress, "EVERY_S", 0.02)
    with launched(tmp_path) as client:
        client.say("tools/call", id=3, name="x", _meta={"progressToken": 5})
        told = [client.hear() for _ in range(2)]
        assert [each["params"]["progressToken"] for each in told] == [5, 5]
        daemon = FakeDaemon(files_in(tmp_path), as_kept)
        while (last := client.hear()).get("id") != 3:
            assert last["params"]["progress"] > told[-1]["params"]["progress"]
    daemon.end()


def test_a_daemon_that_runs_answers_by_itself(tmp_path: Path):
    keep(tmp_path)
    daemon = FakeDaemon(files_in(tmp_path))
    with launched(tmp_path) as client:
        client.say("initialize", id=1, **greet(1)["params"])
        assert client.hear()["result"] == {"method": "initialize"}
    daemon.end()


def as_kept(said: dict[str, Any]) -> dict[str, Any] | None:
    results = {"initialize": GREETING, "tools/list": LISTED, "tools/call": {"content": []}}
    if said.get("method") not in results:
        return None
    return {"jsonrpc": "2.0", "id": said["id"], "result": results[said["method"]]}
