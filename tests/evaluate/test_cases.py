import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import EvalError
from toolcrib.evaluate import EvalSuite, load_cases, load_suite
from toolcrib.evaluate.cases import EvalCase, EvalTool
from toolcrib.evaluate.measures import score

TOOL: dict[str, object] = {
    "id": "t1",
    "name": "read_file",
    "description": "Read a file",
    "parameters": {},
}
QUERY: dict[str, object] = {"id": "q1", "query": "read", "relevant": ["t1"]}
KEYS = sorted({*EvalTool.model_fields, *EvalCase.model_fields})


class Files:
    """A catalog and queries, on disk."""

    def __init__(self, folder: Path) -> None:
        self.catalog = folder / "catalog.jsonl"
        self.queries = folder / "queries.jsonl"
        self.write([TOOL], [QUERY])

    def write(self, tools: Sequence[object] | str, queries: Sequence[object] | str) -> None:
        for path, lines in ((self.catalog, tools), (self.queries, queries)):
            text = lines if isinstance(lines, str) else "\n".join(map(json.dumps, lines))
            path.write_text(text, encoding="utf-8")

    @property
    def yaml(self) -> Path:
        return self.queries.with_suffix(".yaml")

    def write_yaml(self, text: str) -> Mapping[str, EvalCase]:
        self.yaml.write_text(dedent(text), encoding="utf-8")
        return load_cases(self.yaml).cases

    def load(self) -> EvalSuite:
        return load_suite(self.catalog, self.queries)

    def refusal(self) -> str:
        with pytest.raises(EvalError) as caught:
            self.load()
        return str(caught.value)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_a_catalog_and_queries_are_read(files: Files):
    suite = files.load()
    assert suite.tools["t1"].name == "read_file"
    assert suite.tools["t1"].description == "Read a file"
    case = suite.cases["q1"]
    assert (case.id, case.query, case.relevant) == ("q1", "read", ["t1"])
    assert (case.split, case.equiv, case.relevance, case.instruction) == ("", {}, "all", "")
    assert not suite.unused


def test_everything_that_may_be_said_is_read(files: Files):
    tool = (
        TOOL
        | {"id": "t2", "title": "Reader", "tags": ["x"], "search_hint": "open"}
        | {"server": "disk"}
    )
    query = QUERY | {
        "split": "hard",
        "equiv": {"t2": "t1"},
        "relevance": "any",
        "grades": {"t1": 2},
        "candidates": ["t1", "t2"],
        "instruction": "Given a file, read it",
    }
    assert tool.keys() == EvalTool.model_fields.keys()
    assert query.keys() == EvalCase.model_fields.keys()
    files.write([TOOL, tool], [query])
    suite = files.load()
    info = suite.tools["t2"].info()
    assert (info.name, info.title, info.tags, info.search_hint) == ("t2", "Reader", ("x",), "open")
    assert (info.source, info.source_id) == ("mcp", "disk")
    case = suite.cases["q1"]
    assert (case.split, case.equiv, case.relevance) == ("hard", {"t2": "t1"}, "any")
    assert (case.grades, case.candidates) == ({"t1": 2}, ["t1", "t2"])
    assert case.instruction == "Given a file, read it"
    assert not suite.unused


def test_what_is_null_in_a_catalog_is_not_said(files: Files):
    files.write([TOOL | {"description": None, "parameters": None, "title": None}], [QUERY])
    info = files.load().tools["t1"].info()
    assert (info.description, info.parameters, info.title) == ("", {}, "")


def test_keys_that_nobody_reads_are_counted_by_file(files: Files):
    files.write([TOOL | {"lang": "en"}], [QUERY | {"lang": "en", "source": "x"}])
    assert files.load().unused == {
        "catalog.jsonl: lang": 1,
        "queries.jsonl: lang": 1,
        "queries.jsonl: source": 1,
    }


def test_empty_lines_and_line_breaks_in_texts_do_no_harm(files: Files):
    odd = TOOL | {"id": "t\u2028", "description": "a\x0cb\u2029c"}
    text = "\n\n".join(json.dumps(line, ensure_ascii=False) for line in (TOOL, odd)) + "\n"
    files.write(text, [QUERY])
    assert files.load().tools["t\u2028"].description == "a\x0cb\u2029c"


def test_cases_in_yaml_need_no_id_and_no_list(files: Files):
    text = """
    # a comment
    - query: read it
      relevant: t1
      split: mine
    - {query: order a pizza, relevant: []}
    - {id: third, query: read it, relevant: [t1]}
    """
    cases = files.write_yaml(text)
    assert list(cases) == ["read it", "order a pizza", "third"]
    assert (cases["read it"].relevant, cases["read it"].split) == (["t1"], "mine")
    assert cases["order a pizza"].relevant == []


YAMLS = [
    ("- query: [a", "1: "),
    ("query: x", "1: this is no list"),
    ("- query: x\n  relevant: []\n- query: x\n  relevant: []", "3: the id 'x' is there already"),
    ("- relevant: []", "1: id: "),
    ("- query: x", "1: relevant: "),
    ("- query: x\n  relevant: 7", "1: relevant: "),
    ("- 7", "1: Input should be"),
    ("- query: &a x\n  relevant: []", "1: there is an &anchor"),
    ("", " there is nothing in it to evaluate"),
]


