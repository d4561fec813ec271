from collections import Counter
from collections.abc import Iterable

from toolcrib.evaluate.draft import DraftCase, DraftEvidence, draft_cases
from toolcrib.evaluate.unanswerable import unanswerable
from toolcrib.model import Entry, ToolInfo
from toolcrib.text import stems
from toolcrib.uses import LedWord

NOTHING = DraftEvidence()


def entry(server: str, name: str, description: str) -> Entry:
    info = ToolInfo(name=name, description=description, source="mcp", source_id=server)
    return Entry(f"{server}_{name}", name, info)


def entries(**servers: int) -> dict[str, Entry]:
    every = [
        entry(server, f"t{number}", f"Create the {server} thing number {'x' * number}")
        for server, count in servers.items()
        for number in range(1, count + 1)
    ]
    return {each.name: each for each in every}


def relevant(cases: Iterable[DraftCase]) -> list[str]:
    return [name for case in cases for name in case.relevant]


def of_split(split: str, cases: Iterable[DraftCase]) -> list[DraftCase]:
    return [each for each in cases if each.split == split]


def test_every_server_gets_its_turn_before_one_gets_a_second():
    cases = draft_cases(entries(large=50, a=1, b=1, c=2), NOTHING, count=9)
    servers = Counter(name.split("_")[0] for name in relevant(of_split("guess", cases)))
    assert servers == {"large": 5, "a": 1, "b": 1, "c": 2}


def test_tools_in_use_come_first():
    cases = draft_cases(entries(large=50), DraftEvidence(calls={"large_t7": 3}), count=3)
    assert relevant(of_split("guess", cases))[0] == "large_t7"


def test_words_that_led_to_a_tool_are_its_query():
    led = {
        "a_t1": [LedWord("mail", 2), LedWord("boss", 1)],
        "a_t2": [LedWord("alone", 9)],
        "gone": [LedWord("mail", 5), LedWord("boss", 5)],
    }
    cases = draft_cases(entries(a=3), DraftEvidence(led), count=20)
    [used] = of_split("use", cases)
    assert (used.query, used.relevant) == ("mail boss", ("a_t1",))
    assert "in 2 conversations" in used.note
    assert set(relevant(of_split("guess", cases))) == {"a_t2", "a_t3"}


def test_use_leaves_room_for_the_other_servers():
    led = {f"a_t{n}": [LedWord(f"w{n}", 1), LedWord("x", 1)] for n in range(1, 40)}
    cases = draft_cases(entries(a=40, b=5), DraftEvidence(led), count=20)
    assert len(of_split("use", cases)) == 9
    assert {"b"} & {name.split("_")[0] for name in relevant(of_split("guess", cases))}


def test_the_number_is_bounded_and_a_tenth_fits_nothing():
    cases = draft_cases(entries(a=500), NOTHING, count=50)
    assert len(cases) == 50
    assert [each.relevant for each in of_split("none", cases)] == [()] * 5


def test_two_runs_write_the_same():
    assert draft_cases(entries(a=9, b=9), NOTHING, count=7) == draft_cases(
        dict(reversed(entries(a=9, b=9).items())), NOTHING, count=7
    )


def test_tools_that_say_the_same_are_one_case():
    same = [entry("a", "send", "Send a mail"), entry("b", "send", "Send a mail")]
    cases = draft_cases({each.name: each for each in same}, NOTHING, count=20)
    queries = [each.query for each in cases]
    assert len(queries) == len(set(queries))
    assert sorted(relevant(cases)) == ["a_send", "b_send"]


def test_an_empty_catalog_has_no_cases():
    assert draft_cases({}, NOTHING, count=50) == []


def test_a_request_that_the_catalog_speaks_of_is_no_case_that_nothing_fits():
    every = {each.text for each in unanswerable((), chinese=True)}
    left = {each.text for each in unanswerable({*stems(["pizza"]), "打车服务"}, chinese=True)}
    assert every - left == {"order a pepperoni pizza for tonight", "叫一辆出租车去机场"}
    pizza = {"p": Entry("p", "p", ToolInfo(name="p", description="Delivers pizzas"))}
    asked = [each.query for each in of_split("none", draft_cases(pizza, NOTHING, count=200))]
    assert asked
    assert not [query for query in asked if "pizza" in query]


def test_chinese_ones_are_for_catalogs_that_speak_chinese():
    english = draft_cases(entries(a=3), NOTHING, count=100)
    assert all(each.query.isascii() for each in of_split("none", english))
    both = entries(a=3) | {"z": Entry("z", "z", ToolInfo(name="z", description="查询天气"))}
    asked = of_split("none", draft_cases(both, NOTHING, count=100))
    assert any(not each.query.isascii() for each in asked)
