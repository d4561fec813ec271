"""What the rules deny somebody is not shown to them, and what a person approves is marked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.execute.counting import CountingSource
from tests.gateway.clients import (
    ERAS,
    Era,
    Workshop,
    asked,
    connected,
    error_of,
    shop_tools,
    words,
)
from toolcrib.crib import Crib, searcher_of
from toolcrib.execute import Caller, ProfileRules, Rule
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.model import ASKS, Entry, Query
from toolcrib.review import drop_rule, put_rules
from toolcrib.settings import ApprovalRule, ApprovalSettings, Settings, rules_file

CANCEL, LOOK, GEAR = "mcp_shop_cancel_order", "mcp_shop_look_up_order", "mcp_shop_turn_gear_1"
DENY = ApprovalRule(verdict="deny", pattern="shop/cancel_order", profile="agents")
ASK = ApprovalRule(verdict="ask", pattern="shop/look_up_order")
ALLOW = ApprovalRule(verdict="allow")


def shop_of(*rules: ApprovalRule, tools: int = 20, **settings: Any) -> Workshop:
    approval = ApprovalSettings(rules=(*rules, ALLOW), wait_s=0)
    return Workshop(*shop_tools(tools), approval=approval, **settings)


def another_shop(tools: int) -> CountingSource:
    source = CountingSource(*(replace(each, source_id="other") for each in shop_tools(tools)))
    source.id = "other"
    return source


def ann(mode: Any = "search", **others: Any) -> Principal:
    return Principal("ann", Profile("agents", mode=mode, **others))


async def listed(client: Any) -> Sequence[Any]:
    return (await client.list_tools()).tools


@pytest.mark.parametrize("era", ERAS)
def test_a_denied_tool_is_not_shown_to_the_caller_it_is_denied_for(era: Era):
    shop = shop_of(DENY, ASK)

    async def run(principal: Principal, *, denied: bool) -> None:
        async with connected(shop.server(principal), era) as client:
            for query in ("cancel an order", "", f"select:{CANCEL}", "+cancel_order"):
                found = await client.call_tool("tool_search", {"queries": [query]})
                assert (f"{CANCEL}(" in words(found)) is not (denied or not query), query
                assert (CANCEL in (found.meta or {})["toolcrib/tools"]) is not (denied or not query)
            told = await client.call_tool("tool_describe", {"names": [CANCEL]})
            assert ("Parameters:" in words(told)) is not denied
            assert ("the operator's rules deny" in words(told)) is denied
            called = await client.call_tool("tool_call", {"name": CANCEL, "arguments": {}})
            assert called.is_error is denied
            if denied:
                assert error_of(called)["code"] == "approval_denied"
            near = await client.call_tool("tool_call", {"name": "cancel_orde", "arguments": {}})
            assert (CANCEL in words(near)) is not denied

    asked(lambda: run(ann(), denied=True))
    asked(lambda: run(Principal("ann"), denied=False))
    assert len(shop.source.reached) == 1


@pytest.mark.parametrize("mode", ["direct", "passthrough", "search"])
@pytest.mark.parametrize("era", ERAS)
def test_no_list_has_a_denied_tool_and_each_says_what_a_person_approves(era: Era, mode: Any):
    shop = shop_of(DENY, ASK, tools=4)
    principal = ann(mode, pins=frozenset({"shop/*"}))

    async def run() -> None:
        async with connected(shop.server(principal), era) as client:
            about = {each.name: each.description or "" for each in await listed(client)}
            assert CANCEL not in about
            assert ASKS in about[LOOK]
            assert ASKS not in about[GEAR]

    asked(run)


@pytest.mark.parametrize("era", ERAS)
def test_what_a_person_approves_says_so_where_a_model_reads_it(era: Era):
    shop = shop_of(ASK)

    async def run() -> None:
        async with connected(shop.server(ann()), era) as client:
            for query in ("look up an order", f"select:{LOOK}"):
                found = await client.call_tool("tool_search", {"queries": [query]})
                line = next(each for each in words(found).splitlines() if f"- {LOOK}(" in each)
                assert f"[read, {ASKS}]" in line
            told = await client.call_tool("tool_describe", {"names": [LOOK, GEAR]})
            assert words(told).count(ASKS) == 1

    asked(run)


@pytest.mark.parametrize("era", ERAS)
def test_programs_are_shown_no_denied_function_and_which_ones_a_person_approves(era: Era):
    shop = shop_of(DENY, ASK)

    async def run() -> None:
        async with connected(shop.server(ann("code")), era) as client:
            found = words(await client.call_tool("tool_search", {"query": "look up an order"}))
            assert f"# [{ASKS}]\nasync def shop.look_up_order" in found
            found = words(await client.call_tool("tool_search", {"query": "cancel an order"}))
            assert "cancel_order" not in found

    asked(run)


def test_a_session_of_a_program_offers_no_denied_tool_either():
    shop, caller = shop_of(DENY), Caller("ann", profile="agents")
    shop.crib.add(cancel_all, tags=["order"])
    for search, offers in (("on", 0), ("off", 1)):
        opened = shop.crib.session(caller=caller, tool_search=search)
        listed = [*opened.active_tools(), *opened.deferred_tools(), *opened.search("cancel").tools]
        assert CANCEL not in {each.name for each in listed}
        assert CANCEL not in opened.deferred_summary()
        assert CANCEL not in opened.search("").text()
        others = shop.crib.session(tool_search=search)
        assert CANCEL in {each.name for each in (*others.core_tools(), *others.deferred_tools())}
        assert bool(offers) is not others.deferring


def cancel_all() -> None:
    """Cancel every order."""


def test_it_takes_no_place_in_a_ranking_and_why_says_that_a_rule_denies_it():
    shop = shop_of(ApprovalRule(verdict="deny", pattern="shop/turn_gear_*"))
    shop.crib.add_source(another_shop(3))
    hits = shop.crib.search("turn the gear", limit=1)
    assert [each.name for each in hits] == ["mcp_other_turn_gear_0"]
    assert shop.crib.explain("turn the gear", GEAR).hidden == "denied"


def test_the_first_rule_that_fits_decides_and_a_rule_of_a_kind_is_for_that_kind():
    denied = ApprovalRule(verdict="deny", pattern="shop/*", kind="write")
    shop = shop_of(ApprovalRule(verdict="allow", pattern="shop/turn_gear_1"), denied)
    names = shop.crib.session(tool_search="off").core_names
    assert set(names) == {CANCEL, LOOK, GEAR}


def test_a_rule_counts_at_once_for_what_is_found_and_listed_by_then():
    with Crib.from_settings(Settings(store=":memory:").read_from(None)) as crib:
        crib.add_source(CountingSource(*shop_tools(4)))
        opened = crib.session(tool_search="off")
        before = searcher_of(crib).search(Query("cancel"), caller=Caller("ann"))
        assert CANCEL in opened.core_names
        assert CANCEL in {each.name for each in before}
        rule = Rule("deny", "shop/cancel_order")
        put_rules(rules_file(), [rule])
        assert CANCEL not in opened.core_names
        assert CANCEL not in {each.name for each in crib.search("cancel")}
        crib.add_source(another_shop(4))
        assert CANCEL not in {each.name for each in crib.search("cancel")}
        drop_rule(rules_file(), rule)
        assert CANCEL in {each.name for each in crib.search("cancel")}
        assert opened.core_names


def test_rules_are_read_for_the_sources_that_they_deny_something_of_and_once(
    monkeypatch: pytest.MonkeyPatch,
):
    looked: list[str] = []
    real = ProfileRules.denies

    def denies(self: ProfileRules, entry: Entry) -> bool:
        looked.append(entry.name)
        return real(self, entry)

    monkeypatch.setattr(ProfileRules, "denies", denies)
    shop = shop_of(DENY, ASK, tools=9)
    shop.crib.add_source(another_shop(50))
    for _ in range(3):
        shop.crib.search("cancel", caller=Caller("ann", profile="agents"))
        shop.crib.search("cancel")
    assert sorted(looked) == sorted(f"mcp_shop_{each.name}" for each in shop_tools(9))
