"""A daemon with few descriptors, and strangers who want them all."""

import asyncio
import errno
import json
import resource
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.daemons import call, environ
from toolcrib.gateway import keys_in
from toolcrib.gateway.limits import ConnectionBounds, ExhaustionLog
from toolcrib.settings import Settings

FILES = 256
STRANGERS = 400
SETTINGS = {
    "TOOLCRIB_BUILTIN_TOOLS": "0",
    "TOOLCRIB_PLUGINS": "0",
    "TOOLCRIB_EMBED__EMBEDDER": "none",
}


@contextmanager
def few_descriptors(folder: Path) -> Generator[tuple[Mapping[str, Any], Path]]:
    """A daemon that may have `FILES` descriptors and no more: where it is, and its log."""
    log = folder / "log"
    limit = f"ulimit -n {FILES} && exec {sys.executable} -P -m toolcrib.cli serve --json"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            ["/bin/sh", "-c", limit],
            env=environ(folder) | SETTINGS,
            stdout=subprocess.PIPE,
            stderr=said,
        ) as process,
    ):
        try:
            assert process.stdout
            assert process.stdout.readline(), log.read_text()
            [told] = (folder / "run").glob("*.json")
            yield json.loads(told.read_text()), log
        finally:
            process.terminate()


def strangers(count: int, family: socket.AddressFamily, address: Any) -> Iterator[socket.socket]:
    """Connections on which nothing is ever said."""
    for _ in range(count):
        stranger = socket.socket(family, socket.SOCK_STREAM)
        stranger.settimeout(1.0)
        with suppress(OSError):
            stranger.connect(address)
        yield stranger


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 1024, reason="too few here")
def test_strangers_who_hold_connections_open_keep_nobody_honest_out(tmp_path: Path):
    key = keys_in(Settings().state_folder).add("ann")

    async def scenario(port: int, path: str) -> None:
        with ExitStack() as held:
            for stranger in strangers(STRANGERS, socket.AF_INET, ("127.0.0.1", port)):
                held.enter_context(stranger)
            for stranger in strangers(STRANGERS // 4, socket.AF_UNIX, path):
                held.enter_context(stranger)
            for _ in range(20):
                answer = await call(port, key, "tool_search", queries=["x"])
                assert answer.status == 200
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(b'{"toolcrib": 1, "profile": "default", "pid": 1}\n')
            assert json.loads(await reader.readline()) == {"toolcrib": 1}
            writer.close()

    with few_descriptors(tmp_path) as (told, log):
        asyncio.run(scenario(told["port"], told["socket"]))
        said = log.read_text()
    assert said.count("connections without a credential") == 2, said
    assert "no file descriptors are left" not in said
    assert len(said) < 10_000


def test_all_bounds_together_leave_a_third_of_the_descriptors():
    for descriptors in (256, 1024, 8192):
        bounds = ConnectionBounds.of(descriptors)
        assert bounds.strangers * 2 + bounds.http + bounds.shims < descriptors * 2 / 3 + 1


def test_that_none_are_left_is_said_once(caplog: pytest.LogCaptureFixture):
    loop, log = asyncio.new_event_loop(), ExhaustionLog()
    for _ in range(100):
        log(loop, {"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")})
    log(loop, {"message": "something else", "exception": ValueError("x")})
    loop.close()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "ulimit -n" in said[0]
    assert "something else" in said[1]
