"""Programs that the operator keeps as tools."""

import asyncio
import json
import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.execute.counting import ANN, CountingSource
from tests.program.conftest import QUIET, made_shop
from tests.waiting import let_pass_async
from tests.workshop import soon
from toolcrib import Crib, Settings
from toolcrib.access import Scope
from toolcrib.crib import inventory_of, recipes_of
from toolcrib.errors import ConfigError, NameTaken
from toolcrib.execute import ApprovalRequest, Caller, DenyingApprover
from toolcrib.model import Call, Outcome
from toolcrib.program import ProgramCall
from toolcrib.program.recipe import recipe_parameters
from toolcrib.program.recipe_book import MOST_PROPOSALS, MOST_PROPOSED, RecipeBook
from toolcrib.settings import default_settings

LOOK_AND_SELL = "await shop.look(at=place)\nawait shop.sell(what=what)\nplace * times"
INPUTS = ("place:int", "what:str", "times:int=2")

Place = tuple[Crib, CountingSource]


@pytest.fixture
def place() -> Generator[Place]:
    shop = made_shop()
    with Crib(Settings(**QUIET)) as crib:
        crib.add_source(shop)
        yield crib, shop


def saved(crib: Crib, name: str = "restock", program: str = LOOK_AND_SELL) -> None:
    recipes_of(crib).save(name, program, description="Restock a shelf", inputs=INPUTS)


def called(crib: Crib, caller: Caller = ANN, name: str = "restock", **more) -> Outcome:
    arguments = {"place": 3, "what": "a chair", **more}
    return asyncio.run(crib.call(name, arguments, caller=caller))


def code(outcome: Outcome) -> str:
    return outcome.error.code if outcome.error else ""


def names(shop: CountingSource) -> list[str]:
    return [call.name for call in shop.reached]


def relist(crib: Crib, shop: CountingSource, **facts) -> None:
    shop.tools["sell"] = replace(shop.tools["sell"], **facts)
    inventory_of(crib).relist(shop)


def test_a_recipe_is_a_tool_with_typed_inputs(place: Place):
    crib, shop = place
    saved(crib)
    tool = crib.get("restock").capability
    assert (tool.permission_kind, tool.category, tool.source) == ("write", "recipe", "builtin")
    assert crib.search("restock a shelf")[0].name == "restock"
    assert "async def tools.restock(*, place: int, what: str, times: int = 2)" in crib.signature(
        "restock"
    )
    assert called(crib).content == 6
    assert called(crib, times=5).content == 15
    assert names(shop) == ["look", "sell"] * 2
    assert code(called(crib, place="here")) == "bad_arguments"
    assert code(called(crib, plaice=1)) == "bad_arguments"


def test_a_program_calls_a_recipe(place: Place):
    crib, _shop = place
    saved(crib)
    program = "[await tools.restock(place=n, what='x') for n in range(3)]"
    assert asyncio.run(crib.run(program, caller=ANN)).value == [0, 2, 4]


def test_it_widens_nobodys_rights(place: Place):
    """Whoever may not call one of its tools cannot through it, and nothing else is called."""
    crib, shop = place
    saved(crib)
    fewer = Caller("ann", Scope(allowed=frozenset({"restock", "shop/look"})))
    assert code(called(crib, fewer)) == "not_allowed"
    assert code(called(crib, Caller("ann", Scope(allowed=frozenset({"shop/*"}))))) == "not_allowed"
    assert code(called(crib, Caller("ann", may_call=False))) == "not_allowed"
    assert names(shop) == []


def test_nobody_reaches_it_but_by_the_door(place: Place):
    crib, shop = place
    saved(crib)
    source = inventory_of(crib).pool.source_of("restock")
    call = Call("restock", {"place": 3, "what": "x"})
    assert code(asyncio.run(source.call(call, soon()))) == "not_allowed"
    assert names(shop) == []


