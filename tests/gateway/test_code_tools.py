"""The mode `code`, asked by the SDK's own client in both eras: search, run, read on."""

import asyncio
import json
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from tests.execute.counting import offered
from tests.gateway.clients import (
    ERAS,
    NUMBERED,
    Era,
    Workshop,
    asked,
    connected,
    error_of,
    words,
)
from tests.waiting import until_async
from tests.workshop import ListedSource
from toolcrib.access import Scope
from toolcrib.crib import recipes_of
from toolcrib.gateway.code_tool_definitions import CODE_TOOLS
from toolcrib.gateway.principal import LOCAL_USER, Principal, Profile
from toolcrib.gateway.tool_list import CODE_TOOLS_LISTED
from toolcrib.model import Outcome, SkillInfo
from toolcrib.settings import ApprovalRule, ApprovalSettings
from toolcrib.text import token_counter

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "gateway.md"
MOST_TOKENS = 900
LOOK = "await shop.look_up_order(number=7)"


def principal(**others: Any) -> Principal:
    return Principal("ann", Profile(mode="code", **others))


def person_here() -> Principal:
    """A client of the operator's own user: it is asked by elicitation."""
    return Principal(LOCAL_USER, Profile(mode="code"))


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


@pytest.fixture(scope="module")
def one_shop() -> Generator[Workshop]:
    """One for all tests: to start a sandbox takes longer than most of them."""
    shop = Workshop(
        offered("look_up_order", "read", NUMBERED),
        offered("cancel_order", "dangerous"),
        offered("note_order", "write", NUMBERED),
        allow=("write",),
    )
    skill = SkillInfo(name="pdf-forms", description="How to fill in forms", body="Step one.\n" * 9)
    shop.crib.add_source(ListedSource(skill))
    with shop.crib:
        yield shop


@pytest.fixture
def shop(one_shop: Workshop) -> Workshop:
    one_shop.source.reached.clear()
    one_shop.source.answer = lambda call: Outcome({"number": call.arguments.get("number")})
    return one_shop


def test_the_three_tools_are_within_the_budget_and_the_guide_has_the_figure():
    text = json.dumps([*CODE_TOOLS_LISTED.values()], ensure_ascii=False, separators=(",", ":"))
    count = token_counter().count(text)
    assert [*CODE_TOOLS_LISTED] == ["tool_search", "tool_run", "tool_result"]
    assert count <= MOST_TOKENS
    assert f"{count} tokens (o200k_base)" in GUIDE.read_text(encoding="utf-8")


