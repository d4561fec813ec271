"""Reveal sets, held against a plain model of what they promise."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from tests.plan import amount
from toolcrib.gateway import reveal_sets
from toolcrib.gateway.reveal_sets import UNUSED_S, RevealSets

NAMES = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("123"), max_size=4)
GUESTS = ("ann", "bob")
SMALL = {"MOST_SETS": 3, "MOST_TOOLS": 4}


class RevealSetsMachine(RuleBasedStateMachine):
    """Two principals, each with sets of their own, and a clock."""

    handles = Bundle("handles")

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.sets = {principal: RevealSets(lambda: self.now) for principal in GUESTS}
        self.model: dict[str, dict[str, tuple[float, dict[str, str]]]] = {g: {} for g in GUESTS}

    def known(self, principal: str, handle: str) -> dict[str, str] | None:
        """What the model has of a handle; what has expired, or was too much, it has not."""
        mine = self.model[principal]
        for old in [each for each, (expires, _) in mine.items() if expires <= self.now]:
            del mine[old]
        return mine[handle][1] if handle in mine else None

    def used(self, principal: str, handle: str, pins: dict[str, str]) -> None:
        self.model[principal].pop(handle, None)
        kept = dict(list(pins.items())[-SMALL["MOST_TOOLS"] :])
        self.model[principal][handle] = self.now + UNUSED_S, kept
        while len(self.model[principal]) > SMALL["MOST_SETS"]:
            del self.model[principal][next(iter(self.model[principal]))]

    @rule(target=handles, principal=st.sampled_from(GUESTS), pins=NAMES)
    def make(self, principal: str, pins: dict[str, str]) -> str:
        handle = self.sets[principal].add("", pins)
        assert handle not in self.model[principal]
        assert len(handle) >= 22  # 128 bits
        self.used(principal, handle, pins)
        return handle

    @rule(target=handles, principal=st.sampled_from(GUESTS), handle=handles, pins=NAMES)
    def add(self, principal: str, handle: str, pins: dict[str, str]) -> str:
        known = self.known(principal, handle)
        given = self.sets[principal].add(handle, pins)
        assert (given == handle) == (known is not None)
        self.used(principal, given, {**(known or {}), **pins})
        return given

    @rule(principal=st.sampled_from(GUESTS), handle=handles)
    def look(self, principal: str, handle: str) -> None:
        known = self.known(principal, handle)
        found = self.sets[principal].pins(handle)
        assert found == known
        if known is not None:
            assert list(found or ()) == list(known)
            self.used(principal, handle, known)

    @rule(seconds=st.sampled_from([1.0, UNUSED_S / 2, UNUSED_S]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def stays_within_bounds(self) -> None:
        for each in self.sets.values():
            assert len(each._sets) <= SMALL["MOST_SETS"]
            assert all(len(kept.pins) <= SMALL["MOST_TOOLS"] for kept in each._sets.values())


@pytest.mark.plan(58)
def test_reveal_sets_keep_what_they_promise(monkeypatch: pytest.MonkeyPatch):
    from hypothesis import settings  # noqa: PLC0415 - its name is that of our own
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415

    for name, value in SMALL.items():
        monkeypatch.setattr(reveal_sets, name, value)
    run_state_machine_as_test(
        RevealSetsMachine,
        settings=settings(max_examples=amount(58, "histories"), stateful_step_count=40),
    )
