import asyncio
from dataclasses import replace
from threading import Event

import pytest

from tests.defaults import POLICY, rulebook
from tests.execute.counting import ANN, Shop, offered
from tests.waiting import HANG_S, until_async
from tests.workshop import ListedSource, mcp
from toolcrib.access import Scope
from toolcrib.execute import (
    ApprovalRequest,
    ArgumentCheck,
    Caller,
    CallRefused,
    Door,
    Rule,
    per_request_tools,
)
from toolcrib.execute.arguments import CheckedArguments
from toolcrib.model import (
    Call,
    CallError,
    Deadline,
    JsonObject,
    Outcome,
    SkillInfo,
    State,
    ToolInfo,
)
from toolcrib.pool import Pool

NAMED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def execute(door: Door, call: Call, caller: Caller = ANN, **options) -> Outcome:
    return asyncio.run(door.execute(call, caller, **options))


def refusal(outcome: Outcome) -> CallError:
    """The error of a call that was not sent."""
    assert outcome.error
    assert outcome.error.effect == "not_sent"
    assert not outcome.ok
    return outcome.error


def test_a_call_reaches_its_tool_under_the_name_that_the_source_knows():
    shop = Shop()
    assert execute(shop.door, Call("mcp_shop_look", {"at": 1})) == Outcome("done")
    assert [(call.name, call.arguments) for call in shop.reached] == [("look", {"at": 1})]


def test_a_bare_name_will_do_if_it_is_unique():
    assert execute(Shop().door, Call("look")).ok


def test_arguments_may_come_as_text():
    shop = Shop(offered(schema=NAMED))
    assert execute(shop.door, Call("look", text='{"n": 1}')).ok
    assert shop.reached[0].arguments == {"n": 1}


@pytest.mark.parametrize("text", ['{"n": 1', '{"n": 1, "n": 2}', '{"n": NaN}', "[" * 10_000])
def test_text_that_two_readers_could_read_differently_is_refused(text: str):
    shop = Shop(offered(schema=NAMED))
    error = refusal(execute(shop.door, Call("look", text=text)))
    assert (error.code, error.phase, error.schema) == ("bad_arguments", "arguments", NAMED)
    assert not shop.reached


def test_an_unknown_name_is_refused_with_the_nearest_that_the_caller_may_call():
    shop = Shop(offered("look_up"), offered("look_down"))
    reader = Caller("ann", Scope(allowed=frozenset({"*_up"})))
    error = refusal(execute(shop.door, Call("look_u"), reader))
    assert (error.code, error.phase) == ("unknown_tool", "resolve")
    assert "mcp_shop_look_up" in error.message
    assert "look_down" not in error.message


def test_a_name_that_fits_several_is_refused_with_those_that_the_caller_may_call():
    pool = Pool()
    pool.add(ListedSource(mcp("a", "look"), mcp("b", "look")))
    only_b = Caller("ann", Scope(excluded=frozenset({"mcp_a_*"})))
    both = refusal(execute(Door(pool, POLICY), Call("look")))
    one = refusal(execute(Door(pool, POLICY), Call("look"), only_b))
    assert both.code == one.code == "ambiguous_name"
    assert both.message.endswith("mcp_a_look, mcp_b_look")
    assert one.message.endswith(": mcp_b_look")


@pytest.mark.parametrize("state", ["disabled", "other_platform", "needs_login", "changed"])
def test_a_tool_that_cannot_be_called_is_refused_with_the_remedy(state: State):
    shop = Shop()
    shop.put_in_state(state, ["look"])
    error = refusal(execute(shop.door, Call("look")))
    assert (error.code, error.phase) == (state, "state")
    assert shop.pool.entries["mcp_shop_look"].remedy in error.message
    assert not shop.reached


def test_a_tool_that_is_asleep_is_called_for_that_wakes_it():
    shop = Shop()
    shop.put_in_state("asleep", ["look"])
    assert execute(shop.door, Call("look")).ok


def test_a_skill_is_no_tool():
    pool = Pool()
    pool.add(ListedSource(SkillInfo(name="pdf", description="", source="files")))
    assert refusal(execute(Door(pool, POLICY), Call("skill_pdf"))).code == "not_a_tool"


def test_a_tool_that_is_not_the_one_that_was_shown_is_refused():
    shop = Shop()
    shown = shop.pool.entries["mcp_shop_look"].capability.pin
    assert execute(shop.door, Call("look", pin=shown)).ok
    shop.change("look", description="To look, and to tell everybody")
    error = refusal(execute(shop.door, Call("look", pin=shown)))
    assert (error.code, error.phase) == ("definition_changed", "state")
    assert len(shop.reached) == 1


