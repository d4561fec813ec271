"""One decision about deferral, in every mode."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.defaults import DEFERRAL
from tests.workshop import pooled
from toolcrib.access import Scope
from toolcrib.model import Defer, DeferralTrigger, Entry, EntryGroups, ToolInfo
from toolcrib.session import Deferral, DeferralPlan


def tool(number: int, defer: Defer = "automatic", *, required: bool = False) -> ToolInfo:
    return ToolInfo(name=f"t{number:03}", description="", defer=defer, required=required)


def plan(
    tools: Iterable[ToolInfo],
    deferral: Deferral | None = None,
    *,
    scope: Scope | None = None,
    is_late: bool = False,
    price: int = 0,
) -> DeferralPlan:
    return DeferralPlan.make(
        EntryGroups.of(pooled(*tools)),
        scope or Scope(),
        deferral or DEFERRAL,
        is_late=is_late,
        price=lambda some: price if [*some] else 0,
    )


def waiting(plan: DeferralPlan) -> list[str]:
    return [entry.name for entry in plan.deferred]


def shown(plan: DeferralPlan) -> list[str]:
    return [entry.name for entry in plan.core]


def planned(
    entries: Mapping[str, Entry], deferral: Deferral, price: int, *, is_late: bool
) -> DeferralPlan:
    """A plan of tools that cost as much together."""
    groups, each = EntryGroups.of(entries), price // max(len(entries), 1)
    return DeferralPlan.make(
        groups, Scope(), deferral, is_late=is_late, price=lambda some: each * len([*some])
    )


FIFTEEN = [tool(number) for number in range(15)]


def test_from_the_threshold_on_tools_wait():
    assert len(waiting(plan(FIFTEEN))) == 15
    assert not plan(FIFTEEN[1:]).deferring
    assert len(waiting(plan(FIFTEEN[:3], replace(DEFERRAL, threshold=3)))) == 3


def test_always_waits_at_any_size_and_never_at_none():
    few = [tool(1, "always"), tool(2), tool(3, "never")]
    assert (waiting(plan(few)), shown(plan(few))) == (["t001"], ["t002", "t003"])
    many = [*FIFTEEN, tool(20, "never"), tool(21, required=True)]
    assert shown(plan(many)) == ["t020", "t021"]


def test_never_defer_names_and_patterns():
    deferral = replace(DEFERRAL, never_defer=frozenset({"t003", "t01*"}))
    assert shown(plan(FIFTEEN, deferral)) == ["t003", "t010", "t011", "t012", "t013", "t014"]
    always = [*FIFTEEN[1:], tool(0, "always")]
    assert "t000" not in waiting(plan(always, replace(DEFERRAL, never_defer=frozenset({"t000"}))))


def test_off_defers_nothing():
    off = plan([*FIFTEEN, tool(20, "always")], replace(DEFERRAL, trigger=DeferralTrigger("off")))
    assert not off.deferring
    assert len(off.core) == 16


@pytest.mark.parametrize(("price", "deferring"), [(19_999, False), (20_000, True)])
def test_auto_defers_by_the_share_of_the_window(price: int, deferring: bool):
    assert (
        plan(FIFTEEN, replace(DEFERRAL, trigger=DeferralTrigger("auto", 10)), price=price).deferring
        is deferring
    )


def test_auto_defers_nothing_below_the_threshold():
    assert not plan(
        FIFTEEN[1:], replace(DEFERRAL, trigger=DeferralTrigger("auto", 10)), price=10**9
    ).deferring


def test_conversation_defers_once_it_is_late():
    deferral = replace(DEFERRAL, trigger=DeferralTrigger("conversation", 5), context_window=1_000)
    assert [deferral.is_late(used) for used in (0, 49, 50)] == [False, False, True]
    assert not replace(DEFERRAL, trigger=DeferralTrigger("on")).is_late(10**9)
    assert not plan(FIFTEEN, deferral).deferring
    assert plan(FIFTEEN, deferral, is_late=True).deferring


def test_what_the_caller_may_not_call_or_has_already_is_nowhere():
    scope = Scope(
        allowed=frozenset({"t00*"}), excluded=frozenset({"t001"}), bound=frozenset({"t002"})
    )
    made = plan([*FIFTEEN, tool(5, "never")][1:], scope=scope)
    assert {"t001", "t002", "t010"}.isdisjoint(waiting(made) + shown(made))
    assert "t003" in waiting(made) + shown(made)


def test_nothing_allowed_is_nothing_shown():
    nothing = plan(FIFTEEN, scope=Scope(allowed=frozenset()))
    assert not nothing.core
    assert not nothing.deferred


def test_what_no_search_returns_never_waits():
    hidden = [replace(each, searchable=False) for each in FIFTEEN]
    assert not plan(hidden).core
    assert not plan(hidden).deferred
    kept = plan([*hidden, replace(tool(20, "never"), searchable=False)])
    assert (shown(kept), waiting(kept)) == (["t020"], [])


def test_a_definition_that_waits_for_review_is_not_shown():
    entries = {name: each.in_state("changed") for name, each in pooled(*FIFTEEN).items()}
    groups = EntryGroups.of(entries)
    made = DeferralPlan.make(groups, Scope(), DEFERRAL, is_late=False, price=lambda _: 0)
    assert not made.core
    assert not made.deferred


def test_the_names_of_the_search_tool_are_taken():
    own = [ToolInfo(name=name, description="") for name in ("tool_search", "search_capability")]
    assert {"tool_search", "search_capability"}.isdisjoint(waiting(plan([*FIFTEEN, *own])))


DEFERS: st.SearchStrategy[Defer] = st.sampled_from(["never", "automatic", "always"])
TOOLS = st.lists(st.tuples(DEFERS, st.booleans(), st.booleans()), max_size=40)
MODES = st.sampled_from(["on", "auto", "auto:0", "auto:100", "conversation:50", "off"])


@given(
    drawn=TOOLS,
    mode=MODES,
    threshold=st.integers(0, 40),
    is_late=st.booleans(),
    price=st.integers(0, 300_000),
    chance=st.randoms(),
)
def test_every_tool_is_in_one_place_and_the_order_of_listing_does_not_matter(
    *,
    drawn: Sequence[tuple[Defer, bool, bool]],
    mode: str,
    threshold: int,
    is_late: bool,
    price: int,
    chance,
):
    tools = [
        replace(tool(number, defer, required=required), searchable=searchable)
        for number, (defer, required, searchable) in enumerate(drawn)
    ]
    entries = list(pooled(*tools).items())
    deferral = replace(DEFERRAL, trigger=DeferralTrigger.read(mode), threshold=threshold)
    made = planned(dict(entries), deferral, price, is_late=is_late)
    chance.shuffle(entries)
    again = planned(dict(entries), deferral, price, is_late=is_late)
    assert (shown(made), waiting(made)) == (shown(again), waiting(again))
    places = shown(made) + waiting(made)
    assert len(places) == len(set(places))
    for each in tools:
        kept = each.required or each.defer == "never"
        assert (each.name in shown(made)) or not kept
        assert (each.name in places) == (each.searchable or kept)
        if each.defer == "always" and each.searchable and not kept:
            assert (each.name in waiting(made)) == (mode != "off")
    assert made.deferring == bool(waiting(made))


@given(before=TOOLS, after=TOOLS, mode=MODES, threshold=st.integers(0, 40))
def test_a_plan_that_is_mended_is_as_one_that_is_made(
    before: Sequence[tuple[Defer, bool, bool]],
    after: Sequence[tuple[Defer, bool, bool]],
    mode: str,
    threshold: int,
):
    deferral = replace(
        DEFERRAL,
        trigger=DeferralTrigger.read(mode),
        threshold=threshold,
        never_defer=frozenset({"t00*", "t013"}),
    )
    scope = Scope(bound=frozenset({"t003"}), excluded=frozenset({"t01?"}))
    old, new = (
        pooled(
            *(
                replace(tool(number, defer, required=required), searchable=searchable)
                for number, (defer, required, searchable) in enumerate(drawn)
            )
        )
        for drawn in (before, after)
    )
    changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    plans = [
        DeferralPlan.make(
            EntryGroups.of(entries),
            scope,
            deferral,
            is_late=True,
            price=lambda some: sum(700 for _ in some),
        )
        for entries in (old, new)
    ]
    mended = plans[0].updated(plans[0].groups.changed(new, changed), changed)
    assert (shown(mended), waiting(mended)) == (shown(plans[1]), waiting(plans[1]))
    assert mended.summary(200) == plans[1].summary(200)
    assert [name for name in new if mended.defers(name)] == [
        name for name in new if name in set(waiting(mended))
    ]
    words = {name: mended.standing(new[name]).partition(": ") for name in new}
    assert {name for name, said in words.items() if said[0] == "waits"} == {*waiting(mended)}
    assert {name for name, said in words.items() if said[0] == "always shown"} == {*shown(mended)}
    assert {said[0] for said in words.values()} <= {"waits", "always shown", "never found"}
    assert all(said[2] for said in words.values())


@pytest.mark.parametrize(
    ("given", "mode", "said"),
    [
        (tool(1), "on", "waits: tool_search is on"),
        (tool(1), "auto:0", "waits: tool_search is auto"),
        (tool(1), "off", "always shown: tool_search is off"),
        (tool(1), "auto", "always shown: tool_search is auto"),
        (tool(1, "always"), "auto", "waits: defer is always"),
        (tool(1, "never"), "on", "always shown: defer is never"),
        (tool(1, required=True), "on", "always shown: required"),
        (tool(100), "on", "always shown: session.never_defer"),
        (replace(tool(1), searchable=False), "on", "never found: not searchable"),
        (tool(200), "on", "never found: excluded"),
    ],
)
def test_the_standing_of_a_tool_has_its_reason(given: ToolInfo, mode: str, said: str):
    more = [tool(number) for number in range(10, 30)]
    deferral = replace(
        DEFERRAL, trigger=DeferralTrigger.read(mode), never_defer=frozenset({"t100"})
    )
    made = plan([given, *more], deferral, scope=Scope(excluded=frozenset({"t200"})))
    assert made.standing(pooled(given)[given.name]) == said


def test_a_few_tools_are_always_shown_because_they_are_few():
    entries = pooled(*FIFTEEN[:3])
    assert plan(FIFTEEN[:3]).standing(entries["t001"]) == "always shown: fewer than 15 tools"


def test_no_definition_is_read_for_a_plan_or_its_summary():
    groups = EntryGroups.of(pooled(*FIFTEEN, tool(20, "never")))
    light = {name: Light(entry) for name, entry in groups.entries.items()}
    made = DeferralPlan.make(
        EntryGroups(cast("Mapping[str, Entry]", light), groups.groups),
        Scope(excluded=frozenset({"t01*"})),
        replace(DEFERRAL, never_defer=frozenset({"t003"}), threshold=3),
        is_late=False,
        price=lambda _: 0,
    )
    assert "t000, t001" in made.summary(400)
    assert made.core_names == ("t003", "t020")
    assert "t005" in made.deferred_by_name
    assert "t003" not in made.deferred_by_name


class Light:
    """An entry whose definition nobody may read."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    def __getattr__(self, name: str) -> object:
        assert name != "capability"
        return getattr(self._entry, name)