def test_a_changed_tool_sets_it_aside_until_it_is_reviewed(place: Place):
    crib, shop = place
    saved(crib)
    before = crib.get("restock").pin
    relist(crib, shop, description="Sell the whole shop")
    entry = crib.get("restock")
    assert (entry.state, "toolcrib recipes review restock" in entry.remedy) == ("changed", True)
    assert code(called(crib)) == "changed"
    assert names(shop) == []
    assert recipes_of(crib).show("restock").changed == ["mcp_shop_sell"]
    recipes_of(crib).review("restock")
    assert crib.get("restock").pin != before
    assert called(crib).content == 6


def test_a_tool_that_is_gone_sets_it_aside(place: Place):
    crib, shop = place
    saved(crib)
    del shop.tools["sell"]
    inventory_of(crib).relist(shop)
    assert crib.get("restock").state == "changed"
    assert code(called(crib)) == "changed"
    with pytest.raises(ConfigError, match="cannot be kept"):
        recipes_of(crib).review("restock")


def test_the_state_of_its_tools_is_looked_at_again_as_it_runs(place: Place):
    """Whatever the pool says of the recipe itself."""
    crib, shop = place
    saved(crib)
    inventory_of(crib).pool.events._listeners["TOOLS_UPDATED"].popitem()
    relist(crib, shop, description="Sell the whole shop")
    assert crib.get("restock").state == "ready"
    assert code(called(crib)) == "changed"
    assert names(shop) == []


@pytest.mark.parametrize("name", ["again", "restock"])
def test_a_recipe_calls_no_recipe_and_itself_neither(place: Place, name: str):
    crib, _shop = place
    saved(crib)
    with pytest.raises(ConfigError, match="a recipe calls no other recipe"):
        saved(crib, name, "await tools.restock(place=1, what='x')")


def test_where_a_person_is_needed_the_same_call_goes_on(place: Place):
    """What was called before is not called again, and another call is another one."""
    crib, shop = place
    crib.add(pay, approval="ask")
    saved(crib, program="await shop.look(at=place)\nawait tools.pay(to=what)")
    waiting = called(crib)
    assert waiting.error
    assert waiting.error.code == "approval_needed"
    assert "make the same call again" in waiting.error.message
    assert code(called(crib)) == "approval_needed"
    assert names(shop) == ["look"]
    assert crib.operator.tickets.approve(waiting.error.ticket)
    assert code(called(crib, Caller("bob"))) == "approval_needed"
    assert called(crib).content == "paid a chair"
    assert names(shop) == ["look", "look"]


def test_the_same_call_twice_at_once_waits_once(place: Place):
    crib, _shop = place
    crib.add(pay, approval="ask")
    saved(crib, program="await tools.pay(to=what)")

    async def both() -> list[Outcome]:
        calls = [crib.call("restock", {"place": 1, "what": "x"}, caller=ANN) for _ in range(2)]
        return await asyncio.gather(*calls)

    codes = sorted(map(code, asyncio.run(both())))
    assert codes in (["approval_needed"] * 2, ["approval_needed", "program_failed"])
    [ticket] = crib.operator.tickets.waiting()
    crib.operator.tickets.approve(ticket.id)
    again = asyncio.run(crib.call("restock", {"place": 1, "what": "x"}, caller=ANN))
    assert again.content == "paid x"


def test_a_recipe_that_waits_goes_on_only_by_its_call(place: Place):
    """By the handle alone its own gates would be passed by."""
    crib, _shop = place
    crib.add(pay, approval="ask")
    saved(crib, program="await tools.pay(to=what)")
    waiting = called(crib)
    assert waiting.error
    assert crib.operator.tickets.approve(waiting.error.ticket)
    recipe = recipes_of(crib).show("restock").recipe
    handle = recipe.handle({"place": 3, "what": "a chair"}, "ann")
    assert code(asyncio.run(crib.resume(handle, caller=ANN))) == "unknown_handle"
    recipes_of(crib).remove("restock")
    assert code(called(crib)) == "unknown_tool"


