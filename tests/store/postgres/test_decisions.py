"""Decisions in a database: what another hand has written approves nothing."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from tests.postgres import KEY, PostgresServer
from toolcrib.errors import StoreError
from toolcrib.store import Decision, Decisions
from toolcrib.store.decisions import DAY_S
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)
from toolcrib.store.postgres.decisions import PostgresDecisions
from toolcrib.store.postgres.seal_tree import SealTree, bucket_of
from toolcrib.store.postgres.sealing import Sealer
from toolcrib.store.postgres.stores import COUNTER_FILE
from toolcrib.store.seals import SealCounter

SEEN = {"a": ("pin a", "{}"), "b": ("pin b", "{}")}


class Tenant:
    """The decisions of a tenant, as any number of gateways open them, and as others alter them."""

    def __init__(self, server: PostgresServer, address: DatabaseAddress, folder: Path) -> None:
        self.shared = SharedDatabase(Database(address))
        self._server = server
        self._folder = folder
        self._name = address.text.rpartition("/")[2]

    def open(self, machine: str = "one", tenant: str = "acme", key: bytes = KEY):
        places = TenantPlaces(tenant, self._folder / machine, key, None)
        return PostgresStores(self.shared, places).decisions

    def tamper(self, *statements: str) -> None:
        for each in statements:
            self._server.execute(f"SET search_path = toolcrib; {each}", self._name)

    def ask(self, query: str) -> list[tuple[str, float]]:
        return self._server.execute(query, self._name)

    def save(self) -> None:
        for table in TABLES:
            self.tamper(f"CREATE TABLE old_{table} AS SELECT * FROM {table}")

    def put_back(self) -> None:
        for table in TABLES:
            self.tamper(f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM old_{table}")


TABLES = (
    *("decision", "decision_configuration", "decision_source"),
    *("decision_bucket", "decision_whole"),
)


@pytest.fixture
def tenant(
    postgres_server: PostgresServer, new_address: DatabaseAddress, tmp_path: Path
) -> Iterator[Tenant]:
    tenant = Tenant(postgres_server, new_address, tmp_path)
    with closing(tenant.shared):
        yield tenant


def pins(decisions: PostgresDecisions, source: str = "mcp:x#1") -> dict[str, str]:
    found = decisions.of(source).items()
    return {name: one.approved.pin for name, one in found if one.approved}


def approval(source: str, name: str = "a", pin: str = "new") -> Decision:
    return Decision(source, name, "approved", pin, "operator", 5.0, "{}")


def beside(source: str) -> str:
    """Another server, whose seal lies in the same bucket."""
    names = (f"mcp:other{number}#1" for number in range(100_000))
    return next(each for each in names if bucket_of(each) == bucket_of(source))


OF_ONE = [
    *(
        f"UPDATE decision SET {column} = 'evil' WHERE source = 'mcp:x#1' AND name = 'a'"
        for column in ("name", "pin", "by", "definition")
    ),
    "UPDATE decision SET verdict = 'rejected' WHERE source = 'mcp:x#1' AND name = 'a'",
    "UPDATE decision SET at = at + 1 WHERE source = 'mcp:x#1' AND name = 'a'",
    "DELETE FROM decision WHERE source = 'mcp:x#1' AND name = 'a'",
    "DELETE FROM decision WHERE source = 'mcp:x#1'",
    (
        "INSERT INTO decision VALUES"
        " ('acme', 'mcp:x#1', 'c', 'approved', 'evil', 'operator', 1.5, '{}')"
    ),
    "UPDATE decision_configuration SET entry = 'evil' WHERE source = 'mcp:x#1'",
    "DELETE FROM decision_configuration WHERE source = 'mcp:x#1'",
]
OF_ALL = [
    "UPDATE decision_source SET seal = '\\x00' WHERE source = 'mcp:x#1'",
    "UPDATE decision_source SET used = used + 1 WHERE source = 'mcp:x#1'",
    "UPDATE decision_source SET bucket = 1 - sign(bucket) WHERE source = 'mcp:x#1'",
    "DELETE FROM decision_source WHERE source = 'mcp:x#1'",
    "DELETE FROM decision_source",
    "DELETE FROM decision_bucket",
    "UPDATE decision_bucket SET seal = '\\x00'",
    "DELETE FROM decision_whole",
    "UPDATE decision_whole SET first_sight = false",
    "UPDATE decision_whole SET count = count + 1",
]


def prepare(decisions: PostgresDecisions) -> None:
    decisions.trust("mcp:x#1", SEEN)
    decisions.configured("mcp:x#1", "as it is")
    decisions.trust("mcp:y#1", SEEN)


@pytest.mark.parametrize("statement", OF_ONE)
def test_what_is_altered_or_missing_of_one_source_sets_all_of_it_aside(tenant: Tenant, statement):
    decisions = tenant.open()
    prepare(decisions)
    tenant.tamper(statement)
    for each in (decisions, tenant.open("another")):
        with pytest.raises(StoreError, match="about 'x' were altered"):
            each.of("mcp:x#1")
        assert len(pins(each, "mcp:y#1")) == 2
    decisions.approve(approval("mcp:x#1"))
    assert pins(tenant.open("another")) == {"a": "new"}


@pytest.mark.parametrize("statement", OF_ALL)
def test_a_broken_seal_of_the_whole_sets_everything_aside(tenant: Tenant, statement: str):
    prepare(tenant.open())
    tenant.tamper(statement)
    fresh = tenant.open("another")
    assert not fresh.trusts_first_sight
    assert fresh.mark("mcp:y#1") == ""
    for act in (
        lambda: fresh.of("mcp:y#1"),
        lambda: fresh.trust("mcp:new#1", SEEN) or fresh.of("mcp:new#1"),
    ):
        with pytest.raises(StoreError, match="toolcrib review"):
            act()


def test_when_all_is_in_doubt_the_operator_starts_afresh(tenant: Tenant):
    prepare(tenant.open())
    tenant.tamper("UPDATE decision_bucket SET seal = '\\x00'")
    fresh = tenant.open("another")
    fresh.approve(approval("mcp:x#1"))
    for each in (fresh, tenant.open(), tenant.open("third")):
        assert pins(each) == {"a": "new"}
        assert pins(each, "mcp:y#1") == {}
        assert each.is_known("mcp:y#1")
        assert not each.trusts_first_sight


def test_a_decision_does_not_vouch_for_what_another_hand_has_done_beside_it(tenant: Tenant):
    decisions = tenant.open()
    neighbour = beside("mcp:x#1")
    prepare(decisions)
    decisions.trust(neighbour, SEEN)
    tenant.tamper("DELETE FROM decision_source WHERE source = 'mcp:x#1'")
    decisions.approve(approval(neighbour))
    fresh = tenant.open("another")
    with pytest.raises(StoreError):
        fresh.of(neighbour)
    assert not fresh.trusts_first_sight


def test_an_older_copy_is_noticed_by_who_has_seen_a_later_one(tenant: Tenant):
    decisions = tenant.open()
    prepare(decisions)
    tenant.save()
    decisions.reject(approval("mcp:x#1", "a", "pin a")._replace(verdict="rejected"))
    tenant.put_back()
    for each in (decisions, tenant.open()):  # the same machine, before a restart and after it
        with pytest.raises(StoreError, match="an older copy was put in place"):
            each.of("mcp:x#1")
    decisions.approve(approval("mcp:x#1"))
    assert pins(tenant.open()) == {"a": "new"}


def test_a_count_that_was_altered_is_noticed(tenant: Tenant, tmp_path: Path):
    prepare(tenant.open())
    (tmp_path / "one" / COUNTER_FILE).write_text("3 forged\n")
    with pytest.raises(StoreError, match="on this machine was altered"):
        tenant.open().of("mcp:x#1")
    assert len(pins(tenant.open("another"))) == 2


def test_decisions_that_are_all_gone_are_no_first_start(tenant: Tenant):
    prepare(tenant.open())
    for table in TABLES:
        tenant.tamper(f"DELETE FROM {table}")
    again = tenant.open()
    assert not again.trusts_first_sight
    with pytest.raises(StoreError, match="missing"):
        again.of("mcp:x#1")


def test_the_seals_of_one_tenant_are_nothing_in_the_rows_of_another(tenant: Tenant):
    prepare(tenant.open())
    for table in TABLES:
        tenant.tamper(f"UPDATE {table} SET tenant = 'evil'")
    with pytest.raises(StoreError, match="altered"):
        tenant.open("another", "evil").of("mcp:x#1")


def test_another_key_reads_nothing(tenant: Tenant):
    prepare(tenant.open())
    other = tenant.open("another", key=bytes(32))
    with pytest.raises(StoreError, match="altered"):
        other.of("mcp:x#1")
    assert not other.trusts_first_sight


def test_one_decision_reads_and_seals_what_lies_in_one_bucket(tenant: Tenant):
    decisions = tenant.open()
    for number in range(40):
        decisions.trust(f"mcp:s{number}#1", {})
    assert len(decisions.of("mcp:s1#1")) == 0
    last = decisions._tree._last
    decisions.approve(approval("mcp:s1#1"))
    assert pins(decisions, "mcp:s1#1") == {"a": "new"}
    now = decisions._tree._last
    changed = [each for each in now.buckets if now.buckets[each] != last.buckets.get(each)]
    assert changed == [bucket_of("mcp:s1#1")]


def test_many_writers_at_once_break_no_seal(tenant: Tenant):
    machines = [tenant.open(f"machine {number}") for number in range(4)]

    def write(number: int) -> None:
        for turn in range(8):
            machines[number].trust(f"mcp:{number}-{turn}#1", SEEN)
            machines[number].of(f"mcp:{(number + 1) % 4}-{turn}#1")

    threads = [Thread(target=write, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    fresh = tenant.open("fresh")
    assert all(
        len(pins(fresh, f"mcp:{number}-{turn}#1")) == 2 for number in range(4) for turn in range(8)
    )


def test_decisions_about_servers_long_gone_are_let_go(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toolcrib.store.postgres.decisions.RETENTION_S", 3 * DAY_S)
    clock = [1_000_000_000.0]
    monkeypatch.setattr("toolcrib.store.postgres.decisions.time.time", lambda: clock[0])
    decisions = tenant.open()
    decisions.trust("mcp:gone#1", SEEN)
    decisions.trust("mcp:here#1", SEEN)
    for _ in range(5):
        clock[0] += DAY_S
        tenant.open("another").used("mcp:here#1")
    assert pins(decisions, "mcp:gone#1") == {}
    assert len(pins(decisions, "mcp:here#1")) == 2
    assert decisions.is_known("mcp:gone#1")


def test_threads_of_one_gateway_note_the_highest_count(tmp_path: Path):
    counter = SealCounter(tmp_path / "counter", KEY)
    tree = SealTree(Sealer(KEY), counter, "the database")
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(tree.note, number) for number in range(1, 400)]:
            done.result()
    assert counter.read() == 399


def test_the_file_of_decisions_of_the_same_machine_is_no_doubt(tenant: Tenant, tmp_path: Path):
    with closing(Decisions(tmp_path / "one" / "decisions.db", KEY)) as file:
        file.trust("mcp:x#1", SEEN)
    prepare(tenant.open())
    assert len(pins(tenant.open())) == 2


NOTE_TIME = """
    CREATE TABLE allowed (by_whom text, time interval);
    GRANT INSERT ON allowed TO toolcrib;
    CREATE FUNCTION note_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO toolcrib.allowed
        VALUES (NEW."by", current_setting('statement_timeout')::interval);
        RETURN NEW;
    END $$;
    CREATE TRIGGER note_time BEFORE INSERT ON decision
    FOR EACH ROW EXECUTE FUNCTION note_time()
"""


def test_a_first_list_may_take_longer_than_a_verdict_for_which_somebody_waits(tenant: Tenant):
    """It may have thousands of tools, and wait for the first lists of many other servers."""
    tenant.tamper(NOTE_TIME)
    tenant.open().trust("mcp:x#1", SEEN)
    tenant.open().approve(approval("mcp:x#1"))
    allowed = dict(tenant.ask("SELECT by_whom, extract(epoch FROM time) FROM toolcrib.allowed"))
    assert allowed["first sight"] > 10 * allowed["operator"] > 0
