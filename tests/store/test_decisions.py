import hashlib
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from toolcrib.errors import StoreError
from toolcrib.review.desk import write_approval, write_rejection
from toolcrib.store import Decisions
from toolcrib.store.checked_file import CheckedFile
from toolcrib.store.decisions import DAY_S
from toolcrib.store.seals import Seals
from toolcrib.strict_json import canonical_json

KEY = bytes(32)
SEEN = {"a": ("pin a", "{}"), "b": ("pin b", "{}")}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "decisions.db"


@pytest.fixture
def decisions(path: Path):
    decisions = Decisions(path, KEY)
    yield decisions
    decisions.close()


def pins(decisions: Decisions, source: str = "mcp:x") -> dict[str, str]:
    found = decisions.of(source).items()
    return {name: one.approved.pin for name, one in found if one.approved}


def test_first_sight_is_approved_once(decisions):
    assert decisions.trusts_first_sight
    decisions.trust("mcp:x", SEEN)
    decisions.trust("mcp:x", {"a": ("another", "{}"), "c": ("pin c", "{}")})
    assert pins(decisions) == {"a": "pin a", "b": "pin b"}
    assert decisions.of("mcp:y") == {}
    assert decisions.of("mcp:x")["a"].approved.by == "first sight"


def test_what_was_rejected_is_no_first_sight(decisions):
    write_rejection(decisions, "mcp:x", "a", "pin a", "{}")
    decisions.trust("mcp:x", {"a": ("better", "{}")})
    assert decisions.of("mcp:x")["a"].approved is None


def test_an_approval_takes_the_place_of_all_before(decisions):
    decisions.trust("mcp:x", SEEN)
    write_rejection(decisions, "mcp:x", "a", "new", "{}")
    assert decisions.of("mcp:x")["a"].approved.pin == "pin a"
    assert decisions.of("mcp:x")["a"].rejected.pin == "new"
    write_approval(decisions, "mcp:x", "a", "new", '{"x":1}')
    decided = decisions.of("mcp:x")["a"]
    assert (decided.approved.pin, decided.approved.by, decided.rejected) == (
        "new",
        "operator",
        None,
    )
    assert decided.approved.definition == '{"x":1}'


def test_decisions_last_and_are_ours_alone(path, decisions):
    decisions.trust("mcp:x", SEEN)
    decisions.close()
    again = Decisions(path, KEY)
    assert pins(again) == {"a": "pin a", "b": "pin b"}
    assert again._db.pragma("synchronous") == 2
    again.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_another_process_is_noticed(path, decisions):
    before = decisions.version()
    assert decisions.version() == before
    other = Decisions(path, KEY)
    other.trust("mcp:x", SEEN)
    other.close()
    assert decisions.version() != before
    between = decisions.version()
    write_approval(decisions, "mcp:x", "a", "p", "{}")
    assert decisions.version() != between


def tamper(path: Path, *statements: str) -> None:
    db = apsw.Connection(str(path))
    for each in statements:
        db.execute(each)
    db.close()


OF_ONE = [
    *(
        f"UPDATE decision SET {column} = 'evil' WHERE source = 'mcp:x' AND name = 'a'"
        for column in ("name", "pin", "by", "definition")
    ),
    "UPDATE decision SET verdict = 'rejected' WHERE source = 'mcp:x' AND name = 'a'",
    "UPDATE decision SET at = at + 1 WHERE source = 'mcp:x' AND name = 'a'",
    "UPDATE decision SET pin = x'00' WHERE source = 'mcp:x' AND name = 'a'",
    "DELETE FROM decision WHERE source = 'mcp:x' AND name = 'a'",
    "DELETE FROM decision WHERE source = 'mcp:x'",
    "INSERT INTO decision VALUES ('mcp:x', 'c', 'approved', 'evil', 'operator', 1.5, '{}')",
    "UPDATE configuration SET entry = 'evil' WHERE source = 'mcp:x'",
    "DELETE FROM configuration WHERE source = 'mcp:x'",
]
OF_ALL = [
    "UPDATE source SET seal = x'00' WHERE id = 'mcp:x'",
    "UPDATE source SET used = used + 1 WHERE id = 'mcp:x'",
    "DELETE FROM source WHERE id = 'mcp:x'",
    "DELETE FROM source",
    "DELETE FROM whole",
    "UPDATE whole SET first_sight = 0",
    "UPDATE whole SET count = count + 1",
    "INSERT INTO whole SELECT * FROM whole",
]


