"""What the operator sees of clients: events as they come, queries, sets and profiles."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.clients import ANN, connected
from tests.gateway.daemons import bare, files_in, serving
from tests.gateway.test_client_events import many_tools
from tests.waiting import HANG_S, until_async
from toolcrib.crib import Crib, events_of
from toolcrib.errors import ConfigError
from toolcrib.gateway import ask_daemon, watch_daemon
from toolcrib.gateway.daemon import Daemon
from toolcrib.gateway.server import GatewayServers
from toolcrib.observe import LoggedEvent, event_log

PROFILES = {"gateway": {"profiles": {"sheep": {"tools": ["count_sheep_*"], "mode": "reveal"}}}}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "PAUSE_S", 0.01)


def scoped() -> Crib:
    crib = many_tools()
    crib.operator.take_settings(
        crib.settings.model_copy(update={"gateway": bare(**PROFILES).gateway})
    )
    return crib


async def asked(folder: Path, do: str, **more: Any) -> Any:
    return await asyncio.to_thread(ask_daemon, files_in(folder), do, **more)


async def search(daemon: Daemon, query: str = "mail an invoice") -> str:
    """The handle of the set that a search of a client makes."""
    server = daemon.serving.servers.of(ANN)
    async with connected(server, name="cursor") as client:
        found: Any = await client.call_tool("tool_search", {"query": query})
        return found.meta["toolcrib/set"]


class Looking:
    """Somebody who looks on, in a thread of their own, until `left`."""

    def __init__(self, folder: Path) -> None:
        self.told: list[Any] = []
        self.left = False
        self._folder = folder
        self.task = asyncio.create_task(asyncio.to_thread(self._look))

    def _look(self) -> None:
        stream: Iterator[Any] = watch_daemon(files_in(self._folder))
        for told in stream:
            self.told.append(told)
            if self.left:
                return

    @property
    def kinds(self) -> list[str]:
        return [
            LoggedEvent.of_json(each).event.kind for told in self.told for each in told["events"]
        ]


def test_events_come_as_they_happen_and_none_are_kept_for_who_has_left(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path, crib=many_tools, servers=GatewayServers) as (daemon, _):
            log = events_of(daemon.serving.crib)
            looking = Looking(tmp_path)
            await until_async(lambda: bool(looking.told), "the stream has begun")
            await search(daemon)
            wanted = {"client", "search", "reveal"}
            await until_async(lambda: wanted <= {*looking.kinds}, "all has come")
            texts = [each[-1] for told in looking.told for each in told["events"]]
            assert "mail an invoice" in texts
            looking.left = True
            await asyncio.wait_for(looking.task, HANG_S)
            await until_async(lambda: not log._watchers, "nobody looks on any more")

    asyncio.run(scenario())


def test_a_stream_ends_with_the_log(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path, crib=many_tools, servers=GatewayServers) as (daemon, _):
            looking = Looking(tmp_path)
            await until_async(lambda: bool(looking.told), "the stream has begun")
            await daemon.reload()
            await asyncio.wait_for(looking.task, HANG_S)
        again = Looking(tmp_path)
        with suppress(OSError):
            await asyncio.wait_for(again.task, HANG_S)
        assert again.told == []

    asyncio.run(scenario())


def test_who_reads_slowly_is_told_how_many_were_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from toolcrib.gateway import operator_clients  # noqa: PLC0415
    from toolcrib.observe import watcher  # noqa: PLC0415

    monkeypatch.setattr(watcher, "MOST_UNTAKEN", 5)
    sent: list[Any] = []
    go = asyncio.Event()

    class Slow:
        async def send(self, progress: Any) -> None:
            sent.append(progress)
            await go.wait()

        async def receive(self) -> None:
            await asyncio.Event().wait()

    async def scenario() -> None:
        crib = many_tools()
        watching = asyncio.create_task(operator_clients._watch(crib, Slow()))
        await until_async(lambda: bool(sent), "the first batch waits")
        for _ in range(20):
            crib.search("sheep")
        log = events_of(crib)
        await until_async(lambda: log._watchers[0]._came == 20, "all are handed on")
        go.set()
        await until_async(lambda: len(sent) > 1, "the next batch")
        assert len(sent[1]["events"]) == 5
        assert sent[1]["skipped"] == 15
        await asyncio.to_thread(crib.close)
        await asyncio.wait_for(watching, HANG_S)

    asyncio.run(scenario())


def test_texts_of_queries_are_told_to_the_operator_alone(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path, crib=many_tools, servers=GatewayServers) as (daemon, _):
            looking = Looking(tmp_path)
            await until_async(lambda: bool(looking.told), "the stream has begun")
            await search(daemon)
            await until_async(lambda: "search" in looking.kinds, "the search has come")
            looking.left = True
            ids = list(range(10))
            texts = (await asked(tmp_path, "queries", ids=[*ids, "x", None]))["texts"]
            assert set(texts.values()) == {"mail an invoice"}
            assert (await asked(tmp_path, "queries"))["texts"] == {}
            await looking.task

    asyncio.run(scenario())


def test_sets_are_shown_without_their_handles(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path, crib=many_tools, servers=GatewayServers) as (daemon, _):
            handles = [await search(daemon), await search(daemon, "select:count_sheep_3")]
            sets = await asked(tmp_path, "sets")
            assert [each["caller"] for each in sets] == ["ann@default"] * 2
            assert sets[1]["tools"][0] == "send_invoice"
            assert "count_sheep" in sets[0]["tools"][0]
            assert not any(handle in json.dumps(sets) for handle in handles)

    asyncio.run(scenario())


def test_profiles_are_told_with_their_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcrib.gateway.operator_clients.MOST_NAMES", 25)

    async def scenario() -> None:
        async with serving(tmp_path, crib=scoped, servers=GatewayServers):
            every, sheep = await asked(tmp_path, "profiles")
            assert (every["name"], every["tools"]) == ("default", 41)
            assert sheep == {"name": "sheep", "mode": "reveal", "tools": 40}
            names: list[str] = []
            page: Any = {"names": [""]}
            while page["names"]:
                after = page["names"][-1]
                page = await asked(tmp_path, "profiles", name="sheep", after=after)
                assert page["before"] == len(names)
                names += page["names"]
            assert len(names) == len({*names}) == page["tools"] == 40
            with pytest.raises(ConfigError, match="nearest: sheep"):
                await asked(tmp_path, "profiles", name="shep")

    asyncio.run(scenario())
