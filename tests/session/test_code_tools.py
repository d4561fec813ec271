"""What a model that writes programs reads of a search, and what it may write to a run."""

import pytest

from tests.execute.counting import CountingSource, offered
from toolcrib import Crib, Settings
from toolcrib.crib import HOST, signatures_in
from toolcrib.model import ASKS, JsonObject
from toolcrib.session import SearchResult, read_run, stub_text
from toolcrib.session.search_result import MORE

NAMED: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string", "description": "Whose order, in a few words."}},
}


def found(*queries: str, budget: int = 1_500) -> str:
    shop = CountingSource(
        offered("find_order", "read", NAMED),
        offered("drop_order", "dangerous"),
        offered("hide_order", "write"),
    )
    shop.states["hide_order"] = "needs_login"
    with Crib(Settings(store=":memory:", plugins=False, embed={"embedder": "none"})) as crib:
        crib.add_source(shop)
        crib.add(count_orders, permission_kind="read")
        answers = tuple(crib.search(query) for query in queries)
        names = [hit.name for answer in answers for hit in answer]
        result = SearchResult(answers, (), ())
        return stub_text(result, signatures_in(crib, names, HOST), budget)


def count_orders() -> int:
    """Count all orders."""
    return 0


def test_functions_stand_by_their_servers_and_say_what_they_can_do():
    text = found("select:find_order,count_orders,drop_order")
    lines = text.splitlines()
    assert lines.count("# shop") == lines.count("# tools") == 1
    assert f"# [dangerous, {ASKS}]\nasync def shop.drop_order() -> Any:" in text
    assert lines[lines.index("# shop") + 1].startswith("async def shop.find_order(*, name: str")
    assert "name: Whose order, in a few words." in text


def test_what_cannot_be_called_now_is_told_with_its_remedy_and_not_as_a_function():
    text = found("select:hide_order")
    assert "shop.hide_order(" not in text
    assert "mcp_shop_hide_order" in text
    assert "needs_login" in text


def test_a_hit_of_two_queries_is_told_once():
    assert found("select:find_order", "select:find_order").count("async def") == 1


def test_within_a_budget_descriptions_go_first_and_the_end_says_that_there_is_more():
    names = "select:find_order,drop_order"
    whole = found(names)
    less = found(names, budget=60)
    least = found(names, budget=25)
    assert len(least) < len(less) < len(whole)
    assert '"""' in whole
    assert least.endswith(MORE)
    assert MORE not in whole


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"program": "1"}, {"program": "1"}),
        ({"code": "1"}, {"program": "1"}),
        ({"program": "```python\na = 1\na\n```\n"}, {"program": "a = 1\na"}),
        ({"program": "print('```')"}, {"program": "print('```')"}),
        ({"handle": "x"}, {"handle": "x"}),
        ({"program": 3}, {"program": 3}),
    ],
)
def test_the_usual_slips_are_put_right(given: JsonObject, read: JsonObject):
    assert read_run(given) == read
