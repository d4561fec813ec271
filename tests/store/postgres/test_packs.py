"""Packs of a shared store: in parts, sealed, stored by one replica at a time."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.postgres import KEY, running_server, shared_database
from toolcrib.errors import StoreError
from toolcrib.store import PackDamaged
from toolcrib.store.postgres import PostgresStores, TenantPlaces
from toolcrib.store.postgres.packs import MOST_PACKS, PostgresPacks
from toolcrib.store.source_protocol import PackHead

PARTS = [b"a" * 100, b"b" * 50, b"c"]
OTHER_KEY = bytes(reversed(KEY))


class PackTenant:
    """A tenant of its own, whose packs are opened as replicas open them, and spoilt."""

    def __init__(self, folder: Path) -> None:
        self.name = f"tenant of {folder}"
        self._folder = folder

    def open(self, key: bytes = KEY) -> PostgresPacks:
        places = TenantPlaces(self.name, self._folder / "mirror", key, None)
        return PostgresStores(shared_database(), places).packs

    def execute(self, sql: str) -> None:
        """As the superuser, whom row security does not bind; `%s` is the tenant."""
        name = shared_database().database.address.text.rpartition("/")[2]
        address = running_server().address(name, "postgres").text
        with closing(psycopg.connect(address, autocommit=True)) as connection:
            assert connection.execute(sql.encode(), (self.name,)).rowcount > 0


@pytest.fixture
def tenant(tmp_path: Path) -> PackTenant:
    return PackTenant(tmp_path)


def fetched(packs: PostgresPacks, name: str = "pair") -> bytes:
    body = bytearray()
    packs.fetch_pack(name, stored(packs, name), body.extend)
    return bytes(body)


def stored(packs: PostgresPacks, name: str = "pair") -> PackHead:
    head = packs.pack_head(name)
    assert head
    return head


@pytest.mark.parametrize("parts", [[], [b""], [b"x"], PARTS, [bytes(3_000_000), b"y"]])
def test_what_one_replica_stores_another_has(tenant: PackTenant, parts: list[bytes]):
    assert tenant.open().pack_head("pair") is None
    assert tenant.open().put_pack("pair", 7, iter(parts))
    other = tenant.open()
    assert fetched(other) == b"".join(parts)
    head = stored(other)
    assert (head.generation, head.bytes) == (7, sum(map(len, parts)))
    assert head.age_s >= 0.0


def test_one_of_no_later_generation_replaces_nothing(tenant: PackTenant):
    packs = tenant.open()
    assert packs.put_pack("pair", 9, [b"first"])
    for generation in (8, 9):
        assert not packs.put_pack("pair", generation, [b"second"])
    assert fetched(packs) == b"first"
    assert packs.put_pack("pair", 10, [b"second"])
    assert fetched(packs) == b"second"


def test_one_replica_stores_at_a_time(tenant: PackTenant):
    other: list[bool] = []

    def parts():
        other.append(tenant.open().put_pack("pair", 2, [b"of another"]))
        yield b"first"

    assert tenant.open().put_pack("pair", 1, parts())
    assert other == [False]
    assert fetched(tenant.open()) == b"first"


def test_a_pack_that_is_not_stored_to_its_end_is_not_there(tenant: PackTenant):
    packs = tenant.open()
    packs.put_pack("pair", 1, [b"first"])
    with pytest.raises(OSError, match="disk"):
        packs.put_pack("pair", 2, _broken())
    assert fetched(packs) == b"first"


def _broken():
    yield b"some"
    raise OSError("disk")


def test_one_with_another_key_or_of_another_tenant_counts_as_none(
    tenant: PackTenant, tmp_path: Path
):
    """Each may replace it, whatever generation it says it has."""
    tenant.open(OTHER_KEY).put_pack("pair", 100, PARTS)
    assert tenant.open().pack_head("pair") is None
    assert tenant.open().put_pack("pair", 1, [b"ours"])
    assert fetched(tenant.open()) == b"ours"
    other = PackTenant(tmp_path / "other")
    other.open().put_pack("pair", 100, PARTS)
    tenant.execute("DELETE FROM toolcrib.pack WHERE tenant = %s")
    for table in ("pack", "pack_part"):
        columns = {"pack": "generation, parts, bytes, digest, seal", "pack_part": "number, body"}
        copied = f"INSERT INTO toolcrib.{table} (tenant, name, {columns[table]})"
        theirs = f"SELECT %s, name, {columns[table]} FROM toolcrib.{table}"
        tenant.execute(f"{copied} {theirs} WHERE tenant = '{other.name}'")
    assert tenant.open().pack_head("pair") is None


@pytest.mark.parametrize(
    "change",
    ["generation = 8", "bytes = 1", "parts = 2", "digest = '\\x00'", "seal = '\\x00'"],
)
def test_an_altered_head_counts_as_none(tenant: PackTenant, change: str):
    tenant.open().put_pack("pair", 7, PARTS)
    tenant.execute(f"UPDATE toolcrib.pack SET {change} WHERE tenant = %s")
    assert tenant.open().pack_head("pair") is None


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE toolcrib.pack_part SET body = 'x' WHERE number = 1 AND tenant = %s",
        "UPDATE toolcrib.pack_part SET body = body || 'x' WHERE number = 2 AND tenant = %s",
        "DELETE FROM toolcrib.pack_part WHERE number = 2 AND tenant = %s",
        "DELETE FROM toolcrib.pack_part WHERE number = 0 AND tenant = %s",
    ],
)
def test_one_with_altered_bytes_is_found_out_and_removed(tenant: PackTenant, spoil: str):
    packs = tenant.open()
    packs.put_pack("pair", 7, PARTS)
    tenant.execute(spoil)
    with pytest.raises(PackDamaged, match="as it was sealed"):
        fetched(packs)
    assert packs.pack_head("pair") is None


@pytest.mark.parametrize("parts", [[b"next"], [b"next", b"as", b"many"]])
def test_one_that_is_replaced_while_it_is_fetched_is_no_damage(
    tenant: PackTenant, parts: list[bytes]
):
    packs = tenant.open()
    packs.put_pack("pair", 7, PARTS)
    replace: Callable[[bytes], object] = lambda _: tenant.open().put_pack("pair", 8, parts)  # noqa: E731
    with pytest.raises(StoreError, match="replaced"):
        packs.fetch_pack("pair", stored(packs), replace)
    assert fetched(packs) == b"".join(parts)


def test_names_that_nobody_stores_any_more_go(tenant: PackTenant):
    packs = tenant.open()
    for number in range(MOST_PACKS + 2):
        assert packs.put_pack(f"form {number}", 1, [b"x"])
    kept = [number for number in range(MOST_PACKS + 2) if packs.pack_head(f"form {number}")]
    assert kept == [*range(2, MOST_PACKS + 2)]
