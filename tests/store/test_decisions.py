import random
from pathlib import Path

import apsw
import pytest

from toolcrib.errors import StoreError
from toolcrib.store.decisions import Decided, Decisions, prepare
from toolcrib.store.verdicts import approve, reject, trust_first_sight

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
    assert pins(decisions) == {"a": "pin a", "b": "pin b", "c": "pin c"}
    assert decisions.of("mcp:y") == {}
    assert decisions.of("mcp:x")["a"].approved.by == "first sight"


def test_what_was_rejected_is_no_first_sight(decisions):
    reject(decisions, "mcp:x", "a", "pin a", "{}")
    decisions.trust("mcp:x", {"a": ("better", "{}")})
    assert decisions.of("mcp:x")["a"].approved is None


def test_an_approval_takes_the_place_of_all_before(decisions):
    decisions.trust("mcp:x", SEEN)
    reject(decisions, "mcp:x", "a", "new", "{}")
    assert decisions.of("mcp:x")["a"].approved.pin == "pin a"
    assert decisions.of("mcp:x")["a"].rejected.pin == "new"
    approve(decisions, "mcp:x", "a", "new", '{"x":1}')
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
    approve(decisions, "mcp:x", "a", "p", "{}")
    assert decisions.version() != between


@pytest.mark.parametrize("column", ["source", "name", "verdict", "pin", "by", "definition", "mac"])
def test_a_row_that_was_altered_approves_nothing(path, decisions, column):
    decisions.trust("mcp:x", {"a": ("pin a", "{}")})
    db = apsw.Connection(str(path))
    other = {"source": "mcp:y", "name": "b", "verdict": "rejected"}.get(column, "evil")
    db.execute(f"UPDATE decision SET {column} = ?", (other,))
    db.close()
    for source in ("mcp:x", "mcp:y"):
        assert pins(decisions, source) == {}
        assert all(one == Decided(doubtful=True) for one in decisions.of(source).values())


def test_a_row_that_was_altered_can_be_decided_anew(path, decisions):
    decisions.trust("mcp:x", SEEN)
    db = apsw.Connection(str(path))
    db.execute("UPDATE decision SET pin = 'evil'")
    db.close()
    approve(decisions, "mcp:x", "a", "seen", "{}")
    reject(decisions, "mcp:x", "b", "seen", "{}")
    assert pins(decisions) == {"a": "seen"}
    assert decisions.of("mcp:x")["b"].rejected.pin == "seen"


def test_another_key_reads_nothing(path, decisions):
    decisions.trust("mcp:x", SEEN)
    other = Decisions(path, bytes(31) + b"x")
    assert pins(other) == {}
    assert not other.trusts_first_sight
    other.close()


def test_after_a_loss_nothing_is_trusted_until_the_operator_says_so(path):
    lost = Decisions(path, KEY, lost=True)
    lost.trust("mcp:x", SEEN)
    assert pins(lost) == {}
    lost.close()
    later = Decisions(path, KEY)
    assert not later.trusts_first_sight
    trust_first_sight(later)
    later.trust("mcp:x", SEEN)
    assert len(pins(later)) == 2
    later.close()


def test_that_first_sight_is_trusted_cannot_be_written_without_the_key(path):
    Decisions(path, KEY, lost=True).close()
    db = apsw.Connection(str(path))
    db.execute("UPDATE first_sight SET trusted = 1")
    db.close()
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
        prepare(tmp_path / "file" / "decisions.db")
    with pytest.raises(StoreError, match="decisions"):
        Decisions(tmp_path / "file" / "decisions.db", KEY)


def test_another_programs_database_is_left_alone(path):
    path.parent.mkdir()
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE precious (n)")
    db.close()
    with pytest.raises(StoreError, match="another program"):
        Decisions(path, KEY)