def test_only_these_and_the_pins_are_listed(shop: Workshop, era: Era):
    async def run() -> None:
        async with connected(shop.server(principal(pins=frozenset({"shop/note*"}))), era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == [*CODE_TOOLS, "mcp_shop_note_order"]
            if era == "legacy":
                assert client.instructions
                assert "`tool_run`" in client.instructions
                assert "tool_call" not in client.instructions
            given = {"name": "mcp_shop_look_up_order", "arguments": {"number": 1}}
            other = await client.call_tool("tool_call", given)
            assert error_of(other)["code"] == "unknown_tool"

    asked(run)


def test_search_gives_functions_and_run_gives_the_value_and_the_calls(shop: Workshop, era: Era):
    async def run() -> None:
        async with connected(shop.server(principal()), era) as client:
            found = await client.call_tool("tool_search", {"query": "look up order"})
            assert "# shop\nasync def shop.look_up_order(*, number: int) -> Any:" in words(found)
            assert '"type":"object"' not in words(found)
            assert (found.meta or {})["toolcrib/functions"][0] == "shop.look_up_order"
            program = f"one = {LOOK}\nawait shop.note_order(number=one['number'])\nprint('ok')\none"
            done = await client.call_tool("tool_run", {"program": program})
            assert not done.is_error
            assert words(done).splitlines() == [
                "ok",
                "{",
                ' "number": 7',
                "}",
                "[calls: mcp_shop_look_up_order done, mcp_shop_note_order done]",
            ]
            made = (done.meta or {})["toolcrib/calls"]
            assert [(call["tool"], call["effect"]) for call in made] == [
                ("mcp_shop_look_up_order", "done"),
                ("mcp_shop_note_order", "done"),
            ]

    asked(run)
    assert [call.name for call in shop.source.reached] == ["look_up_order", "note_order"]


def test_a_program_that_does_not_fit_calls_nothing_and_hears_the_line(shop: Workshop, era: Era):
    async def run() -> None:
        async with connected(shop.server(principal()), era) as client:
            program = f"{LOOK}\nawait shop.note_order(nummer=1)"
            refused = await client.call_tool("tool_run", {"program": program})
            assert error_of(refused)["code"] == "bad_program"
            assert "line 2:" in words(refused)
            assert "async def shop.note_order(*, number: int) -> Any" in words(refused)

    asked(run)
    assert shop.source.reached == []


def test_a_program_that_fails_tells_what_it_printed_and_what_took_effect(shop: Workshop, era: Era):
    async def run() -> None:
        async with connected(shop.server(principal()), era) as client:
            program = "```python\nprint('so far')\nawait shop.note_order(number=1)\n1 / 0\n```"
            failed = await client.call_tool("tool_run", {"code": program})
            assert error_of(failed)["code"] == "program_failed"
            assert words(failed).startswith("so far\n")
            assert "ZeroDivisionError" in words(failed)
            assert "[calls: mcp_shop_note_order done]" in words(failed)

    asked(run)


def test_a_long_result_has_a_handle_for_the_rest(shop: Workshop, era: Era):
    async def run() -> None:
        async with connected(shop.server(principal()), era) as client:
            program = "for n in range(20_000):\n    print('line', n)"
            first = await client.call_tool("tool_run", {"program": program})
            handle = (first.meta or {})["toolcrib/handle"]
            given = {"handle": handle, "find": "19999"}
            assert "line 19999" in words(await client.call_tool("tool_result", given))

    asked(run)


def test_skills_are_read_by_the_search(shop: Workshop, era: Era):
    async def run() -> None:
        async with connected(shop.server(principal()), era) as client:
            found = words(await client.call_tool("tool_search", {"queries": ["fill in forms"]}))
            assert "skill_pdf-forms" in found
            told = await client.call_tool("tool_search", {"read": "skill_pdf-forms"})
            assert "Step one." in words(told)

    asked(run)


@pytest.mark.parametrize(
    "given", [{}, {"program": "1", "handle": "x"}, {"program": 3}, {"program": "1", "more": 1}]
)
def test_a_run_takes_a_program_or_a_handle(shop: Workshop, given: dict[str, Any]):
    async def run() -> None:
        async with connected(shop.server(principal())) as client:
            refused = await client.call_tool("tool_run", given)
            assert error_of(refused)["code"] == "bad_arguments"

    asked(run)


def test_the_profile_limits_what_is_found_and_what_a_program_names(shop: Workshop, era: Era):
    reader = principal(scope=Scope(permissions=frozenset({"read"})))

    async def run() -> None:
        async with connected(shop.server(reader), era) as client:
            found = words(await client.call_tool("tool_search", {"queries": ["order"]}))
            assert "look_up_order" in found
            assert "note_order" not in found
            given = {"program": "await shop.note_order(number=1)"}
            refused = await client.call_tool("tool_run", given)
            assert error_of(refused)["code"] == "bad_program"
            assert (await client.call_tool("tool_run", {"program": LOOK})).is_error is False

    asked(run)
    assert [call.name for call in shop.source.reached] == ["look_up_order"]


def test_who_may_only_search_runs_nothing(shop: Workshop):
    async def run() -> None:
        async with connected(shop.server(replace(principal(), may_call=False))) as client:
            refused = await client.call_tool("tool_run", {"program": "1 + 1"})
            assert error_of(refused)["code"] == "not_allowed"

    asked(run)


def test_progress_only_rises_though_calls_run_side_by_side(shop: Workshop, era: Era):
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        heard.append((progress, message))

    async def run() -> None:
        async with connected(shop.server(principal()), era) as client:
            both = f"import asyncio\nawait asyncio.gather({LOOK[6:]}, {LOOK[6:]})"
            given = {"program": both}
            assert not (await client.call_tool("tool_run", given, progress_callback=hear)).is_error

    asked(run)
    assert [done for done, _ in heard] == [1, 2]
    assert {message for _, message in heard} == {"calls mcp_shop_look_up_order"}


CANCELS = f"{LOOK}\nprint('so far')\nawait shop.cancel_order()\n'cancelled'"


def test_a_program_that_needs_the_operator_is_suspended_and_goes_on_once(shop: Workshop, era: Era):
    async def run() -> None:
        bob = Principal("bob", Profile(mode="code"))
        async with (
            connected(shop.server(principal()), era) as client,
            connected(shop.server(bob), era) as other,
        ):
            waits = await client.call_tool("tool_run", {"program": CANCELS})
            handle = (waits.meta or {})["toolcrib/suspended"]
            error = error_of(waits)
            assert error["code"] == "approval_needed"
            assert f'`tool_run` with handle "{handle}"' in words(waits)
            assert "`toolcrib approvals list`" in words(waits)
            assert "very same call" not in words(waits)
            given = {"handle": handle}
            assert error_of(await other.call_tool("tool_run", given))["code"] == "unknown_handle"
            again = await client.call_tool("tool_run", given)
            assert (again.meta or {})["toolcrib/suspended"] == handle
            assert [call.name for call in shop.source.reached] == ["look_up_order"]
            assert shop.crib.operator.tickets.approve(error["ticket"])
            done = await client.call_tool("tool_run", given)
            assert words(done).startswith("so far\ncancelled\n[calls: ")
            assert error_of(await client.call_tool("tool_run", given))["code"] == "unknown_handle"

    asked(run)
    assert [call.name for call in shop.source.reached] == ["look_up_order", "cancel_order"]


def test_what_the_operator_denies_raises_in_the_program(shop: Workshop):
    caught = "try:\n    await shop.cancel_order()\nexcept RuntimeError:\n    print('kept')"

    async def run() -> None:
        async with connected(shop.server(principal())) as client:
            waits = await client.call_tool("tool_run", {"program": caught})
            assert shop.crib.operator.tickets.reject(error_of(waits)["ticket"])
            given = {"handle": (waits.meta or {})["toolcrib/suspended"]}
            assert words(await client.call_tool("tool_run", given)).startswith("kept\n")

    asked(run)
    assert shop.source.reached == []


def test_the_person_at_the_client_is_asked_first(shop: Workshop, era: Era):
    questions: list[str] = []

    async def person(_context: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept")

    async def run() -> None:
        server = shop.server(person_here())
        async with connected(server, era, elicitation_callback=person) as client:
            done = await client.call_tool("tool_run", {"program": CANCELS})
            assert words(done).startswith("so far\ncancelled\n")

    asked(run)
    assert len(questions) == 1
    assert "mcp_shop_cancel_order" in questions[0]


def test_one_question_to_the_person_at_the_client_covers_a_program(era: Era):
    """Where the setting allows it. In the modern era the request is sent again with the answer."""
    questions: list[str] = []
    rules = (ApprovalRule(verdict="allow", kind="read"),)
    approval = ApprovalSettings(rules=rules, wait_s=0, program_kinds=("dangerous",))
    shop = Workshop(offered("cancel_order", "dangerous", NUMBERED), approval=approval)

    async def person(_context: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept")

    async def run() -> None:
        server = shop.server(person_here())
        async with connected(server, era, elicitation_callback=person) as client:
            program = "await shop.cancel_order(number=1)\nawait shop.cancel_order(number=2)\n'both'"
            done = await client.call_tool("tool_run", {"program": program})
            assert words(done).startswith("both")

    with shop.crib:
        asked(run)
    assert len(questions) == 1
    assert "mcp_shop_cancel_order twice (dangerous)" in questions[0]
    assert "await shop.cancel_order(number=2)" in questions[0]
    assert [call.arguments for call in shop.source.reached] == [{"number": 1}, {"number": 2}]


def test_a_program_that_worked_is_proposed_and_only_the_operator_saves_it(shop: Workshop, era: Era):
    desk = recipes_of(shop.crib)
    for each in desk.proposals():
        desk.discard(each.id)

    async def run() -> None:
        async with connected(shop.server(principal()), era) as client:
            for program in (LOOK, "1 / 0", "await shop.nothing()", f"{LOOK}\nprint('no word')"):
                purpose = "" if "no word" in program else "Look the order up\u202e"
                await client.call_tool("tool_run", {"program": program, "propose": purpose})
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == [
                "tool_search",
                "tool_run",
                "tool_result",
            ]

    asked(run)
    [proposal] = desk.proposals()
    assert (proposal.program, proposal.caller) == (LOOK, "ann@default")
    assert proposal.purpose == "Look the order up"
    assert not desk.recipes(), "nothing can be called before the operator saves it"
    assert desk.accept(proposal.id, "looked_up").permission_kind == "read"
    assert not desk.proposals()
    desk.remove("looked_up")


def test_who_may_only_search_proposes_nothing(shop: Workshop):
    reader = Principal("bob", Profile(mode="code"), may_call=False)

    async def run() -> None:
        async with connected(shop.server(reader)) as client:
            given = {"program": LOOK, "propose": "Look it up"}
            assert error_of(await client.call_tool("tool_run", given))["code"] == "not_allowed"

    asked(run)
    assert [
        each for each in recipes_of(shop.crib).proposals() if each.caller.startswith("bob")
    ] == []


def test_a_run_that_is_cancelled_cancels_its_calls(shop: Workshop):
    events: list[str] = []

    async def run() -> None:
        began = asyncio.Event()

        async def wait_for_ever() -> None:
            """Wait."""
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                events.append("cancelled")

        shop.crib.add(wait_for_ever, permission_kind="read")
        async with connected(shop.server(principal())) as client:
            given = {"program": "await tools.wait_for_ever()\nawait shop.note_order(number=1)"}
            call = asyncio.ensure_future(client.call_tool("tool_run", given))
            await began.wait()
            call.cancel()
            await until_async(lambda: events, "the call was cancelled")

    asked(run)
    assert shop.source.reached == []
