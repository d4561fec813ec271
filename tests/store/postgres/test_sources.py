"""Packs in parts, and what a pooler or a crash may do to what sources are made of."""

from pathlib import Path

import pytest

from tests.postgres import PostgresEngine
from toolcrib.store import Retention
from toolcrib.store.postgres import PostgresStores
from toolcrib.store.source_protocol import StoredPack


@pytest.fixture
def stores(tmp_path: Path) -> PostgresStores:
    return PostgresEngine(tmp_path, Retention(rows=10, days=1.0, query_days=1.0)).open()


def test_a_pack_comes_back_whole_whatever_its_size(
    stores: PostgresStores, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toolcrib.store.postgres.sources.PART_BYTES", 1_000)
    assert stores.packs.pack("index") is None
    for size in (0, 999, 1_000, 1_001, 5_500, 10):
        pack = StoredPack(f"of {size}", 7, bytes(range(250)) * (size // 250) + b"x" * (size % 250))
        stores.packs.put_pack("index", pack)
        assert stores.packs.pack("index") == pack


def test_a_pack_of_an_earlier_generation_does_not_replace_a_later_one(stores: PostgresStores):
    later = StoredPack("later", 9, b"later")
    stores.packs.put_pack("index", later)
    stores.packs.put_pack("index", StoredPack("earlier", 8, b"earlier"))
    assert stores.packs.pack("index") == later
