"""What `DecisionStore` promises, on every engine. What seals add is in `tests/store`."""

from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest

from tests.contracts.conftest import Engine
from toolcrib.errors import StoreError
from toolcrib.store import Decision, DecisionStore

SOURCE, CHANGED, OTHER = "mcp:x#1", "mcp:x#2", "mcp:y#1"
SEEN = {"a": ("pin a", '{"a": 1}'), "b": ("pin b", "{}")}
AT = 1_800_000_000.0


@pytest.fixture
def decisions(engine: Engine) -> DecisionStore:
    return engine.open().decisions


def verdict(
    word: Literal["approved", "rejected"],
    pin: str,
    name: str = "a",
    source: str = SOURCE,
    at: float = AT,
) -> Decision:
    return Decision(source, name, word, pin, "operator", at, '{"ü": 1}')


def pins(decisions: DecisionStore, source: str = SOURCE) -> dict[str, tuple[str, str]]:
    """The approved and the rejected pin of each tool; "" where there is none."""
    found = decisions.of(source)
    return {
        name: (
            each.approved.pin if each.approved else "",
            each.rejected.pin if each.rejected else "",
        )
        for name, each in found.items()
    }


def test_nothing_is_decided_at_first_and_first_sight_is_trusted(decisions: DecisionStore):
    assert decisions.of(SOURCE) == {}
    assert decisions.elsewhere(SOURCE) == {}
    assert decisions.configuration(SOURCE) is None
    assert decisions.configuration_elsewhere(SOURCE) is None
    assert not decisions.is_known(SOURCE)
    assert decisions.trusts_first_sight
    assert decisions.mark(SOURCE)


def test_the_first_list_is_approved_and_no_later_one(decisions: DecisionStore):
    decisions.trust(SOURCE, SEEN)
    row = decisions.of(SOURCE)["a"].approved
    assert row
    assert row[:5] == (SOURCE, "a", "approved", "pin a", "first sight")
    assert row.definition == '{"a": 1}'
    assert decisions.is_known(SOURCE)
    decisions.trust(SOURCE, {"a": ("other", "{}"), "c": ("new", "{}")})
    assert pins(decisions) == {"a": ("pin a", ""), "b": ("pin b", "")}


def test_a_server_is_known_under_whatever_configuration(decisions: DecisionStore):
    decisions.trust(SOURCE, SEEN)
    assert decisions.is_known(CHANGED)
    assert not decisions.is_known(OTHER)
    decisions.trust(CHANGED, SEEN)
    assert decisions.of(CHANGED) == {}
    decisions.trust(OTHER, SEEN)
    assert pins(decisions, OTHER) == {"a": ("pin a", ""), "b": ("pin b", "")}


def test_a_server_that_listed_nothing_is_known(decisions: DecisionStore):
    decisions.trust(SOURCE, {})
    assert decisions.is_known(SOURCE)
    decisions.trust(SOURCE, SEEN)
    assert decisions.of(SOURCE) == {}


def test_first_sight_is_trusted_only_as_long_as_the_operator_says(decisions: DecisionStore):
    decisions.set_first_sight(trusted=False)
    assert not decisions.trusts_first_sight
    decisions.trust(SOURCE, SEEN)
    assert decisions.of(SOURCE) == {}
    decisions.set_first_sight(trusted=True)
    assert decisions.trusts_first_sight


def test_an_approval_is_in_place_of_all_that_was_decided_of_the_tool(decisions: DecisionStore):
    decisions.trust(SOURCE, SEEN)
    decisions.reject(verdict("rejected", "new"))
    decisions.approve(verdict("approved", "new"))
    assert pins(decisions) == {"a": ("new", ""), "b": ("pin b", "")}
    assert decisions.of(SOURCE)["a"].approved == verdict("approved", "new")


def test_a_rejection_leaves_an_approval_of_another_definition(decisions: DecisionStore):
    decisions.trust(SOURCE, SEEN)
    decisions.reject(verdict("rejected", "new"))
    assert pins(decisions)["a"] == ("pin a", "new")
    decisions.reject(verdict("rejected", "newer"))
    assert pins(decisions)["a"] == ("pin a", "newer")
    decisions.reject(verdict("rejected", "pin a"))
    assert pins(decisions)["a"] == ("", "pin a")
    assert pins(decisions)["b"] == ("pin b", "")


def test_a_verdict_makes_a_source_known(decisions: DecisionStore):
    decisions.approve(verdict("approved", "pin"))
    assert decisions.is_known(SOURCE)