def test_a_tool_that_changes_while_a_person_thinks_is_refused():
    shop = Shop(offered(kind="write"))

    async def change_and_agree(_request: ApprovalRequest, /) -> bool:
        shop.change("look", description="Something else")
        return True

    error = refusal(execute(shop.door, Call("look"), approver=change_and_agree))
    assert error.code == "definition_changed"
    assert not shop.reached


def test_a_tool_that_goes_away_while_a_person_thinks_is_refused():
    shop = Shop(offered(kind="write"))

    async def remove_and_agree(_request: ApprovalRequest, /) -> bool:
        shop.pool.remove(shop.source)
        return True

    assert refusal(execute(shop.door, Call("look"), approver=remove_and_agree)).code == (
        "definition_changed"
    )
    assert not shop.reached


@pytest.mark.parametrize(
    "scope",
    [
        Scope(allowed=frozenset()),
        Scope(allowed=frozenset({"other"})),
        Scope(excluded=frozenset({"mcp_shop_*"})),
        Scope(internal=frozenset({"mcp_shop_look"})),
    ],
)
@pytest.mark.parametrize("name", ["look", "mcp_shop_look"])
def test_what_a_search_hides_for_want_of_a_right_cannot_be_called(scope: Scope, name: str):
    shop = Shop()
    error = refusal(execute(shop.door, Call(name), Caller("ann", scope)))
    assert (error.code, error.phase) == ("not_allowed", "rights")
    assert not shop.reached


def test_what_is_only_kept_out_of_searches_can_be_called():
    shop = Shop()
    shop.change("look", searchable=False)
    bound = Caller("ann", Scope(bound=frozenset({"mcp_shop_look"})))
    assert execute(shop.door, Call("look"), bound).ok


def test_arguments_that_do_not_fit_come_back_with_the_schema_and_the_place():
    shop = Shop(offered(schema=NAMED))
    error = refusal(execute(shop.door, Call("look", {"n": "many"})))
    assert (error.code, error.phase, error.schema) == ("bad_arguments", "arguments", NAMED)
    assert "$.n: " in error.message
    assert not shop.reached


def test_repaired_arguments_are_sent_and_the_outcome_says_so():
    shop = Shop(offered(schema=NAMED))
    outcome = execute(shop.door, Call("look", {"n": "5"}))
    assert outcome.repaired == ("$.n: text read as integer",)
    assert shop.reached[0].arguments == {"n": 5}


def test_a_required_parameter_with_a_default_is_sent_and_the_outcome_says_so():
    zone = {"type": "string", "default": "UTC"}
    shop = Shop(offered(schema={"properties": {"zone": zone}, "required": ["zone"]}))
    outcome = execute(shop.door, Call("look", {}))
    assert outcome.repaired == ("$.zone: left out, so its default was filled in",)
    assert shop.reached[0].arguments == {"zone": "UTC"}


def test_a_schema_that_is_not_safe_to_check_is_refused_and_its_tool_is_not_called():
    shop = Shop(offered(schema={"$ref": "http://127.0.0.1:1/schema"}))
    assert refusal(execute(shop.door, Call("look"))).code == "schema_refused"
    assert not shop.reached


def test_nobody_can_change_the_arguments_after_they_were_approved():
    shop = Shop(offered(kind="write"))
    arguments = {"to": ["ann"]}

    async def change_and_agree(_request: ApprovalRequest, /) -> bool:
        arguments["to"].append("eve")
        return True

    assert execute(shop.door, Call("look", arguments), approver=change_and_agree).ok
    assert shop.reached[0].arguments == {"to": ["ann"]}


def test_a_gate_that_fails_lets_nothing_through(monkeypatch: pytest.MonkeyPatch):
    shop = Shop()
    monkeypatch.setattr("toolcrib.execute.door.check_rights", lambda *_: 1 / 0)
    assert refusal(execute(shop.door, Call("look"))).code == "door_failed"
    assert not shop.reached


def test_a_long_result_is_whole_for_a_program_and_comes_in_pages_for_a_model():
    shop = Shop(policy=replace(POLICY, page_tokens=3))
    shop.source.answer = lambda _call: Outcome("0123456789abcdef")
    whole = execute(shop.door, Call("look"))
    assert whole.content == "0123456789abcdef"
    first = asyncio.run(shop.door.paged(whole, ANN))
    second = shop.door.result(first.handle, ANN, 2, "")
    assert (first.content, second.content) == ("012345678", "9abcdef")
    assert shop.door.result(first.handle, ANN, 1, "abc").page
    assert refusal(shop.door.result(first.handle, ANN, 3, "")).code == "bad_arguments"
    assert refusal(shop.door.result(first.handle, Caller("eve"), 1, "")).code == "unknown_handle"