@pytest.mark.parametrize(("text", "cause"), YAMLS, ids=range(len(YAMLS)))
def test_a_mistake_in_yaml_is_named_with_its_line(files: Files, text: str, cause: str):
    with pytest.raises(EvalError) as caught:
        files.write_yaml(text)
    assert str(caught.value).startswith(f"{files.yaml}:{cause}")


CATALOGS = [
    ("{", "Invalid JSON"),
    ("[1]", "Input should be an object"),
    ("[" * 100_000, "Invalid JSON"),
    ('{"name": "x"}', "id: "),
    ('{"id": 7, "name": "x"}', "id: "),
    ('{"id": "x"}', "name: "),
    ('{"id": "x", "name": "x", "parameters": [1]}', "parameters: "),
    ('{"id": "x", "name": "x", "description": 7}', "description: "),
    ('{"id": "x", "name": "x", "tags": [7]}', "tags.0: "),
    ('{"id": "t1", "name": "x"}', "the id 't1' is there already"),
]


@pytest.mark.parametrize(("line", "cause"), CATALOGS, ids=range(len(CATALOGS)))
def test_a_bad_line_of_a_catalog_is_named(files: Files, line: str, cause: str):
    files.write(f"{json.dumps(TOOL)}\n\n{line}\n", [QUERY])
    assert files.refusal().startswith(f"{files.catalog}:3: {cause}")


QUERIES = [
    ('{"query": "x", "relevant": []}', "id: "),
    ('{"id": "x", "relevant": []}', "query: "),
    ('{"id": "x", "query": "x"}', "relevant: "),
    ('{"id": "x", "query": "x", "relevant": "t1"}', "relevant: "),
    ('{"id": "x", "query": "x", "relevant": [["t1"]]}', "relevant.0: "),
    ('{"id": "x", "query": "x", "relevant": [], "equiv": ["t1"]}', "equiv: "),
    ('{"id": "x", "query": "x", "relevant": [], "relevance": "some"}', "relevance: "),
    ('{"id": "x", "query": "x", "relevant": ["t1"], "grades": {"t1": "high"}}', "grades.t1: "),
    ('{"id": "x", "query": "x", "relevant": ["t1"], "grades": {"t1": -1}}', "grades.t1: "),
    ('{"id": "q1", "query": "x", "relevant": []}', "the id 'q1' is there already"),
]


@pytest.mark.parametrize(("line", "cause"), QUERIES, ids=range(len(QUERIES)))
def test_a_bad_line_of_queries_is_named(files: Files, line: str, cause: str):
    files.write([TOOL], f"{json.dumps(QUERY)}\n{line}")
    assert files.refusal().startswith(f"{files.queries}:2: {cause}")


@pytest.mark.parametrize("key", [{"relevant": ["t1", "t9"]}, {"equiv": {"t9": "t1"}}])
def test_a_query_about_a_tool_that_is_not_in_the_catalog_is_named(
    files: Files, key: dict[str, object]
):
    files.write([TOOL], [QUERY | key])
    assert files.refusal().startswith(f"{files.queries}: query 'q1' names the tool 't9', which")
    assert files.refusal().endswith("; nearest: t1")


def test_files_with_nothing_in_them_are_no_suite(files: Files):
    files.write([TOOL], "\n")
    assert files.refusal() == f"{files.queries}: there is nothing in it to evaluate"
    files.write("", [QUERY])
    assert files.refusal() == f"{files.catalog}: there is nothing in it to evaluate"


def test_files_that_cannot_be_read_are_named(files: Files):
    files.queries.write_bytes(b"\xff")
    assert files.refusal().startswith(f"{files.queries}: cannot be read: ")
    files.catalog.unlink()
    assert files.refusal().startswith(f"{files.catalog}: cannot be read: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "t1", "any", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("t1"), inner),
    max_leaves=4,
)
LINES = st.dictionaries(st.sampled_from(KEYS), JSON)


@given(tool=LINES, query=LINES)
def test_whatever_the_lines_say_it_is_a_suite_or_an_error_that_says_where(
    tool: dict[str, object],
    query: dict[str, object],
    tmp_path_factory: pytest.TempPathFactory,
):
    folder = tmp_path_factory.getbasetemp() / "cases"
    folder.mkdir(exist_ok=True)
    files = Files(folder)
    files.write([TOOL, {"id": "t2", "name": "x"} | tool], [QUERY, {"id": "q2"} | query])
    places = (f"{files.catalog}:2: ", f"{files.queries}:2: ", f"{files.queries}: ")
    try:
        suite = files.load()
    except EvalError as error:
        told = str(error)
    else:
        scores = score((case, list(suite.tools)) for case in suite.cases.values())
        told = f"{places[0]}{scores.answerable + scores.unanswerable} can be scored"
    assert told.startswith(places)
