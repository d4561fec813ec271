"""Reveal sets, held against a plain model of what they promise."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from tests.plan import amount
from toolcrib.gateway import reveal_sets
from toolcrib.gateway.reveal_sets import KEPT_S, RevealSets

NAMES = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("123"), max_size=4)
GUESTS = ("ann", "bob")
SMALL = {"MOST_SETS": 3, "MOST_TOOLS": 4}


class RevealSetsMachine(RuleBasedStateMachine):
    """Two guests, each with sets of their own, and a clock."""

    handles = Bundle("handles")

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.sets = {guest: RevealSets(lambda: self.now) for guest in GUESTS}
        self.model: dict[str, dict[str, tuple[float, dict[str, str]]]] = {g: {} for g in GUESTS}

    def known(self, guest: str, handle: str) -> dict[str, str] | None:
        """What the model has of a handle; what has expired, or was too much, it has not."""
        mine = self.model[guest]
        for old in [each for each, (expires, _) in mine.items() if expires <= self.now]:
            del mine[old]
        return mine[handle][1] if handle in mine else None

    def used(self, guest: str, handle: str, pins: dict[str, str]) -> None:
        self.model[guest].pop(handle, None)
        kept = dict(list(pins.items())[-SMALL["MOST_TOOLS"] :])
        self.model[guest][handle] = self.now + KEPT_S, kept
        while len(self.model[guest]) > SMALL["MOST_SETS"]:
            del self.model[guest][next(iter(self.model[guest]))]

    @rule(target=handles, guest=st.sampled_from(GUESTS), pins=NAMES)
    def make(self, guest: str, pins: dict[str, str]) -> str:
        handle = self.sets[guest].add("", pins)
        assert handle not in self.model[guest]
        assert len(handle) >= 22  # 128 bits
        self.used(guest, handle, pins)
        return handle

    @rule(target=handles, guest=st.sampled_from(GUESTS), handle=handles, pins=NAMES)
    def add(self, guest: str, handle: str, pins: dict[str, str]) -> str:
        known = self.known(guest, handle)
        given = self.sets[guest].add(handle, pins)
        assert (given == handle) == (known is not None)
        self.used(guest, given, {**(known or {}), **pins})
        return given

    @rule(guest=st.sampled_from(GUESTS), handle=handles)
    def look(self, guest: str, handle: str) -> None:
        known = self.known(guest, handle)
        found = self.sets[guest].pins(handle)
        assert found == known
        if known is not None:
            assert list(found or ()) == list(known)
            self.used(guest, handle, known)

    @rule(seconds=st.sampled_from([1.0, KEPT_S / 2, KEPT_S]))
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
