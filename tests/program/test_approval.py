"""One question for a whole program: what it covers, and all that it does not."""

import asyncio
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from tests.execute.counting import ANN, CountingSource, offered
from tests.program.conftest import NUMBER, QUIET, TEXT, takes
from toolcrib import Crib, ProgramOutcome, Settings
from toolcrib.crib import inventory_of, recipes_of
from toolcrib.execute import ApprovalRequest
from toolcrib.model import Outcome

Place = tuple[Crib, CountingSource]

PROGRAM = """
await shop.look(at=1)
await shop.sell(what="a")
await shop.sell(what="b")
await shop.post(what="c")
"""
THREE = """
for what in "abc":
    await shop.sell(what=what)
await shop.sell(what="d")
"""
TRIES = """
for what in "ab":  # shop.sell is written twice
    try:
        await shop.sell(what=what)
    except RuntimeError as error:
        print(error)
"""


class Person:
    """Answers what is asked, in the order of the answers; the last for all that comes then."""

    def __init__(self, *answers: bool | None) -> None:
        self.asked: list[ApprovalRequest] = []
        self._answers = list(answers)

    async def __call__(self, request: ApprovalRequest, /) -> bool | None:
        self.asked.append(request)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.asked]


def opened(folder: Path, kinds: Sequence[str] = ("write", "network"), **more: object) -> Place:
    settings = {
        **QUIET,
        "store": str(folder / "catalog.db"),
        "index": "memory",
        "approval": {"servers": "ask", "program_kinds": kinds, **more},
    }
    shop = CountingSource(
        offered("look", schema=takes(at=NUMBER)),
        offered("sell", "write", schema=takes(what=TEXT)),
        offered("post", "network", schema=takes(what=TEXT)),
        offered("drop", "dangerous", schema=takes(what=TEXT)),
    )
    shop.answer = lambda _call: Outcome("ok")
    crib = Crib(Settings(**settings))
    crib.add_source(shop)
    return crib, shop


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    crib, shop = opened(tmp_path)
    with crib:
        yield crib, shop


def ran(crib: Crib, person: Person | None, program: str = PROGRAM) -> ProgramOutcome:
    return asyncio.run(crib.run(program, caller=ANN, approver=person))


def resumed(crib: Crib, handle: str, person: Person | None = None) -> ProgramOutcome:
    return asyncio.run(crib.resume(handle, caller=ANN, approver=person))


def codes(outcome: ProgramOutcome) -> list[str]:
    return [call.code for call in outcome.calls]


def test_one_answer_covers_the_program_and_says_what_it_may_call(place: Place):
    crib, shop = place
    person = Person(True)
    assert ran(crib, person).ok
    assert len(shop.reached) == 4
    [request] = person.asked
    assert (request.name, request.permission_kind, request.caller) == ("tool_run", "network", "ann")
    assert "mcp_shop_sell twice" in request.description
    assert request.arguments == {
        "may_call": [
            "mcp_shop_look (read): allowed by the rules",
            "mcp_shop_post once (network)",
            "mcp_shop_sell twice (write)",
        ],
        "program": PROGRAM.splitlines(),
    }


def test_without_the_setting_each_call_is_asked_for(tmp_path: Path):
    crib, _shop = opened(tmp_path, kinds=())
    with crib:
        person = Person(True)
        assert ran(crib, person).ok
    assert person.names == ["mcp_shop_sell", "mcp_shop_sell", "mcp_shop_post"]


def test_one_call_alone_is_asked_for_with_its_arguments(place: Place):
    crib, _shop = place
    person = Person(True)
    assert ran(crib, person, "await shop.sell(what='a')").ok
    assert [each.arguments for each in person.asked] == [{"what": "a"}]


def test_calls_beyond_the_number_are_asked_for_one_by_one(place: Place):
    crib, shop = place
    person = Person(True)
    assert ran(crib, person, THREE).ok
    assert person.names == ["tool_run", "mcp_shop_sell", "mcp_shop_sell"]
    assert [each.arguments for each in person.asked[1:]] == [{"what": "c"}, {"what": "d"}]
    assert len(shop.reached) == 4


def test_side_by_side_calls_ask_once_and_keep_the_number(place: Place):
    crib, shop = place
    person = Person(True, False)
    program = (
        "import asyncio\n# shop.sell is written twice\n"
        "await asyncio.gather(*[shop.sell(what=str(n)) for n in range(4)], return_exceptions=True)"
    )
    outcome = ran(crib, person, program)
    assert person.names == ["tool_run", "mcp_shop_sell", "mcp_shop_sell"]
    assert sorted(codes(outcome)) == ["", "", "approval_denied", "approval_denied"]
    assert len(shop.reached) == 2


def test_other_kinds_are_asked_for_one_by_one(place: Place):
    crib, shop = place
    person = Person(True, False)
    outcome = ran(crib, person, PROGRAM + "await shop.drop(what='all')")
    assert person.names == ["tool_run", "mcp_shop_drop"]
    told = person.asked[0].arguments
    assert isinstance(told, dict)
    assert "mcp_shop_drop (dangerous): asked for each time" in str(told["may_call"])
    assert codes(outcome)[-1] == "approval_denied"
    assert "drop" not in [call.name for call in shop.reached]


def test_a_no_is_one_for_all_its_calls_and_is_not_asked_again(place: Place):
    crib, shop = place
    person = Person(False, True)
    outcome = ran(crib, person, TRIES)
    assert person.names == ["tool_run"]
    assert outcome.printed.count("was not approved") == 2
    assert not shop.reached


