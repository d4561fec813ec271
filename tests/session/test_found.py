"""What a model reads of a search: within its budget, never a dead end, and readable back."""

from hypothesis import given
from hypothesis import strategies as st

from tests.session.deck import crib_of, names, plenty
from tests.workshop import SEEN, ListedSource
from toolcrib.model import Answer, Hit, ToolInfo
from toolcrib.session.found import MORE, Found, revealed_in
from toolcrib.text.tokens import Tokenizer


def test_signatures_first_then_schemas():
    text = crib_of().session().search("read a text file from disk").text()
    first, *lines = text.splitlines()
    assert first == "You can call these now:"
    assert lines[0] == "- read_file(path?: string) [read] Read a text file from the disk"
    assert lines.index("Parameters in full:") > 0
    assert 'read_file: {"type":"object","properties":{"path":{"type":"string"}}}' in lines


def test_several_queries_each_have_their_part():
    text = crib_of().session().search(queries=["read_file", "current_time", "read_file"]).text()
    assert text.count("- read_file(") == 1
    assert "'read_file':" in text
    assert "'current_time':" in text


def test_what_two_queries_find_is_told_once():
    text = crib_of().session().search(queries=["select:read_file", "select:readFile"]).text()
    assert text.count("- read_file(") == 1
    assert "- read_file, as above" in text


def test_nothing_found_names_the_nearest_and_what_there_is():
    found = crib_of().session().search("qqqq zzzz")
    assert not found.tools
    assert "Nothing fits" in found.text()
    assert "There is: " in found.text()
    missing = crib_of().session().search("select:raed_file").text()
    assert "- no 'raed_file'; nearest: read_file" in missing


def test_a_state_comes_with_its_remedy():
    source = ListedSource(*SEEN)
    source.states["search_web"] = "needs_login"
    crib = crib_of(())
    crib.add_source(source)
    session = crib.session()
    found = session.search("search_web")
    assert "needs_login: " in found.text()
    assert "search_web" not in names(session.active_tools())


def test_a_skill_is_told_as_one():
    found = crib_of().session().search("fill in pdf forms", kinds=["skill"])
    assert "[skill, " in found.text()
    assert not found.tools


def test_a_tool_that_was_not_loaded_says_how_to_load_it():
    hits = tuple(
        Hit(name, "tool", "mcp", "s", "ready", "", 1.0, "d", "read") for name in ("a", "b")
    )
    found = Found((Answer("q", hits),), ("a",), (ToolInfo(name="a", description="d"),))
    assert "- b [read, not loaded: `select:b` loads it] d" in found.text()


def test_the_names_can_be_read_back():
    found = crib_of(plenty(60)).session().search("turn gear number")
    assert revealed_in(found.text()) == tuple(names(found.tools))
    assert revealed_in("Nothing fits.") == revealed_in("") == ()
    assert revealed_in("x\n" + found.text()) == ()


WIDE = tuple(
    ToolInfo(
        name=f"turn_gear_{number}",
        description="Turn the gear 转动齿轮 " * 30,
        parameters={
            "type": "object",
            "properties": {
                f"p{n}": {"type": "string", "description": "角度 " * 9} for n in range(number)
            },
        },
    )
    for number in range(40)
)


@given(st.integers(80, 3_000), st.integers(1, 4), st.integers(1, 8))
def test_the_budget_is_kept(budget: int, queries: int, limit: int):
    session = BIG.session()
    found = session.search(queries=[f"turn gear {n}" for n in range(queries)], limit=limit)
    assert TOKENIZER.count(found.text(budget)) <= budget
    assert TOKENIZER.count(found.text()) <= 1_500


BIG = crib_of(WIDE)
TOKENIZER = Tokenizer()


def test_what_does_not_fit_is_said():
    assert BIG.session().search("turn gear").text(150).endswith(MORE)