@pytest.mark.plan(4)
@pytest.mark.parametrize("statement", OF_ONE)
def test_what_is_altered_or_missing_of_one_source_sets_all_of_it_aside(path, decisions, statement):
    for source in ("mcp:x", "mcp:y"):
        decisions.trust(source, SEEN)
        decisions.configured(source, '{"command":"npx"}')
    tamper(path, statement)
    for each in (decisions, Decisions(path, KEY)):
        with pytest.raises(StoreError, match=r"'mcp:x' were altered.*toolcrib review"):
            each.of("mcp:x")
        each.trust("mcp:x", {"a": ("evil", "{}"), "new": ("evil", "{}")})
        with pytest.raises(StoreError):
            each.of("mcp:x")
        assert len(pins(each, "mcp:y")) == 2
        assert each.trusts_first_sight
    each.close()


@pytest.mark.plan(4)
@pytest.mark.parametrize("statement", OF_ALL)
def test_a_broken_seal_of_the_whole_sets_everything_aside(path, decisions, statement):
    for source in ("mcp:x", "mcp:y"):
        decisions.trust(source, SEEN)
    tamper(path, statement)
    for each in (decisions, Decisions(path, KEY)):
        for source in ("mcp:x", "mcp:y", "mcp:new"):
            with pytest.raises(StoreError, match="toolcrib review"):
                each.of(source)
        assert not each.trusts_first_sight
        each.trust("mcp:new", SEEN)
    each.close()


@pytest.mark.plan(4)
def test_a_row_that_is_moved_to_another_source_sets_both_aside(path, decisions):
    for source in ("mcp:x", "mcp:y"):
        decisions.trust(source, {source[-1]: ("pin", "{}")})
    tamper(path, "UPDATE decision SET source = 'mcp:y' WHERE source = 'mcp:x'")
    for source in ("mcp:x", "mcp:y"):
        with pytest.raises(StoreError):
            decisions.of(source)


@pytest.mark.plan(4)
def test_an_older_copy_is_noticed(path, decisions):
    decisions.trust("mcp:x", SEEN)
    older = path.read_bytes()
    write_rejection(decisions, "mcp:x", "a", "pin a", "{}")
    decisions.close()
    path.write_bytes(older)
    rolled_back = Decisions(path, KEY)
    with pytest.raises(StoreError, match="older copy"):
        rolled_back.of("mcp:x")
    assert not rolled_back.trusts_first_sight
    rolled_back.close()


@pytest.mark.plan(4)
@pytest.mark.parametrize("content", [None, b"", b"1 00", b"junk"])
def test_a_count_that_is_gone_or_altered_is_noticed(path, decisions, content):
    decisions.trust("mcp:x", SEEN)
    decisions.close()
    counter = path.with_suffix(".counter")
    assert counter.stat().st_mode & 0o777 == 0o600
    counter.unlink() if content is None else counter.write_bytes(content)
    again = Decisions(path, KEY)
    with pytest.raises(StoreError, match="counter"):
        again.of("mcp:x")
    again.close()


@pytest.mark.plan(4)
def test_a_file_with_nothing_in_it_where_one_was_sealed_is_no_first_start(path, decisions):
    decisions.trust("mcp:x", SEEN)
    decisions.close()
    path.unlink()
    again = Decisions(path, KEY)
    assert not again.trusts_first_sight
    with pytest.raises(StoreError):
        again.of("mcp:x")
    again.close()


def test_a_crash_before_the_count_is_noted_is_no_doubt(path, decisions, monkeypatch):
    decisions.trust("mcp:x", SEEN)

    def dies(*_: object):
        raise KeyboardInterrupt

    monkeypatch.setattr(Seals, "note_count", dies)
    with pytest.raises(KeyboardInterrupt):
        write_approval(decisions, "mcp:x", "a", "new", "{}")
    monkeypatch.undo()
    decisions.close()
    again = Decisions(path, KEY)
    assert pins(again)["a"] == "new"
    write_approval(again, "mcp:x", "b", "new", "{}")
    assert pins(again)["b"] == "new"
    again.close()


