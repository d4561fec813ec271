"""What a client gets from a gateway on standard streams that is still loading."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.connect.fakes import environ, files_in
from tests.connect.kept import GREETING, LISTED, greet, keep, listing
from tests.waiting import HANG_S, until
from toolcrib.connect import FirstReplies, StdioDescriptors, StdioOpening, loading_progress
from toolcrib.connect import stdio_opening as openings

CALL = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "tool_search"}}


class Wire:
    """An opening on a thread, its client, and the loading that ends when a test says so."""

    def __init__(self, folder: Path) -> None:
        incoming, self.into = os.pipe()
        self._from, outgoing = os.pipe()
        replies = FirstReplies(files_in(folder), "default", environ(folder))
        self.opening = StdioOpening(StdioDescriptors(incoming, outgoing), replies)
        self._out = os.fdopen(self._from, "rb")
        self._loaded = threading.Event()
        self.result: Any = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def say(self, *messages: Any) -> None:
        os.write(self.into, b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def hear(self) -> Any:
        return json.loads(self._out.readline())

    def hang_up(self) -> None:
        os.close(self.into)

    def stop_reading(self) -> None:
        self._out.close()

    def close(self) -> None:
        """Load, if that was not done yet, and close all ends."""
        self.load()
        self._out.close()
        for each in self.opening.descriptors:
            os.close(each)
        with suppress(OSError):
            os.close(self.into)

    def load(self) -> Any:
        """Let the loading end; what the opening returned or raised."""
        self._loaded.set()
        self._thread.join(HANG_S)
        assert not self._thread.is_alive()
        return self.result

    def _run(self) -> None:
        try:
            self.result = self.opening.wait_for(self._wait)
        except ValueError as error:
            self.result = error

    def _wait(self) -> str:
        assert self._loaded.wait(HANG_S)
        if self.opening.unread == b"fail\n":
            raise ValueError("the settings are broken")
        return "loaded"


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    keep(tmp_path)
    yield (wire := Wire(tmp_path))
    wire.close()


def test_first_requests_are_answered_while_it_loads_and_all_is_left_to_read(wire: Wire):
    wire.say(greet(1), {"jsonrpc": "2.0", "method": "notifications/initialized"}, listing(2))
    assert wire.hear() == {"jsonrpc": "2.0", "id": 1, "result": GREETING}
    assert wire.hear()["result"] == LISTED
    assert wire.result is None
    wire.say(CALL, listing(3))
    assert wire.hear()["id"] == 3  # the call waits
    assert wire.load() == "loaded"
    assert [json.loads(line).get("id") for line in wire.opening.unread.splitlines()] == [
        *(1, None, 2, 9, 3)
    ]


def test_half_a_line_is_left_to_read_too(wire: Wire):
    wire.say(greet(1))
    wire.hear()
    os.write(wire.into, b'{"jsonrpc"')
    until(lambda: wire.opening.unread.endswith(b'{"jsonrpc"'))
    assert wire.load() == "loaded"


def test_what_loading_raises_is_raised(wire: Wire):
    os.write(wire.into, b"fail\n")
    until(lambda: wire.opening.unread == b"fail\n")
    assert str(wire.load()) == "the settings are broken"


def test_a_client_that_leaves_or_does_not_read_ends_nothing(wire: Wire):
    wire.stop_reading()
    wire.say(greet(1))
    wire.hang_up()
    assert wire.load() == "loaded"


def test_of_a_thousand_requests_at_once_it_takes_what_it_may(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(openings, "MOST_WAITING", 10_000)
    monkeypatch.setattr(openings, "CHUNK", 1_000)
    wire.say(*({**CALL, "id": number} for number in range(500)))
    until(lambda: len(wire.opening.unread) >= 10_000)
    wire.load()
    assert len(wire.opening.unread) < 11_000


def test_a_request_that_waits_gets_the_progress_that_it_asked_for(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(loading_progress, "EVERY_S", 0.02)
    params = {"name": "tool_search", "_meta": {"progressToken": "t"}}
    wire.say(greet(1), CALL, {**CALL, "id": 8, "params": params})
    assert wire.hear()["id"] == 1
    told = [wire.hear() for _ in range(3)]
    assert [each["params"]["progressToken"] for each in told] == ["t"] * 3
    steps = [each["params"]["progress"] for each in told]
    assert steps == sorted(set(steps))