def test_a_program_waits_with_the_recipe_that_it_calls(place: Place):
    crib, _shop = place
    crib.add(pay, approval="ask")
    saved(crib, program="await tools.pay(to=what)")
    run = "await tools.restock(place=1, what='ann')"
    waiting = asyncio.run(crib.run(run, caller=ANN))
    assert waiting.error
    assert crib.operator.tickets.approve(waiting.error.ticket)
    assert asyncio.run(crib.resume(waiting.suspended, caller=ANN)).value == "paid ann"


def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}"


@pytest.mark.parametrize(
    "given",
    "city city:text 2:int tools:str class:str _x:int shop:str x:int=a x:int=True".split(),
)
def test_an_input_that_is_none_is_refused(given: str):
    with pytest.raises(ConfigError):
        recipe_parameters([given], ["shop"])


def test_defaults_are_written_as_in_python():
    schema = recipe_parameters(["a:str=x", "b:list[int]=[1]", "c:float=1", "d:bool=True", "e:dict"])
    properties = json.loads(json.dumps(schema))["properties"]
    assert [each.get("default") for each in properties.values()] == ["x", [1], 1, True, None]
    assert schema["required"] == ["e"]


@pytest.mark.parametrize("name", ["Restock", "a b", "../x", "tool_search", "class", ""])
def test_a_name_that_is_none_is_refused(place: Place, name: str):
    with pytest.raises(ConfigError, match="name of a recipe"):
        saved(place[0], name)


def test_the_name_of_another_tool_is_taken(place: Place):
    crib, _shop = place
    crib.add(pay)
    with pytest.raises(NameTaken):
        saved(crib, "pay", "1")


def test_a_proposal_is_nothing_until_the_operator_accepts_it(place: Place):
    crib, _shop = place
    for _ in range(2):
        assert crib.propose_recipe("await shop.look(at=1)", "Look at one", caller=ANN)
    assert not [entry for entry in crib.entries().values() if entry.category == "recipe"]
    desk = recipes_of(crib)
    [made] = desk.proposals()
    assert (made.purpose, made.caller) == ("Look at one", "ann")
    desk.accept(made.id, "look_once")
    assert not desk.proposals()
    assert asyncio.run(crib.call("look_once", caller=ANN)).ok


def test_proposals_are_bounded(place: Place):
    crib, _shop = place
    assert not crib.propose_recipe("x" * (MOST_PROPOSED + 1), "Large")
    callers = [Caller(f"{n % MOST_PROPOSALS}") for n in range(2 * MOST_PROPOSALS)]
    made = [crib.propose_recipe(f"{n}", "One of many", caller=callers[n]) for n in range(40)]
    assert made.count(True) == len(recipes_of(crib).proposals()) == MOST_PROPOSALS
    first = recipes_of(crib).proposals()[0]
    recipes_of(crib).discard(first.id)
    assert crib.propose_recipe("another", "One more", caller=Caller("new"))


def test_one_caller_leaves_room_for_the_proposals_of_others(place: Place):
    crib, _shop = place
    made = [crib.propose_recipe(str(n), "One of many", caller=ANN) for n in range(MOST_PROPOSALS)]
    assert made.count(True) == MOST_PROPOSALS // 2
    assert crib.propose_recipe("another", "Of another", caller=Caller("other"))


@pytest.mark.parametrize("change", ["program", "pin", "key", "tenant", "name"])
def test_a_file_of_another_hand_is_no_recipe(tmp_path: Path, place: Place, change: str):
    crib, _shop = place
    saved(crib)
    recipe = recipes_of(crib).show("restock").recipe
    book = RecipeBook(tmp_path, lambda: b"k" * 32, "")
    book.write(recipe)
    assert book.recipe("restock") == recipe
    file, other = tmp_path / "restock.json", tmp_path / "other.json"
    match change:
        case "program":
            file.write_text(file.read_text().replace("place * times", "place + times"))
        case "pin":
            file.write_text(file.read_text().replace(recipe.tools[0].pin, "0" * 64))
        case "key":
            book = RecipeBook(tmp_path, lambda: b"x" * 32, "")
        case "tenant":
            book = RecipeBook(tmp_path, lambda: b"k" * 32, "other")
        case _:
            file.rename(other)
    found, problems = book.recipes()
    assert not found
    assert "altered by another hand" in problems[0]