def test_a_crash_of_the_first_start_is_no_doubt(path, monkeypatch):
    def dies(*_: object):
        raise KeyboardInterrupt

    monkeypatch.setattr(Seals, "note_count", dies)
    with pytest.raises(KeyboardInterrupt):
        Decisions(path, KEY)
    monkeypatch.undo()
    again = Decisions(path, KEY)
    assert again.trusts_first_sight
    again.trust("mcp:x", SEEN)
    assert len(pins(again)) == 2
    again.close()


@pytest.mark.parametrize("statement", [OF_ONE[0], OF_ONE[-2]])
def test_of_one_source_in_doubt_the_operator_decides_anew(path, decisions, statement):
    for source in ("mcp:x", "mcp:y"):
        decisions.trust(source, SEEN)
        decisions.configured(source, '{"command":"npx"}')
    tamper(path, statement)
    write_approval(decisions, "mcp:x", "a", "seen", "{}")
    assert pins(decisions) == {"a": "seen"}
    write_rejection(decisions, "mcp:x", "b", "seen", "{}")
    assert decisions.of("mcp:x")["b"].rejected.pin == "seen"
    assert len(pins(decisions, "mcp:y")) == 2
    decisions.trust("mcp:x", {"c": ("late", "{}")})
    assert pins(decisions) == {"a": "seen"}


@pytest.mark.parametrize("statement", OF_ALL)
def test_when_all_is_in_doubt_the_operator_starts_afresh(path, decisions, statement):
    for source in ("mcp:x", "mcp:y"):
        decisions.trust(source, SEEN)
    tamper(path, statement)
    write_approval(decisions, "mcp:x", "a", "seen", "{}")
    assert pins(decisions) == {"a": "seen"}
    assert pins(decisions, "mcp:y") == {}
    assert not decisions.trusts_first_sight
    decisions.set_first_sight(trusted=True)
    assert decisions.trusts_first_sight
    if "DELETE FROM source" not in statement:  # that they are known is not forgotten
        decisions.trust("mcp:y", SEEN)
        assert pins(decisions, "mcp:y") == {}


def test_many_writers_at_once_break_no_seal(path, decisions):
    def write(number: int) -> None:
        mine = Decisions(path, KEY)
        for turn in range(5):
            write_approval(mine, f"mcp:s{number}", f"t{turn}", "pin", "{}")
            assert mine.of(f"mcp:s{number}")
        mine.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(8)))
    assert all(len(pins(decisions, f"mcp:s{number}")) == 5 for number in range(8))


def test_another_key_reads_nothing(path, decisions):
    decisions.trust("mcp:x", SEEN)
    other = Decisions(path, bytes(31) + b"x")
    with pytest.raises(StoreError, match="altered"):
        other.of("mcp:x")
    assert not other.trusts_first_sight
    other.close()


def test_the_same_name_elsewhere_is_known_and_shown_and_approves_nothing(decisions):
    decisions.trust("mcp:x#1", SEEN)
    assert decisions.is_known("mcp:x#2")
    decisions.trust("mcp:x#2", {"a": ("pin a", "{}")})
    assert pins(decisions, "mcp:x#2") == {}
    assert {name: row.pin for name, row in decisions.elsewhere("mcp:x#2").items()} == {
        "a": "pin a",
        "b": "pin b",
    }
    write_approval(decisions, "mcp:x#3", "a", "later", "{}")
    assert decisions.elsewhere("mcp:x#2")["a"].pin == "later"
    assert decisions.elsewhere("mcp:xx#2") == {}
    assert pins(decisions, "mcp:x#1") == {"a": "pin a", "b": "pin b"}


@pytest.fixture
def days(path, monkeypatch):
    """Use a server on so many days, each in a process of its own."""
    clock = [time.time()]
    monkeypatch.setattr("toolcrib.store.decisions.time.time", lambda: clock[0])
    monkeypatch.setattr("toolcrib.store.decisions.RETENTION_S", 3 * DAY_S)

    def use(source, count, step=DAY_S):
        for _ in range(count):
            clock[0] += step
            each = Decisions(path, KEY)
            each.used(source)
            each.used(source)
            each.close()

    return use