def test_what_was_approved_of_a_changed_server_is_found_the_latest_first(decisions: DecisionStore):
    decisions.approve(verdict("approved", "old", source="mcp:x#0", at=AT))
    decisions.approve(verdict("approved", "later", source=SOURCE, at=AT + 1))
    decisions.reject(verdict("rejected", "bad", name="b", source=SOURCE))
    decisions.approve(verdict("approved", "own", source=CHANGED, at=AT + 2))
    decisions.approve(verdict("approved", "other", source=OTHER, at=AT + 3))
    assert {name: row.pin for name, row in decisions.elsewhere(CHANGED).items()} == {"a": "later"}


def test_how_a_source_was_configured_is_known_with_its_decisions(decisions: DecisionStore):
    decisions.configured(SOURCE, '{"command": "x"}')
    assert decisions.configuration(SOURCE) is None
    decisions.trust(SOURCE, SEEN)
    for entry in ('{"command": "x"}', '{"command": "ü"}'):
        decisions.configured(SOURCE, entry)
        assert decisions.configuration(SOURCE) == entry
        assert decisions.configuration_elsewhere(CHANGED) == entry
    assert decisions.configuration_elsewhere(SOURCE) is None


def test_what_was_decided_is_inherited_whole_and_once(decisions: DecisionStore):
    decisions.trust(SOURCE, SEEN)
    decisions.reject(verdict("rejected", "bad"))
    decisions.configured(SOURCE, '{"command": "x"}')

    def renewed(row: Decision) -> Decision:
        return row._replace(pin=f"new {row.pin}")

    decisions.inherit(CHANGED, SOURCE, renewed)
    expected = {"a": ("new pin a", "new bad"), "b": ("new pin b", "")}
    assert pins(decisions, CHANGED) == expected
    decisions.approve(verdict("approved", "later"))
    decisions.inherit(CHANGED, SOURCE, renewed)
    assert pins(decisions, CHANGED) == expected
    assert decisions.is_known(SOURCE)
    assert decisions.configuration(CHANGED) == '{"command": "x"}'
    decisions.inherit("mcp:x#third", SOURCE, renewed)
    assert "b" not in pins(decisions, "mcp:x#third")  # what was inherited is not there any more
    decisions.inherit(OTHER, "mcp:none#1", renewed)
    assert not decisions.is_known(OTHER)


def test_marks_and_versions_tell_what_was_decided_elsewhere(engine: Engine):
    here, there = engine.open().decisions, engine.open().decisions
    here.trust(SOURCE, SEEN)
    here.trust(OTHER, SEEN)
    sources = (SOURCE, CHANGED, OTHER)
    before, version = [*map(here.mark, sources)], here.version()
    assert [*map(here.mark, sources)] == before
    assert here.version() == version
    there.reject(verdict("rejected", "pin a"))
    after = [*map(here.mark, sources)]
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, True, False]
    assert here.version() != version
    assert pins(here)["a"] == ("", "pin a")
    there.set_first_sight(trusted=False)
    assert all(old != new for old, new in zip(after, map(here.mark, sources), strict=True))


def test_use_is_noted_and_changes_no_decision(decisions: DecisionStore):
    decisions.used(SOURCE)
    decisions.trust(SOURCE, SEEN)
    mark = decisions.mark(SOURCE)
    decisions.used(SOURCE, OTHER)
    assert decisions.mark(SOURCE) == mark
    assert not decisions.is_known(OTHER)


def test_it_lasts_longer_than_a_process(engine: Engine):
    before = engine.open()
    before.decisions.trust(SOURCE, SEEN)
    before.decisions.reject(verdict("rejected", "pin b", name="b"))
    before.close()
    after = engine.open().decisions
    assert pins(after) == {"a": ("pin a", ""), "b": ("", "pin b")}
    assert after.trusts_first_sight


def test_of_many_first_sights_at_once_one_counts(engine: Engine):
    places = [engine.open().decisions for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        list(
            threads.map(
                lambda n: places[n % 4].trust(SOURCE, {"a": (str(n), "{}"), "b": (str(n), "{}")}),
                range(8),
            )
        )
    found = {each for each, _ in pins(places[0]).values()}
    assert len(found) == 1


def test_no_verdict_of_many_at_once_is_lost(engine: Engine):
    places = [engine.open().decisions for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        list(
            threads.map(
                lambda n: places[n % 4].approve(verdict("approved", str(n), name=f"t{n}")),
                range(24),
            )
        )
    assert pins(places[1]) == {f"t{n}": (str(n), "") for n in range(24)}


def test_what_is_closed_says_so(decisions: DecisionStore):
    decisions.close()
    with pytest.raises(StoreError):
        decisions.of(SOURCE)