def test_it_is_there_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = default_settings({}).model_copy(
        update={"store": str(tmp_path / "catalog.db"), "plugins": False, "builtin_tools": True}
    )
    with Crib.from_settings(settings) as crib:
        recipes_of(crib).save("six", "2 * three", description="Six", inputs=["three:int"])
    with Crib.from_settings(settings) as crib:
        assert asyncio.run(crib.call("six", {"three": 3})).content == 6


def test_without_the_extra_it_is_found_and_a_call_says_what_to_install(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    crib, _shop = place
    saved(crib)
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    assert crib.search("restock a shelf")[0].name == "restock"
    outcome = called(crib)
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("needs_extra", "not_sent")
    assert "toolcrib[code]" in outcome.error.message


def test_the_time_of_a_recipe_stands_still_while_its_approver_is_asked(place: Place):
    crib, _shop = place
    crib.add(pay, approval="ask")
    saved(crib, program="await tools.pay(to=what)")

    async def slow(request: ApprovalRequest, /) -> bool:
        await let_pass_async(1.5)
        return request.name == "pay"

    given = {"place": 1, "what": "ann"}
    made = crib.call("restock", given, caller=ANN, approver=slow, timeout_s=1.0)
    assert asyncio.run(made).content == "paid ann"


def test_a_no_to_a_recipe_is_one_to_all_that_it_would_call(place: Place):
    """Also where the rules would have allowed every one of them."""
    crib, shop = place
    saved(crib)
    given = {"place": 3, "what": "a chair"}
    refused = asyncio.run(crib.call("restock", given, caller=ANN, approver=DenyingApprover()))
    assert code(refused) == "approval_denied"
    program = "await tools.restock(place=3, what='a chair')"
    ran = asyncio.run(crib.run(program, caller=ANN, approver=DenyingApprover()))
    assert ran.calls == (ProgramCall("restock", "refused", code="approval_denied"),)
    assert names(shop) == []


def test_a_no_to_one_call_of_a_recipe_is_an_error_there(place: Place):
    crib, shop = place
    crib.add(pay, approval="ask")
    saved(crib, program="await shop.look(at=place)\nawait tools.pay(to=what)")
    asked: list[str] = []

    async def no(request: ApprovalRequest, /) -> bool:
        asked.append(request.name)
        return False

    given = {"place": 3, "what": "ann"}
    refused = asyncio.run(crib.call("restock", given, caller=ANN, approver=no))
    assert code(refused) == "program_failed"
    assert refused.error
    assert "was not approved" in refused.error.message
    assert (asked, names(shop)) == (["pay"], ["look"])


def test_an_older_file_is_the_recipe_that_it_was_and_passes_the_same_gates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Who can write there brings back what the operator once agreed to, and no more."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shop = made_shop()
    file = tmp_path / "state" / "toolcrib" / "recipes" / "restock.json"
    with Crib(Settings(**{**QUIET, "store": str(tmp_path / "catalog.db")})) as crib:
        crib.add_source(shop)
        saved(crib)
        older = file.read_bytes()
        saved(crib, program="await shop.look(at=place)\nplace + times")
        assert called(crib).content == 5
        file.write_bytes(older)
        recipes_of(crib).refresh()
        assert called(crib).content == 6
        assert names(shop)[-2:] == ["look", "sell"]
        relist(crib, shop, description="Sell the whole shop")
        assert code(called(crib)) == "changed"
