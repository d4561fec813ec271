"""Nothing of one tenant is visible to another, in any table there is or will be."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.postgres import KEY
from toolcrib.model import ConversationTokens, Event
from toolcrib.store import (
    KeyHash,
    Login,
    Retention,
    StoredKey,
    TicketBinding,
    UseLesson,
    UseLessonKey,
    UsePair,
    UseRecord,
)
from toolcrib.store.postgres import Database, PostgresStores, SharedDatabase, TenantPlaces
from toolcrib.store.source_protocol import ListingHead, ListingKey, StoredListing

SHARED = {"embedding", "key_version", "migration"}
"""The tables that are of no tenant: vectors by the hash of a text, a count, the steps taken."""
LOGIN = Login("https://x", {"access_token": "t"}, {})
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'toolcrib' ORDER BY 1"
UNPROTECTED = """
    SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'toolcrib' AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT (
        relrowsecurity AND relforcerowsecurity
        AND EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid)
        AND EXISTS (
            SELECT FROM pg_attribute
            WHERE attrelid = pg_class.oid AND attnum = 1 AND attname = 'tenant' AND attnotnull
            OR attrelid = pg_class.oid AND attnum = 1 AND atttypid = 'toolcrib.tenant_id'::regtype
        )
    ) ORDER BY 1