def test_decisions_about_servers_long_gone_are_let_go_and_the_file_shrinks(path, decisions, days):
    large = {f"t{n}": (f"pin {n}", "x" * 10_000) for n in range(300)}
    decisions.trust("mcp:gone#1", large)
    decisions.trust("mcp:here#1", SEEN)
    size = path.stat().st_size
    days("mcp:here#1", 3)
    assert len(pins(decisions, "mcp:gone#1")) == 300
    days("mcp:here#1", 2)
    assert pins(decisions, "mcp:gone#1") == {}
    assert len(pins(decisions, "mcp:here#1")) == 2
    assert path.stat().st_size < size / 4
    decisions.trust("mcp:gone#1", SEEN)  # it is known all the same
    assert pins(decisions, "mcp:gone#1") == {}


def test_a_clock_that_is_set_wrong_costs_no_decision(decisions, days):
    decisions.trust("mcp:rare#1", SEEN)
    decisions.trust("mcp:here#1", SEEN)
    days("mcp:here#1", 2, step=400 * DAY_S)
    assert len(pins(decisions, "mcp:rare#1")) == 2


FORMER = """
    PRAGMA application_id = 0x746F6F64;
    CREATE TABLE decision (
        source TEXT, name TEXT, verdict TEXT, pin TEXT, by TEXT, at REAL, definition TEXT, mac BLOB,
        PRIMARY KEY (source, name, verdict)
    ) WITHOUT ROWID;
    CREATE TABLE first_sight (trusted INTEGER, mac BLOB);
    PRAGMA user_version = 1;
"""


def former(path: Path, *rows: tuple[str, str]) -> None:
    """A file of before: rows by source and name, each with a MAC of its own."""

    def mac(values: Sequence[object]) -> bytes:
        return hashlib.blake2b(canonical_json(list(values)).encode(), key=KEY).digest()

    path.parent.mkdir()
    db = apsw.Connection(str(path))
    db.execute(FORMER)
    db.execute("INSERT INTO first_sight VALUES (1, ?)", (mac(["first_sight", 1]),))
    for source, name in rows:
        definition = canonical_json({"config_hash": "h1"})
        values = [source, name, "approved", "pin", "first sight", 1.5, definition]
        db.execute("INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*values, mac(values)))
    db.close()


def test_decisions_of_before_are_taken_over_under_their_configuration(path):
    former(path, ("mcp:x", "a"), ("mcp:y", "b"))
    decisions = Decisions(path, KEY)
    assert decisions.trusts_first_sight
    assert pins(decisions, "mcp:x#h1") == {"a": "pin"}
    assert pins(decisions, "mcp:y#h1") == {"b": "pin"}
    assert decisions.is_known("mcp:x#h2")
    decisions.close()


def test_of_decisions_of_before_that_were_altered_none_is_taken_over(path):
    former(path, ("mcp:x", "a"), ("mcp:x", "b"), ("mcp:y", "b"))
    tamper(path, "UPDATE decision SET name = 'evil' WHERE source = 'mcp:x' AND name = 'a'")
    decisions = Decisions(path, KEY)
    assert pins(decisions, "mcp:x#h1") == {}
    assert decisions.is_known("mcp:x#h1")
    assert pins(decisions, "mcp:y#h1") == {"b": "pin"}
    decisions.close()


def test_after_a_loss_nothing_is_trusted_until_the_operator_says_so(path):
    lost = Decisions(path, KEY, lost=True)
    lost.trust("mcp:x", SEEN)
    assert pins(lost) == {}
    lost.close()
    later = Decisions(path, KEY)
    assert not later.trusts_first_sight
    later.set_first_sight(trusted=True)
    later.trust("mcp:x", SEEN)
    assert len(pins(later)) == 2
    later.close()


@pytest.mark.plan(4)
def test_that_first_sight_is_trusted_cannot_be_written_without_the_key(path):
    Decisions(path, KEY, lost=True).close()
    tamper(path, "UPDATE whole SET first_sight = 1")
    decisions = Decisions(path, KEY)
    assert not decisions.trusts_first_sight
    decisions.close()


@pytest.mark.plan(4)
def test_a_damaged_file_is_set_aside_and_approves_nothing(path):
    """Bit flips, cuts, and what is no database."""
    chance = random.Random(4)
    first = Decisions(path, KEY)
    first.trust("mcp:x", {f"t{n}": (f"pin {n}", "x" * 500) for n in range(50)})
    good = pins(first)
    first.close()
    whole = path.read_bytes()
    for _ in range(40):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 50)):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content[: chance.choice([len(content), chance.randrange(len(content))])])
        try:
            decisions = Decisions(path, KEY)
        except StoreError:  # it looks like another program's, or a newer one's
            continue
        try:
            assert pins(decisions).items() <= good.items()
            decisions.trust("mcp:x", {"t0": ("evil", "{}")})
            assert pins(decisions).get("t0") in (None, "pin 0")
        except StoreError:
            continue
        finally:
            decisions.close()