@pytest.mark.parametrize("value", [object(), {1: object()}, b""])
def test_a_result_that_is_no_json_is_an_outcome_too(value):
    shop = Shop()
    shop.source.answer = lambda _call: Outcome(value)
    error = execute(shop.door, Call("look")).error
    assert error
    assert (error.code, error.phase, error.effect) == ("bad_result", "result", "failed")


def test_a_call_has_the_time_of_the_policy_unless_it_says():
    left: list[float] = []
    shop = Shop(policy=replace(POLICY, timeout_s=5_000_000))
    shop.source.watch = lambda context: left.append(context.deadline.left_s)
    execute(shop.door, Call("look"))
    execute(shop.door, Call("look"), timeout_s=2_000_000)
    assert [round(seconds, -5) for seconds in left] == [5_000_000, 2_000_000]


def test_both_attempts_and_what_they_ask_have_one_deadline():
    deadlines: list[Deadline] = []
    shop = Shop(offered("look", "read"))
    shop.source.watch = lambda context: deadlines.append(context.deadline)
    failed = CallError("gone", "call", "cut off", retryable=True, effect="unknown")
    shop.source.answer = lambda _call: Outcome(error=failed)
    execute(shop.door, Call("look"))
    first, second = deadlines
    assert first is second


@pytest.mark.parametrize(("limit", "stops"), [({}, True), ({"timeout_s": 5.0}, False)])
def test_the_clock_may_be_stopped_where_somebody_hears_and_has_set_no_limit(limit, stops):
    shop = Shop()
    patient: list[bool] = []
    shop.source.watch = lambda context: patient.append(context.patient)
    execute(shop.door, Call("look"), progress=lambda *_news: None, **limit)
    execute(shop.door, Call("look"), **limit)
    assert patient == [stops, False]


def test_progress_is_relayed():
    told: list[tuple[float, float | None, str]] = []
    shop = Shop()
    shop.source.watch = lambda running: running.progress(1, 2, "half")
    execute(shop.door, Call("look"), progress=lambda *news: told.append(news))
    execute(shop.door, Call("look"))
    assert told == [(1, 2, "half")]


def test_rules_are_the_operator_s():
    rules = rulebook(Rule("allow", "*_pay"), Rule("deny", kind="read"))
    policy = replace(POLICY, rulebook=rules)
    shop = Shop(offered("look"), offered("pay", "dangerous"), policy=policy)
    assert execute(shop.door, Call("pay")).ok
    assert refusal(execute(shop.door, Call("look"))).code == "approval_denied"


def test_a_source_hears_which_definition_was_admitted():
    shop = Shop(offered("look"))
    asyncio.run(shop.door.execute(Call("look"), ANN))
    (reached,) = shop.reached
    assert reached.pin == shop.pool.entries["mcp_shop_look"].capability.pin != ""


def test_arguments_can_be_checked_without_a_call():
    shop = Shop(offered(schema=NAMED))
    tool = shop.pool.entries["mcp_shop_look"].capability
    assert isinstance(tool, ToolInfo)
    assert shop.door.check(tool, {"n": 1}) == shop.door.check(tool, '{"n": 1}') == {"n": 1}
    with pytest.raises(CallRefused) as refused:
        shop.door.check(tool, {"n": "x"})
    assert refused.value.error.code == "bad_arguments"
    assert not shop.reached


def test_what_a_name_means_is_told_without_a_call():
    shop = Shop()
    assert shop.door.means("look", ANN) is shop.pool.entries["mcp_shop_look"]
    assert shop.door.means("lokk", ANN) is None

    def look() -> str:
        """Look here."""
        return "here"

    with per_request_tools(look):
        assert shop.door.means("look", ANN) is None


def test_the_checks_of_one_caller_leave_threads_to_others(monkeypatch: pytest.MonkeyPatch):
    """A caller's checks take long, as those of large arguments do; another's is made meanwhile."""
    shop, freed, begun = Shop(), Event(), list[object]()

    def check(_check: ArgumentCheck, _tool: ToolInfo, arguments: JsonObject) -> CheckedArguments:
        if arguments:
            begun.append(arguments)
            freed.wait(HANG_S)
        return CheckedArguments(arguments, ())

    monkeypatch.setattr(ArgumentCheck, "check", check)

    async def go() -> tuple[Outcome, int]:
        greedy = [
            asyncio.create_task(shop.door.execute(Call("look", {"n": n}), Caller("greedy")))
            for n in range(8)
        ]
        await until_async(lambda: len(begun) > 1)
        outcome = await shop.door.execute(Call("look"), Caller("other"))
        under_way = len(begun)
        freed.set()
        assert all(each.ok for each in await asyncio.gather(*greedy))
        return outcome, under_way

    assert asyncio.run(go()) == (Outcome("done"), 2)
