"""Replicas of one shared store: one packs what it has listed, an empty one starts from that."""

import asyncio
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

from tests.postgres import KEY, PostgresServer, running_server, shared_database
from tests.waiting import until
from toolcrib import Crib, Settings
from toolcrib.crib import inventory_of
from toolcrib.crib.pack_files import PackFiles
from toolcrib.crib.shared_packs import SharedPacks
from toolcrib.errors import StoreError
from toolcrib.settings import EmbedSettings
from toolcrib.store.postgres import DatabaseAddress, PostgresStores, TenantPlaces

ROOT = Path(__file__).parents[2]
QUERIES = ("weave a basket", "tool_17", "read the ledger of 3")


class Replicas:
    """Replicas with a home each, and one MCP server, whose tools stand in a file."""

    def __init__(self, address: DatabaseAddress, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._patch = folder, patch
        self.tools_file = folder / "tools.json"
        self.list_tools(250)
        server = ["-S", str(ROOT / "benchmarks" / "dump_server.py"), str(self.tools_file)]
        servers = folder / "servers.json"
        entry = {"command": sys.executable, "args": server, "trust": "open"}
        servers.write_text(json.dumps({"mcpServers": {"shop": entry}}))
        patch.setenv("KEY_OF_ALL", KEY.hex())
        patch.setenv("TOOLCRIB_CONFIG", str(folder / "config.toml"))  # its servers.json is our own
        self._settings = Settings(
            store=address.text,
            install_key_env="KEY_OF_ALL",
            embed=EmbedSettings(embedder="none"),
            mcp_config=(servers,),
        )

    def list_tools(self, count: int) -> None:
        """From now on the server has so many."""
        schema = {"type": "object", "properties": {"what": {"type": "string"}}}
        tools = [
            {"name": f"tool_{n}", "description": f"Read the ledger of {n}", "inputSchema": schema}
            for n in range(count)
        ]
        tools[0]["description"] = f"Weave a basket, one of {count}"
        self.tools_file.write_text(json.dumps({"tools": tools}))

    @contextmanager
    def replica(self, name: str) -> Generator[Crib]:
        self._patch.setenv("HOME", str(self._folder / name))
        with Crib.from_settings(self._settings) as crib:
            yield crib


@pytest.fixture
def replicas(
    new_address: DatabaseAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Replicas:
    return Replicas(new_address, tmp_path, monkeypatch)


def answers(crib: Crib) -> list[list[tuple[str, float]]]:
    return [[(hit.name, hit.score) for hit in crib.search(query)] for query in QUERIES]


def generation_of_packs(server: PostgresServer, address: DatabaseAddress) -> int:
    name = address.text.rpartition("/")[2]
    [(newest,)] = server.execute("SELECT coalesce(max(generation), 0) FROM toolcrib.pack", name)
    return newest


def started_from_packs(crib: Crib) -> bool:
    """Whether all was found in packs, and no listing was read for it."""
    crib.search("anything")
    memory = inventory_of(crib).servers["shop"]._memory
    return (
        crib._stages._live_index.is_packed
        and inventory_of(crib).pool.fits_pack()
        and not memory._loaded
    )


@pytest.fixture
def first(
    replicas: Replicas, postgres_server: PostgresServer, new_address: DatabaseAddress
) -> list[list[tuple[str, float]]]:
    """What the first replica finds; it has listed the server, and stored its packs."""
    with replicas.replica("one") as crib:
        asyncio.run(crib.refresh())
        found = answers(crib)
        until(lambda: generation_of_packs(postgres_server, new_address), "the packs are stored")
    return found


def test_an_empty_replica_starts_from_the_packs_of_another(replicas: Replicas, first: object):
    with replicas.replica("two") as crib:
        assert started_from_packs(crib)
        assert answers(crib) == first
        assert len(crib.entries()) == 250
        called = asyncio.run(crib.call("tool_17", {"what": "x"}))
        assert not called.error


def test_what_has_changed_since_they_were_made_is_listed(
    replicas: Replicas, first: object, monkeypatch: pytest.MonkeyPatch
):
    """The pack of before stays, because it is young; what it lacks comes by the listing."""
    monkeypatch.setattr("toolcrib.crib.shared_packs.BYTES_A_SECOND", 1)
    replicas.list_tools(251)
    with replicas.replica("one") as crib:
        asyncio.run(crib.refresh())
        assert "mcp_shop_tool_250" in crib.entries()
    with replicas.replica("two") as crib:
        assert inventory_of(crib).pool.pack
        assert "mcp_shop_tool_250" in crib.entries()
        assert "one of 251" in crib.search("weave a basket")[0].description
        assert len(crib.entries()) == 251
    assert first


def test_packs_that_cannot_be_trusted_are_made_anew(
    replicas: Replicas,
    first: object,
    postgres_server: PostgresServer,
    new_address: DatabaseAddress,
):
    spoil = "UPDATE toolcrib.pack_part SET body = 'x' WHERE number = 1"
    postgres_server.execute(spoil, new_address.text.rpartition("/")[2])
    with replicas.replica("two") as crib:
        assert not started_from_packs(crib)
        assert answers(crib) == first
        until(lambda: generation_of_packs(postgres_server, new_address), "it stores its own")
    with replicas.replica("three") as crib:
        assert started_from_packs(crib)
        assert answers(crib) == first


def test_who_waits_to_store_a_pack_waits_once_and_not_longer_than_its_crib(
    replicas: Replicas, first: object, monkeypatch: pytest.MonkeyPatch
):
    """Else each change would leave a thread, which holds a tenant that was closed long ago."""
    monkeypatch.setattr("toolcrib.crib.shared_packs.BYTES_A_SECOND", 1)
    waiting: list[Timer] = []
    with replicas.replica("one") as crib:
        packs = crib._stages._packs
        packs._writer._quiet_s = 0.0
        for count in (251, 252):
            replicas.list_tools(count)
            asyncio.run(crib.refresh())
            crib.search("anything")
            until(
                lambda: packs._again not in (None, *waiting),
                "it is too early to store",
            )
            assert packs._again
            waiting.append(packs._again)
            assert not waiting[-1].finished.is_set()
        assert waiting[0].finished.is_set()
    assert waiting[1].finished.is_set()
    assert first


class PairOfFiles:
    """A pair on this machine, and the packs of a tenant of its own."""

    def __init__(self, folder: Path, tenant: str) -> None:
        places = TenantPlaces(tenant, folder / "mirror", KEY, None)
        self.packs = PostgresStores(shared_database(), places).packs
        self.files = PackFiles(folder, "owner", self.packs.key)
        self.files.pool.parent.mkdir(parents=True)

    def write(self, content: bytes) -> None:
        for path in (self.files.pool, self.files.index):
            path.write_bytes(content)

    def shared(self, model: str = "") -> SharedPacks:
        settings = Settings(embed=EmbedSettings(model=model))
        return SharedPacks(self.packs, self.files, settings, lambda: 1)


@pytest.fixture
def pairs(tmp_path: Path) -> tuple[PairOfFiles, PairOfFiles]:
    """Those of two replicas."""
    tenant = f"tenant of {tmp_path}"
    return PairOfFiles(tmp_path / "one", tenant), PairOfFiles(tmp_path / "two", tenant)


def test_a_pair_is_had_by_those_with_the_same_model_alone(pairs: tuple[PairOfFiles, PairOfFiles]):
    one, two = pairs
    one.write(b"pair")
    assert one.shared("small").store(1) is None
    two.shared("large").fetch()
    assert not two.files.pool.exists()
    two.shared("small").fetch()
    assert (two.files.pool.read_bytes(), two.files.index.read_bytes()) == (b"pair", b"pair")


def test_a_pair_that_is_here_is_not_replaced(pairs: tuple[PairOfFiles, PairOfFiles]):
    one, two = pairs
    one.write(b"of another")
    one.shared().store(1)
    two.write(b"ours")
    two.shared().fetch()
    assert two.files.pool.read_bytes() == b"ours"


def test_bytes_that_cannot_be_trusted_reach_no_file(pairs: tuple[PairOfFiles, PairOfFiles]):
    one, two = pairs
    one.write(b"pair")
    one.shared().store(1)
    name = shared_database().database.address.text.rpartition("/")[2]
    spoil = "UPDATE toolcrib.pack_part SET body = 'x' WHERE number = 1 AND tenant = %s"
    running_server().execute(spoil, name, one.packs._tenant.tenant)
    two.shared().fetch()
    assert not [*two.files.pool.parent.iterdir()]


def test_a_crib_that_closes_gives_up_what_is_being_stored(pairs: tuple[PairOfFiles, PairOfFiles]):
    """A tenant that is closed can be opened again only then."""
    one, _ = pairs
    one.write(b"pair")
    shared = one.shared()
    shared.close()
    with pytest.raises(StoreError, match="being closed"):
        shared.store(1)
    assert one.packs.pack_head(shared._name) is None
