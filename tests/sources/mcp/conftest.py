"""A workshop of fake servers: sources over them, and a look that nothing is left behind."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources.mcp.faking import below, left_of, zombies
from tests.waiting import HANG_S, until
from toolcrib.model import Call, CallContext, Deadline, Json, Outcome
from toolcrib.sources.mcp import McpSource, ServerConfig
from toolcrib.sources.mcp.identity import ServerIdentity, config_hash
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop
from toolcrib.sources.mcp.trust import ServerTrust
from toolcrib.store import Decisions, ListingFiles

HTTP_SERVER = Path(__file__).with_name("http_server.py")
TOKEN = "s3cret-token"


class Shop:
    """Sources that share a server loop and a cache folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loop = ServerLoop()
        self.decisions = Decisions(folder.with_name("decisions.db"), bytes(32))
        self._before = below(os.getpid())  # of tests before: what they stopped may still be ending

    def source(self, config: ServerConfig) -> McpSource:
        cache = MCPToolsCache(ListingFiles(self.folder))
        hashed = config_hash(config.transport, bytes(32))
        memory = ServerMemory(
            config.id, hashed, cache, ServerTrust(config, self.decisions, ServerIdentity(hashed))
        )
        return McpSource(config, memory, self.loop)

    def listed(self, config: ServerConfig) -> McpSource:
        """A source whose server was started once, and is asleep."""
        source = self.source(config)
        done = source.refresh().result(HANG_S)
        assert not done.error, done
        self.reopen()
        return self.source(config)

    def processes(self) -> set[int]:
        """Those that run because of this shop."""
        return below(os.getpid()) - self._before

    def reopen(self) -> None:
        self.loop.stop_all()
        self.loop = ServerLoop()


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path / "mcp")
    yield shop
    shop.loop.stop_all()
    shop.decisions.close()
    assert left_of(shop.processes()) == {}
    assert zombies() == []


async def acall(source: McpSource, name: str, within: float = HANG_S, **arguments: Json) -> Outcome:
    running = CallContext(Deadline(within))
    return await source.call(Call(name, arguments), running)


def call(source: McpSource, name: str, within: float = HANG_S, **arguments: Json) -> Outcome:
    return asyncio.run(acall(source, name, within, **arguments))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a server that wants a token."""
    file = tmp_path_factory.mktemp("http") / "port"
    process = subprocess.Popen([sys.executable, str(HTTP_SERVER), str(file), TOKEN])
    until(file.exists)
    yield f"http://127.0.0.1:{file.read_text()}"
    process.terminate()
    process.wait(HANG_S)
