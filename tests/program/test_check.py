"""What is said of a program before anything is called."""

import sys

import pytest

from tests.execute.counting import CountingSource
from tests.program.conftest import Run
from toolcrib import Caller, Crib, Scope
from toolcrib.crib import inventory_of
from toolcrib.errors import ConfigError
from toolcrib.model import Outcome
from toolcrib.program import ProgramTool


@pytest.mark.parametrize(
    ("program", "line", "says"),
    [
        ("x = 1\nawait shop.lok(at=1)", 2, "`shop` has no attribute `lok`; it has look"),
        ("await shpo.look(at=1)", 1, "the nearest groups of tools: shop"),
        ("await look(at=1)", 1, "write shop.look"),
        ("await tools.x(at=1)", 1, "`tools` used when not defined; the groups of tools: shop"),
        ("print(shop.look(at=1))", 1, "write `await` before the call"),
        ("price = shop.look(at=1)\nprint('it is', price)", 2, "write `await` before the call"),
        ("await shop.look(at='one')", 1, 'Expected `int`, found `Literal["one"]`'),
        ("await shop.look()", 1, "required parameter `at`"),
        ("await shop.look(at=1, where=2)", 1, "`where` does not match any known parameter"),
        ("await shop.look(1)", 1, "required parameter `at`"),
        ("shop.look(at=1)", 1, "write `await` before it"),
        ("shop.look(at=1)['price']", 1, "write `await` before the call"),
        ("def f(:", 1, "Expected a parameter"),
        ("return 5", 1, "end with the value itself, as the last line"),
        ("import requests", 1, "there is no such module here"),
        ("x: int = 'a'", 1, "not assignable"),
    ],
)
def test_a_program_that_does_not_fit_is_refused_with_its_line(
    crib: Crib, shop: CountingSource, program: str, line: int, says: str
):
    check = crib.check_program(program)
    assert check.problems[0].line == line
    assert says in check.problems[0].message
    assert not shop.reached


@pytest.mark.parametrize(
    "shown",
    ["range(3), 1j, {1}, len, sep=''", "*[1, 2], **{'sep': ','}", "await shop.look(at=1)", "'{}'"],
)
def test_whatever_else_may_be_printed(crib: Crib, shown: str):
    assert crib.check_program(f"class A:\n  pass\nprint(A(), {shown})").ok


def test_where_there_are_no_groups_it_says_so(crib: Crib):
    nobody = Caller("eve", may_call=False)
    check = crib.check_program("await tools.x(at=1)", caller=nobody)
    assert check.text.endswith("there are no tools that this caller can call")


def test_the_right_signature_comes_with_the_error(run: Run, shop: CountingSource):
    error = run("await shop.sell(what='x')\nawait shop.look(at='one')").error
    assert error
    assert (error.code, error.effect) == ("bad_program", "not_sent")
    assert error.message.endswith("async def shop.look(*, at: int) -> Any")
    assert not shop.reached, "the first line would have been all right"


def test_it_lists_what_a_program_may_call(crib: Crib, shop: CountingSource):
    del shop
    check = crib.check_program(
        "g = shop\nfor n in [1]:\n  await g.look(at=n)\nawait shop.list_all()"
    )
    assert check.ok
    assert check.tools == (
        ProgramTool("mcp_shop_list-all", "shop.list_all", "read", asks=False),
        ProgramTool("mcp_shop_look", "shop.look", "read", asks=False),
    )


def test_nothing_of_a_program_runs_when_it_is_checked(crib: Crib, shop: CountingSource):
    assert crib.check_program("while True:\n  await shop.look(at=1)").ok
    assert not shop.reached


def test_what_a_caller_may_not_have_is_unknown(crib: Crib, shop: CountingSource):
    del shop
    nobody = Caller("ann", Scope(allowed=frozenset({"shop/sell"})))
    check = crib.check_program("await shop.look(at=1)", caller=nobody)
    assert check.text == "line 1: `shop` has no attribute `look`; it has sell"
    readers = Caller("eve", may_call=False)
    assert "`shop` used when not defined" in crib.check_program("shop", caller=readers).text


def test_what_cannot_be_called_now_says_why(crib: Crib, shop: CountingSource):
    shop.states["look"] = "needs_login"
    inventory_of(crib).relist(shop)
    try:
        check = crib.check_program("await shop.look(at=1)")
    finally:
        shop.states.clear()
        inventory_of(crib).relist(shop)
    assert "'mcp_shop_look' cannot be called now" in check.text


def test_what_may_well_fit_is_left_to_the_door(run: Run, shop: CountingSource):
    shop.answer = lambda call: Outcome(str(call.arguments))
    assert run("import json\nawait shop.look(at=json.loads('3'))").ok


def test_a_program_that_is_too_long_is_not_read(crib: Crib):
    assert "65,536 is the most" in crib.check_program("#" * 70_000).text


def test_without_the_extra_it_says_what_to_install(
    crib: Crib, run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    for ask in (lambda: crib.check_program("1"), lambda: run("1")):
        with pytest.raises(ConfigError, match=r"pip install 'toolcrib\[code\]'"):
            ask()