def test_what_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="decisions"):
        Decisions.prepare(tmp_path / "file" / "decisions.db")
    with pytest.raises(StoreError, match="decisions"):
        Decisions(tmp_path / "file" / "decisions.db", KEY)


def test_another_programs_database_is_left_alone(path):
    path.parent.mkdir()
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE precious (n)")
    db.close()
    with pytest.raises(StoreError, match="another program"):
        Decisions(path, KEY)


def test_what_is_inherited_is_all_of_it_and_once(decisions):
    decisions.trust("mcp:x#old", SEEN)
    write_rejection(decisions, "mcp:x#old", "b", "pin b", "{}")
    renew = lambda row: row._replace(pin=f"new {row.pin}")  # noqa: E731
    decisions.inherit("mcp:x#new", "mcp:x#old", renew)
    assert pins(decisions, "mcp:x#new") == {"a": "new pin a"}
    assert decisions.of("mcp:x#new")["b"].rejected.pin == "new pin b"
    write_rejection(decisions, "mcp:x#new", "a", "new pin a", "{}")
    decisions.inherit("mcp:x#new", "mcp:x#old", renew)
    assert pins(decisions, "mcp:x#new") == {}
    decisions.inherit("mcp:y#new", "mcp:y#old", renew)
    assert not decisions.is_known("mcp:y#new")


def test_nothing_is_inherited_from_under_a_broken_seal(path, decisions):
    decisions.trust("mcp:x#old", SEEN)
    tamper(path, "UPDATE decision SET pin = 'evil' WHERE name = 'a'")
    with pytest.raises(StoreError, match="altered"):
        decisions.inherit("mcp:x#new", "mcp:x#old", lambda row: row)
    assert decisions.of("mcp:x#new") == {}


def test_a_configuration_is_noted_of_what_is_known_alone(decisions):
    decisions.configured("mcp:x#a", "{}")
    assert decisions.configuration("mcp:x#a") is None
    decisions.trust("mcp:x#a", SEEN)
    decisions.configured("mcp:x#a", "{}")
    assert decisions.configuration("mcp:x#a") == "{}"
    assert decisions.configuration_elsewhere("mcp:x#b") == "{}"
    assert decisions.configuration_elsewhere("mcp:y#b") is None


def test_a_file_from_before_there_were_configurations_keeps_its_decisions(path, decisions):
    decisions.trust("mcp:x", SEEN)
    decisions.close()
    tamper(path, "DROP TABLE configuration", "PRAGMA user_version = 2")
    again = Decisions(path, KEY)
    assert pins(again) == {"a": "pin a", "b": "pin b"}
    again.close()


@pytest.fixture
def looks(monkeypatch):
    """How often the seal of the whole was checked."""
    seen: list[object] = []
    read = Seals.read
    monkeypatch.setattr(Seals, "read", lambda seals, db: seen.append(1) or read(seals, db))
    return seen