def test_a_tool_that_was_not_named_is_not_covered(place: Place):
    """A function put together at run time is unknown; one of another program is not covered."""
    crib, shop = place
    person = Person(True)
    program = "await shop.sell(what='a')\nawait shop.sell(what='b')\ngetattr(shop, 'dr' + 'op')"
    assert not ran(crib, person, program).ok
    assert "drop" not in [call.name for call in shop.reached]


def test_a_definition_that_changes_after_the_answer_is_not_called(place: Place):
    crib, shop = place
    inventory = inventory_of(crib)

    class Changing(Person):
        async def __call__(self, request: ApprovalRequest, /) -> bool | None:
            answer = await super().__call__(request)
            shop.tools["sell"] = offered("sell", "write", schema=takes(what=TEXT, to=TEXT))
            inventory.relist(shop)
            return answer

    person = Changing(True)
    outcome = ran(crib, person)
    assert person.names == ["tool_run"]
    assert outcome.calls[1].code == "definition_changed"
    assert [call.name for call in shop.reached] == ["look"]


def test_what_a_rule_denies_is_denied_whatever_was_answered(tmp_path: Path):
    rules = [{"verdict": "deny", "pattern": "shop/post"}]
    crib, shop = opened(tmp_path, rules=rules)
    with crib:
        outcome = ran(crib, Person(True))
    assert outcome.error
    assert outcome.error.code == "bad_program"  # what is denied is no function of programs
    assert shop.reached == []


def test_arguments_are_checked_at_each_call(place: Place):
    crib, shop = place
    person = Person(True)
    program = "import json\nawait shop.sell(what='a')\nawait shop.sell(what=json.loads('[1]'))"
    outcome = ran(crib, person, program)
    assert codes(outcome) == ["", "bad_arguments"]
    assert len(shop.reached) == 1


def test_it_waits_under_one_ticket_and_goes_on_in_another_process(tmp_path: Path):
    crib, shop = opened(tmp_path)
    with crib:
        waiting = ran(crib, None)
        [ticket] = crib.operator.tickets.waiting()
        assert ticket.request.name == "tool_run"
        assert waiting.error
        assert (waiting.error.code, waiting.error.ticket) == ("approval_needed", ticket.id)
        assert [call.name for call in shop.reached] == ["look"]
    crib, shop = opened(tmp_path)
    with crib:
        assert crib.operator.tickets.approve(ticket.id)
        done = resumed(crib, waiting.suspended)
        assert done.ok, done.error
        assert [call.name for call in shop.reached] == ["sell", "sell", "post"]
        assert not crib.operator.tickets.waiting()
        again = ran(crib, None)
        assert again.suspended, "the answer was for one run"


def test_the_number_is_kept_over_a_suspension(tmp_path: Path):
    crib, shop = opened(tmp_path)
    with crib:
        waiting = ran(crib, Person(True, None), THREE)
        assert [call.arguments for call in shop.reached] == [{"what": "a"}, {"what": "b"}]
        [ticket] = crib.operator.tickets.waiting()
        assert ticket.request.arguments == {"what": "c"}
    crib, shop = opened(tmp_path)
    with crib:
        crib.operator.tickets.approve(ticket.id)
        again = resumed(crib, waiting.suspended)
        assert again.suspended
        assert [call.arguments for call in shop.reached] == [{"what": "c"}]
        [ticket] = crib.operator.tickets.waiting()
        assert ticket.request.arguments == {"what": "d"}


def test_a_rejected_ticket_is_a_no_to_all_its_calls(place: Place):
    crib, shop = place
    waiting = ran(crib, None, TRIES)
    [ticket] = crib.operator.tickets.waiting()
    crib.operator.tickets.reject(ticket.id)
    done = resumed(crib, waiting.suspended)
    assert done.ok, done.error
    assert codes(done) == ["approval_denied"] * 2
    assert not shop.reached
    assert not crib.operator.tickets.waiting()


def test_an_answer_for_one_program_is_none_for_another(place: Place):
    """Nor for the same one of another caller, nor for a plain call."""
    crib, shop = place
    ran(crib, None)
    [ticket] = crib.operator.tickets.waiting()
    crib.operator.tickets.approve(ticket.id)
    assert ran(crib, None, PROGRAM + "1").suspended
    other = asyncio.run(crib.run(PROGRAM))
    assert other.suspended
    plain = asyncio.run(crib.call("mcp_shop_sell", {"what": "a"}, caller=ANN))
    assert plain.error
    assert plain.error.code == "approval_needed"
    assert [call.name for call in shop.reached] == ["look"] * 3


def test_switched_off_meanwhile_each_call_is_asked_for(tmp_path: Path):
    crib, _shop = opened(tmp_path)
    with crib:
        waiting = ran(crib, None)
        [ticket] = crib.operator.tickets.waiting()
        crib.operator.tickets.approve(ticket.id)
    crib, shop = opened(tmp_path, kinds=())
    with crib:
        assert resumed(crib, waiting.suspended).suspended
        assert not shop.reached
        assert [each.request.name for each in crib.operator.tickets.waiting()] == ["mcp_shop_sell"]


def test_a_recipe_that_the_program_calls_is_not_covered(place: Place):
    crib, shop = place
    recipes_of(crib).save("sells", "await shop.sell(what='r')", description="Sell it")
    person = Person(True, False)
    program = "await shop.sell(what='a')\nawait shop.sell(what='b')\nawait tools.sells()"
    ran(crib, person, program)
    assert person.names[0] == "tool_run"
    assert person.asked[-1].arguments in ({"what": "r"}, {})
    assert [call.arguments for call in shop.reached] == [{"what": "a"}, {"what": "b"}]