"""


@pytest.fixture
def shared(database: Database) -> Iterator[SharedDatabase]:
    with closing(SharedDatabase(database)) as shared:
        yield shared


def stores_of(shared: SharedDatabase, tenant: str, folder: Path) -> PostgresStores:
    retention = Retention(rows=100, days=1.0, query_days=1.0)
    return PostgresStores(shared, TenantPlaces(tenant, folder / tenant, KEY, retention))


def fill(stores: PostgresStores, tenant: str) -> None:
    """Something in every table."""
    server = ListingKey("server", "hash")
    stores.catalog.add_reveals("ann", "session", ["a"])
    stores.catalog.set_conversation_tokens("ann", "session", ConversationTokens(1, 2))
    lesson = {UseLessonKey(b"rights", b"word", "a"): UseLesson(1, 1.0, 1)}
    stores.catalog.keep_used(UseRecord({UsePair("a", "b"): 1}, lesson), half_life_days=1.0)
    stores.catalog.used()
    stores.decisions.trust("mcp:x#1", {"a": ("pin", "{}")})
    stores.decisions.configured("mcp:x#1", "{}")
    stores.tickets.ask(TicketBinding("ann", "pin", "digest"), "{}")
    stores.sets.add_to_set("ann", "", {"a": "pin"}, "set")
    stores.results.keep_result("result", "ann", "text", 60.0)
    stores.suspensions.keep_suspension("program", "ann", b"state", 60.0)
    stores.events.write([Event(time.time(), "call", name="a", caller="ann")])
    stores.logins.write("server", LOGIN)
    key = StoredKey(f"id{tenant}", "laptop", (), (), KeyHash("s", "h"), 1.0, tenant)
    assert stores.keys.add(key)
    stores.documents.put_document("servers.json", b"{}", None)
    stores.listings.put_listing(server, StoredListing(ListingHead("1", 1.0, 1.0), b"{}"))
    stores.listings.put_failure(server, b"{}")
    stores.packs.put_pack("index", 1, [b"body"])


def test_every_table_has_its_tenant_first_and_row_security_that_binds_its_owner(
    database: Database,
):
    with database.transaction("", "read") as db:
        unprotected = {name for (name,) in db.execute(UNPROTECTED)}
    assert unprotected == SHARED


def test_a_tenant_sees_changes_and_removes_no_row_of_another(
    shared: SharedDatabase, tmp_path: Path
):
    fill(stores_of(shared, "one", tmp_path), "one")
    for tenant in ("two", ""):
        with shared.database.transaction(tenant, "durable") as db:
            tables = [name for (name,) in db.execute(TABLES) if name not in SHARED]
            for table in tables:
                for act in ("SELECT * FROM {}", "UPDATE {} SET tenant = tenant", "DELETE FROM {}"):
                    assert db.execute(act.format(table).encode()).rowcount == 0, (act, table)
    with shared.database.transaction("one", "read") as db:
        rows = {each: db.execute(f"SELECT FROM {each}".encode()).rowcount for each in tables}
    assert all(rows.values()), "`fill` has to put something into each"


def test_two_tenants_have_the_same_names_for_different_things(
    shared: SharedDatabase, tmp_path: Path
):
    one, two = (stores_of(shared, name, tmp_path) for name in ("one", "two"))
    fill(one, "one")
    fill(two, "two")
    written = two.documents.document("servers.json")
    assert written
    two.documents.put_document("servers.json", b"other", written.version)
    two.catalog.add_reveals("ann", "session", ["b"])
    two.logins.write("server", Login("https://x", {"access_token": "two"}, {}))
    assert one.documents.document("servers.json") == written
    assert one.catalog.reveals("ann", "session") == ("a",)
    assert one.logins.read("server", "https://x") == LOGIN
    assert [key.tenant for key in one.keys.all()] == ["one"]
    assert one.keys.remove("laptop")
    assert [key.tenant for key in two.keys.all()] == ["two"]


def test_a_key_is_found_by_its_id_whatever_its_tenant_and_nothing_else_is(
    shared: SharedDatabase, tmp_path: Path
):
    one, two = (stores_of(shared, name, tmp_path) for name in ("one", "two"))
    fill(one, "one")
    before = two.keys.version()
    found = two.keys.find("idone")
    assert found
    assert (found.tenant, found.name) == ("one", "laptop")
    assert two.keys.all() == two.keys.without_id() == []
    assert not two.keys.remove("laptop")
    two.keys.note_used({"idone": 9.0})
    assert one.keys.all()[0].used_at == 0.0
    assert one.keys.remove("laptop")
    assert two.keys.version() > before, "who caches keys hears of it, whatever the tenant"
    assert two.keys.add(found), "it is free now"
    assert [key.tenant for key in two.keys.all()] == ["two"], "whatever it was before"


def test_vectors_are_shared_by_all(shared: SharedDatabase, tmp_path: Path):
    one, two = (stores_of(shared, name, tmp_path) for name in ("one", "two"))
    one.catalog.keep_vectors("m", {b"hash": np.ones(2, np.float32)})
    assert two.catalog.present_vectors("m", [b"hash"]) == {b"hash"}


def test_which_tenants_there_are_is_shown_and_nothing_that_they_own(
    shared: SharedDatabase, tmp_path: Path
):
    for tenant in ("one", "two"):
        fill(stores_of(shared, tenant, tmp_path), tenant)
    assert shared.tenants.add("three")
    assert not shared.tenants.add("two")
    assert [each.name for each in shared.tenants.all()] == ["one", "three", "two"]
    for tenant in ("", "three"):
        with shared.database.transaction(tenant, "durable") as db:
            db.execute("SELECT set_config('toolcrib.tenants', 'listed', true)")
            tables = [name for (name,) in db.execute(TABLES) if name not in SHARED]
            own = 0 if not tenant else 1
            for table in tables:
                shown = db.execute(f"SELECT FROM {table}".encode()).rowcount
                assert shown == (3 if table == "tenant" else 0), table
                for act in ("UPDATE {} SET tenant = tenant", "DELETE FROM {}"):
                    changed = db.execute(act.format(table).encode()).rowcount
                    assert changed == (own if table == "tenant" else 0), (act, table)
    with shared.database.transaction("", "read") as db:
        assert db.execute("SELECT FROM tenant").rowcount == 0, "in no other transaction"


def test_a_tenant_is_switched_off_and_on_and_replicas_hear_of_it(
    shared: SharedDatabase, tmp_path: Path
):
    stores = stores_of(shared, "one", tmp_path)
    fill(stores, "one")
    before = stores.feed.changes(0)
    assert not before.disabled
    assert shared.tenants.switch("one", disabled=True)
    after = stores.feed.changes(before.generation)
    assert after.disabled
    assert after.generation > before.generation
    assert shared.tenants.switch("one", disabled=False)
    assert not stores.feed.changes(0).disabled
    assert not shared.tenants.switch("nobody", disabled=True)
    assert shared.tenants.find("nobody") is None