def test_the_seal_of_the_whole_is_checked_once_for_each_version(path, decisions, looks):
    for number in range(20):
        decisions.trust(f"mcp:x{number}#1", SEEN)
    again = Decisions(path, KEY)
    looks.clear()
    for number in range(20):
        assert len(pins(again, f"mcp:x{number}#1")) == 2
        assert again.mark(f"mcp:x{number}#1")
        assert again.elsewhere(f"mcp:x{number}#1") == {}
    assert len(looks) == 1
    write_approval(decisions, "mcp:x3#1", "a", "new", "{}")
    assert pins(again, "mcp:x3#1")["a"] == "new"
    assert len(pins(again, "mcp:x4#1")) == 2
    assert len(looks) <= 4  # one here, the rest by the one who wrote
    again.close()


@pytest.mark.plan(4)
def test_a_count_that_is_altered_meanwhile_is_noticed(path, decisions):
    decisions.trust("mcp:x", SEEN)
    assert len(pins(decisions)) == 2
    path.with_suffix(".counter").write_bytes(b"1 00")
    with pytest.raises(StoreError, match="counter"):
        decisions.of("mcp:x")
    assert decisions.mark("mcp:x") == ""


def test_a_mark_tells_of_every_decision_about_a_server_and_of_no_other(path, decisions):
    def marks() -> list[str]:
        return [decisions.mark(each) for each in ("mcp:x#1", "mcp:x#2", "mcp:y#1")]

    decisions.trust("mcp:x#1", SEEN)
    decisions.trust("mcp:y#1", SEEN)
    before = marks()
    assert all(before)
    assert marks() == before
    other = Decisions(path, KEY)
    assert other.mark("mcp:x#1") == before[0]
    write_rejection(other, "mcp:x#1", "a", "pin a", "{}")
    other.close()
    after = marks()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, True, False]
    decisions.set_first_sight(trusted=False)
    assert all(old != new for old, new in zip(after, marks(), strict=True))


@pytest.mark.plan(4)
@pytest.mark.parametrize("statement", OF_ALL)
def test_nothing_marks_what_no_seal_vouches_for(path, decisions, statement):
    decisions.trust("mcp:x", SEEN)
    tamper(path, statement)
    assert decisions.mark("mcp:x") == ""


@pytest.fixture
def checks(monkeypatch):
    """How often a file was looked through."""
    seen: list[object] = []
    check = CheckedFile._look_through
    counted = staticmethod(lambda db: seen.append(1) or check(db))
    monkeypatch.setattr(CheckedFile, "_look_through", counted)
    return seen


def test_a_file_is_looked_through_once_for_each_version(path, decisions, checks):
    decisions.trust("mcp:x", SEEN)
    decisions.close()
    for _ in range(3):
        Decisions(path, KEY).close()
    assert not checks
    tamper(path, "UPDATE decision SET pin = 'evil' WHERE name = 'a'")
    for _ in range(3):
        Decisions(path, KEY).close()
    assert len(checks) == 1


def test_what_we_write_over_a_file_that_is_in_doubt_does_not_clear_it(path, decisions, checks):
    path.with_suffix(".checked").unlink()
    decisions.trust("mcp:x", SEEN)
    decisions.close()
    Decisions(path, KEY).close()
    assert len(checks) == 1


def test_damage_that_is_met_on_the_way_is_looked_for_at_the_next_start(path, decisions):
    decisions.trust("mcp:x", {f"t{n}": (f"pin {n}", "x" * 500) for n in range(50)})
    decisions.close()
    noted = path.with_suffix(".checked")
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 200] = bytes(200)
    path.write_bytes(content)
    noted.write_bytes(CheckedFile(path)._version())  # as if the disk had done it, without a trace
    with pytest.raises(StoreError):
        Decisions(path, KEY).of("mcp:x")
    assert not noted.exists()
    again = Decisions(path, KEY)
    assert list(path.parent.glob("*.corrupt-1"))
    assert not again.trusts_first_sight
    again.close()


@pytest.mark.plan(4)
def test_of_another_configuration_under_a_broken_seal_nothing_is_shown(path, decisions):
    decisions.trust("mcp:x#1", SEEN)
    decisions.configured("mcp:x#1", "{}")
    tamper(path, "UPDATE decision SET definition = 'evil' WHERE name = 'a'")
    assert decisions.elsewhere("mcp:x#2") == {}
    assert decisions.configuration_elsewhere("mcp:x#2") is None
