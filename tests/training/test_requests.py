import random
from pathlib import Path

from training import requests
from training.requests import Asked

OWN = Path(requests.FOLDER)


def lines(name: str) -> list[str]:
    return (OWN / name).read_text(encoding="utf-8").splitlines()


def chinese(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in text)


def test_every_request_has_a_tool_a_kind_and_a_text():
    rows = [line.split("\t") for line in lines("requests.tsv")]
    assert {len(row) for row in rows} == {3}
    assert {row[1] for row in rows} == set(requests.KINDS)
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
    assert set[str]().union(*kinds) == set(requests.KINDS) - {"short", "multi"}


def test_nothing_is_written_twice():
    written = lines("none.txt") + [line.split("\t", 1)[1] for line in lines("requests.tsv")]
    assert len(written) == len(set(written))


def test_every_sample_is_a_tool_with_a_line_of_every_kind():
    kinds: list[list[str]] = []
    for kind, *cells in (line.split("\t") for line in lines("samples.tsv")):
        assert all(cells), cells
        if kind == "tool":
            assert len(cells) == 3, cells
            kinds.append([])
        else:
            kinds[-1].append(kind)
    assert {tuple(each) for each in kinds} == {tuple(kinds[0])}


def test_every_id_of_a_request_for_several_tools_is_that_of_a_tool():
    for cell, kind, _ in (line.split("\t") for line in lines("requests.tsv")):
        parts = requests.ids(cell, ())
        assert all("::" in part for part in parts) or cell.startswith("Not found::"), cell
        assert kind != "multi" or len(parts) > 1, cell


def test_a_misspelt_text_has_nearly_the_same_letters():
    text, chance = "delete the selected records", random.Random(1)
    found = [requests.misspelt(text, chance) for _ in range(100)]
    assert sum(each != text for each in found) > 80
    assert all(abs(len(each) - len(text)) <= 3 and "the" in each.split(" ") for each in found)


def test_a_request_that_names_another_product_is_wrong():
    servers = ["trello", "acme jira", ""]
    asked = [Asked("plain", (n % 3,), "create a card.") for n in range(300)]
    asked += [Asked("zh", (0,), "新建卡片"), Asked("plain", (0,), "put it on trello")] * 50
    found = list(requests.with_products(asked, servers, random.Random(1)))
    assert {each.kind for each in found} == {"product", "wrong"}
    for each in found:
        [tool] = each.tools
        assert (servers[tool] in each.text) == (each.kind == "product"), each
        assert tool != 2
        assert "card. " not in each.text
    assert not any(each.text.count("trello") > 1 for each in found)
    assert any("trello" in each.text and "新建卡片" in each.text for each in found)


def test_a_task_asks_for_the_tools_of_both_its_parts():
    said = {1: "send the mail", 2: "book a room", 3: "查天气", 4: "订机票"}
    asked = [Asked("plain" if tool < 3 else "zh", (tool,), text) for tool, text in said.items()]
    found = requests.tasks([*asked, Asked("miss", (5,), "no")] * 20, random.Random(1), 20)
    assert len(found) == 20
    for each in found:
        assert {*each.tools} <= {1, 2} or {*each.tools} <= {3, 4}
        assert all(said[tool] in each.text for tool in each.tools)
