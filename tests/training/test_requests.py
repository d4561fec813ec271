import random
from pathlib import Path

from training import requests
from training.requests import Query, Written

OWN = Path(requests.FOLDER)


def lines(name: str) -> list[str]:
    return (OWN / name).read_text(encoding="utf-8").splitlines()


def chinese(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in text)


def test_every_request_has_a_tool_a_kind_and_a_text():
    rows = [line.split("\t") for line in lines("requests.tsv")]
    assert {len(row) for row in rows} == {3}
    assert {row[1] for row in rows} == set(requests.SOURCES)
    assert all(cell == cell.strip() and cell for row in rows for cell in row)


def test_chinese_requests_are_chinese_and_english_ones_begin_in_english():
    for _, kind, text in (line.split("\t") for line in lines("requests.tsv")):
        if kind.endswith("zh"):
            assert chinese(text), text
        elif kind not in {"miss", "multi"}:  # these are in either language
            assert not chinese(text[:5]), text


def test_every_function_has_two_descriptions_and_requests_of_every_kind():
    kinds: list[set[str]] = []
    for kind, *cells in (line.split("\t") for line in lines("functions.tsv")):
        assert len(cells) == (3 if kind == "tool" else 1), cells
        if kind == "tool":
            assert chinese(cells[2]), cells
            kinds.append(set())
        else:
            kinds[-1].add(kind)
    assert all(found >= {"plain", "detail", "zh", "miss"} for found in kinds)
    assert set[str]().union(*kinds) == set(requests.SOURCES) - {"short", "multi"}


def test_nothing_is_written_twice():
    written = lines("none.txt") + [line.split("\t", 1)[1] for line in lines("requests.tsv")]
    assert len(written) == len(set(written))


def test_a_function_is_a_tool_in_english_and_in_chinese_and_is_asked_for_as_both():
    found, asked = requests.functions(requests.load().functions, first=100)
    assert found[0].name == found[1].name
    assert not chinese(found[0].description)
    assert chinese(found[1].description)
    first = asked[0]
    assert asked[:2] == [first, Query(first.source, 101, first.text)]
    assert {query.tool for query in asked} == set(range(100, 100 + len(found)))


def test_requests_for_tools_that_are_not_in_the_pool_are_left_out():
    rows = [("a", "plain", "one"), ("a", "plain", "two"), ("b", "zh", "三"), ("a", "zh", "四")]
    written = Written([*rows, ("a", "zh", "五")], [], ["hello"])
    found = requests.queries(written, {"a": 7}, [""] * 8, [], random.Random(1))
    assert found[:2] == [Query("own", 7, "one"), Query("own", 7, "two")]
    assert found[-1] == Query("none", -1, "hello")
    assert {query.tool for query in found} == {7, -1}


def test_a_request_for_several_tools_is_a_query_for_each():
    rows = [("s::a s::b t::c d", "multi", "both"), ("t::c d", "plain", "one")]
    places = {"s::a": 0, "s::b": 1, "t::c d": 2, "t::c": 3}
    found = requests.queries(Written(rows, [], []), places, [""] * 4, [], random.Random(1))
    assert found[:3] == [Query("own_task", place, "both") for place in range(3)]
    assert found[3] == Query("own", 2, "one")


def test_every_id_of_a_request_for_several_tools_is_that_of_a_tool():
    for ids, kind, _ in (line.split("\t") for line in lines("requests.tsv")):
        parts = requests._ids(ids, ())
        assert all("::" in part for part in parts) or ids.startswith("Not found::"), ids
        assert kind != "multi" or len(parts) > 1, ids


def test_a_misspelt_request_asks_for_the_same_tool_in_nearly_the_same_letters():
    asked = [Query("own", n, "delete the selected records") for n in range(100)]
    asked += [Query("own_zh", 100, "删除 records"), Query("miss", 101, "delete other records")]
    found = list(requests.misspelt(asked, random.Random(1)))
    assert 20 < len(found) < 50
    assert {query.source for query in found} == {"own_typo"}
    assert {query.tool for query in found} <= set(range(100))
    for query in found:
        assert abs(len(query.text) - len("delete the selected records")) <= 3
        assert "the" in query.text.split(" ")
    assert sum(query.text != "delete the selected records" for query in found) > len(found) / 2


def test_a_request_that_names_another_product_is_a_miss():
    servers = ["trello", "acme jira", ""]
    asked = [Query("own", n % 3, "create a card.") for n in range(300)]
    asked += [Query("own_zh", 0, "新建卡片"), Query("own", 0, "put it on trello")] * 50
    found = list(requests.with_products(asked, servers, random.Random(1)))
    assert {query.source for query in found} == {"own_product", "miss"}
    for query in found:
        named = servers[query.tool] in query.text
        assert named == (query.source == "own_product"), query
        assert query.tool != 2
        assert "card. " not in query.text
    assert not any(query.text.count("trello") > 1 for query in found)
    assert any("trello" in query.text and "新建卡片" in query.text for query in found)


def test_a_task_asks_for_the_tools_of_both_its_parts():
    asked = [Query("own", 1, "send the mail."), Query("own", 2, "book a room")]
    asked += [Query("own_zh", 3, "查天气"), Query("own_zh", 4, "订机票"), Query("miss", 5, "no")]
    found = list(requests.tasks(asked, random.Random(1), 40))
    assert len(found) == 40
    for one, other in zip(found[::2], found[1::2], strict=True):
        assert one.text == other.text
        assert {one.tool, other.tool} in ({1, 2}, {3, 4})
        parts = {1: "send the mail", 2: "book a room", 3: "查天气", 4: "订机票"}
        assert parts[one.tool] in one.text
        assert parts[other.tool] in one.text
