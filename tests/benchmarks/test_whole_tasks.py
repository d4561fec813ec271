"""Whole tasks are done in three ways on a real server, come to the same, and are all counted."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import tokens
from benchmarks.home import Unusable
from benchmarks.whole_tasks.conversation import Conversation
from benchmarks.whole_tasks.file_tasks import FILE_TASKS
from benchmarks.whole_tasks.ground import Ground
from benchmarks.whole_tasks.measure import Measured, measured, new_ground, report, without_same
from benchmarks.whole_tasks.other_tasks import OTHER_TASKS
from benchmarks.whole_tasks.task import Results, ToolCall, WholeTask, always
from benchmarks.whole_tasks.ways import WAYS
from toolcrib.evaluate.cases import EvalTool
from toolcrib.text import tool_definition
from toolcrib.text.tokens import Tokenizer

STOCK_SERVER = Path(__file__).with_name("stock_server.py")
ENTRIES = {"stock": {"command": sys.executable, "args": ["-S", str(STOCK_SERVER), "{work}"]}}
PLACES = ("attic", "cellar", "yard")


def _listing(*places: str) -> list[ToolCall]:
    return [ToolCall("list_stock", {"place": place}) for place in places]


def _count(results: Results) -> int:
    return sum(row["count"] for text in results[0] for row in json.loads(text))


ONE = WholeTask(
    name="one place",
    servers=("stock",),
    request="How many things are in the attic?",
    queries=("list the stock of a place",),
    turns=(always(*_listing("attic")),),
    answer=_count,
    programs=('sum(row["count"] for row in await stock.list_stock(place="attic"))',),
)
REPORT = WholeTask(
    name="a report on three places",
    servers=("stock",),
    request="How many things are in attic, cellar and yard? Save the number.",
    queries=("list the stock of a place", "save report"),
    turns=(
        always(*_listing(*PLACES)),
        lambda results: [ToolCall("save_report", {"text": str(_count(results))})],
    ),
    answer=_count,
    programs=(
        """\
total = 0
for place in ["attic", "cellar", "yard"]:
    total += sum(row["count"] for row in await stock.list_stock(place=place))
await stock.save_report(text=str(total))
total""",
    ),
)
FILL = {
    f"far::tool_{number}": EvalTool(
        id=f"far::tool_{number}",
        name=f"tool_{number}",
        description="Turn a lever that has nothing to do with it, and say so at some length.",
        parameters={"type": "object", "properties": {"angle": {"type": "number"}}},
    )
    for number in range(40)
}


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    with new_ground() as made:
        yield made


@pytest.fixture(scope="module")
def rows(ground: Ground) -> list[Measured]:
    return measured([ONE, REPORT], ENTRIES, FILL, [10, 40], ground)


def test_requests_are_one_more_than_the_turns_of_the_model(rows: list[Measured]):
    requests = {row.task.name: [row.spent[way].requests for way in WAYS] for row in rows}
    assert requests == {"one place": [2, 3, 3], "a report on three places": [3, 4, 3]}


def test_more_tools_cost_the_eager_way_most(rows: list[Measured]):
    few, many = rows[2:]
    added = {way: many.spent[way].tokens - few.spent[way].tokens for way in WAYS}
    counted = sum(Tokenizer().count(tool_definition(each.info())) for each in [*FILL.values()][:30])
    assert added["eager"] > 3 * counted > 5 * max(added["search"], added["code"])


def test_results_stay_with_the_program(rows: list[Measured]):
    for row in rows[2:]:
        assert row.of_search < 0.5
        assert row.saved == 1 - row.spent["code"].tokens / row.spent["eager"].tokens


def test_the_report_has_each_task_and_the_medians(rows: list[Measured]):
    told = report(rows)
    assert told.count("| one place | 2 / 3 / 3 |") == 2
    assert told.count("| **median** |") == 2
    assert "among 10 tools" in told
    assert "among 40 tools" in told


def test_what_the_search_missed_is_searched_again_by_name(ground: Ground):
    [row] = measured([replace(ONE, queries=("turn a lever",))], ENTRIES, FILL, [40], ground)
    assert [row.spent[way].requests for way in WAYS] == [2, 4, 4]


@pytest.mark.parametrize(
    "program",
    [
        'sum(row["count"] for row in await stock.list_stock(place="attic")) + 1',
        """\
await stock.save_report(text="")
sum(row["count"] for row in await stock.list_stock(place="attic"))""",
    ],
    ids=["answer", "file"],
)
def test_a_way_that_comes_to_something_else_is_not_counted(program: str, ground: Ground):
    with pytest.raises(Unusable, match="code has another result than eager"):
        measured([replace(ONE, programs=(program,))], ENTRIES, {}, [2], ground)


def test_a_program_that_fails_is_not_counted(ground: Ground):
    with pytest.raises(Unusable, match="bad_program"):
        measured([replace(ONE, programs=("await stock.list_stock()",))], ENTRIES, {}, [2], ground)


def test_a_request_has_all_that_was_said_and_the_model_writes_besides():
    count, talk = Tokenizer().count, Conversation(lambda text: text)
    talk.hear(["a question"])
    talk.request(["a tool"])
    talk.reply(["a call"])
    talk.hear(["its result"])
    talk.request(["a tool", "another tool"])
    first = count("a tool") + count("a question")
    second = first + count("another tool") + count("a call") + count("its result")
    tokens_of_both = first + count("a call") + second
    again = count("a tool")
    assert (talk.spent.requests, talk.spent.tokens) == (2, tokens_of_both)
    assert talk.spent.cached == pytest.approx(tokens_of_both - 0.9 * again)


def test_the_folder_and_the_site_count_the_same_in_every_run(tmp_path: Path):
    ground = Ground(tmp_path / "work", "http://127.0.0.1:5")
    text = "{work} and {site}"
    assert ground.shown(ground.filled(text)) == "/home/ann/work and http://intranet.example"


def test_the_tasks_are_many_and_begin_from_the_same(tmp_path: Path):
    ground = Ground(tmp_path / "work", "")
    ground.make()
    made = ground.left()
    (ground.folder / "left.txt").write_text("by another way")
    ground.make()
    assert ground.left() == made
    assert len({task.name for task in (*FILE_TASKS, *OTHER_TASKS)}) >= 12


def test_servers_that_tasks_start_are_not_around_them_too():
    server = EvalTool(id="mcp-server-git::git_log", name="git_log", description="", parameters={})
    assert without_same({server.id: server, **FILL}) == FILL


def test_tasks_need_servers_around_them(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        tokens.main(["--tasks"])
    assert "--tasks needs --catalogs" in capsys.readouterr().err
