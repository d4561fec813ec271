"""Fixed points: 3 for a word in the name, 1 in the description alone, 100 for the whole name."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

import pytest

from tests.workshop import ENGINES, ListedSource, mcp, pooled, search_rules, searching
from toolcrib import Crib, Settings
from toolcrib.access import Scope, why_hidden
from toolcrib.model import Answer, NameFilter, Query, ToolInfo, Variant
from toolcrib.search import Explanation, Search, answer_query, explain, explain_ranking

TOOLS = (
    ToolInfo(name="read_file", description="Read a text from disk"),
    ToolInfo(name="write_file", description="Save a text, and read it back"),
    ToolInfo(name="append_file", description="Add a line"),
    ToolInfo(name="show_text", description="Put words on the screen"),
    ToolInfo(name="print_page", description="Send what was written to paper, disk or PDF"),
    ToolInfo(name="read_file_backup", description="Look into a copy"),
    mcp("github", "create_issue", "Open a ticket"),
    mcp("jira", "create_issue", "Open a ticket"),
)
FILES = ("read_file", "read_file_backup", "write_file")
BY_KEYWORDS = search_rules(fusion="keywords", limit=8)


@pytest.fixture(params=ENGINES)
def search(request: pytest.FixtureRequest) -> Generator[Search]:
    with searching(request.param, pooled(*TOOLS), rules=BY_KEYWORDS) as search:
        yield search


def points(search: Search, text: str) -> Mapping[str, float]:
    """The score of each that has one, in the order of the ranking."""
    return dict(search.trace(text, depth=None).ranking)


def answer(search: Search, text: str) -> Answer:
    return answer_query(Query(text), search)


def why(search: Search, text: str, name: str) -> Explanation:
    entry = search.entries[name]
    return explain(Query(text), entry, why_hidden(entry, Scope()), search)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("paper", [("print_page", 1)]),
        ("page", [("print_page", 3)]),
        ("save", [("write_file", 1)]),
        ("disk", [("print_page", 1), ("read_file", 1)]),
        ("github", [("mcp_github_create_issue", 3)]),
        # In the name it counts 3, though the description has it too: never 4.
        ("read", [("read_file", 3), ("read_file_backup", 3), ("write_file", 1)]),
        ("text", [("show_text", 3), ("read_file", 1), ("write_file", 1)]),
        ("disk page", [("print_page", 4), ("read_file", 1)]),
        ("file line", [("append_file", 4), *dict.fromkeys(FILES, 3).items()]),
    ],
)
def test_a_word_counts_three_in_the_name_and_one_in_the_description_alone(
    search: Search, text: str, expected: Sequence[tuple[str, float]]
):
    assert list(points(search, text).items()) == expected


def test_the_whole_name_counts_a_hundred_more_and_comes_first(search: Search):
    assert points(search, "read_file") == {"read_file": 103, "read_file_backup": 3}
    assert [hit.name for hit in answer(search, "read_file")] == ["read_file"]  # the rest is cut
    assert points(search, "read file")["read_file"] == 6  # these are two words, and no name
    assert points(search, "use read_file")["read_file"] == 3


@pytest.mark.parametrize("text", ['"read_file"', "`read_file`", "Read_File.", "  'read_file' "])
def test_signs_around_a_name_and_capital_letters_do_not_matter(search: Search, text: str):
    assert points(search, text) == points(search, "read_file")


def test_signs_around_a_word_do_not_matter_and_signs_alone_are_no_word(search: Search):
    assert points(search, "(Disk), -- page?") == points(search, "disk page")
    assert points(search, ", ...") == {}


def test_the_own_name_of_a_tool_is_its_whole_name_too_and_ties_go_by_name(search: Search):
    both = {"mcp_github_create_issue": 103, "mcp_jira_create_issue": 103}
    assert list(points(search, "create_issue").items()) == list(both.items())
    assert points(search, "mcp_jira_create_issue")["mcp_jira_create_issue"] == 103


def test_a_word_that_is_asked_twice_counts_twice_and_one_within_a_word_counts(search: Search):
    assert points(search, "paper paper") == {"print_page": 2}
    assert points(search, "pap") == {"print_page": 1}


def test_nothing_is_corrected_reworded_or_split(search: Search):
    trace = search.trace("raed the disk, then save a page", depth=None)
    assert trace.text == "raed the disk, then save a page"
    assert not trace.corrections
    assert not trace.parts
    assert [step.arms for step in trace.steps] == [{}]


def test_no_vector_is_asked_for(search: Search):
    def embed(_variants: Sequence[Variant], **_how: bool) -> Sequence[Variant]:
        raise AssertionError

    assert points(replace(search, embed=embed), "disk")


def test_a_query_whose_words_are_nowhere_has_no_hits(search: Search):
    found = answer(search, "bake cake")
    assert not found.hits
    assert (found.confidence, found.chance, found.candidates) == ("none", 0.0, 0)
    assert found.note.startswith("Nothing fits.")
    assert found.namespaces
    assert not answer(replace(search, min_chance=0.15), "bake cake").hits


def test_the_chance_is_higher_the_more_of_the_words_it_has_and_the_fewer_have_them(search: Search):
    named, sure, tied, weak = (
        answer(search, text)
        for text in ("read_file", "read file backup", "file", "save the world with paper hats")
    )
    assert (named.confidence, named.chance) == ("high", 1.0)
    assert sure.confidence == "high"
    assert 1 > sure.chance > tied.chance > weak.chance
    assert weak.confidence == "low"


def test_what_is_hidden_has_no_points(search: Search):
    less = replace(search, hidden=NameFilter.without(["read_file"]))
    assert points(less, "read_file") == {"read_file_backup": 3}


def test_a_required_word_chooses_and_the_rest_is_counted(search: Search):
    assert [(hit.name, hit.score) for hit in answer(search, "+file save read")] == [
        ("read_file", 3.0),
        ("read_file_backup", 3.0),
        ("write_file", 2.0),
    ]
    assert "No tool with that name is about" in answer(search, "+file cake").note


def test_the_cut_at_half_of_the_best_is_the_seed_s(search: Search):
    """Eight at most, of which each has at least half of the most points."""
    rules = search_rules(fusion="keywords", cut="top_band", limit=8)
    hits = answer(replace(search, rules=rules), "append file text").hits
    assert [(hit.name, hit.score) for hit in hits] == [
        ("append_file", 6.0),
        ("read_file", 4.0),
        ("write_file", 4.0),
        ("read_file_backup", 3.0),
        ("show_text", 3.0),
    ]


def test_an_explanation_tells_the_points_and_what_they_are_for(search: Search):
    told = why(search, "`write_file`", "write_file")
    assert told.contributions == {"name": 3, "description": 0, "whole name": 100}
    assert (told.rank, told.score, told.summary) == (1, 103, "returned at rank 1")
    [wording] = told.wordings
    assert (wording.bonus, wording.score, wording.rank) == (103, 103, 1)
    other = why(search, "read page text", "write_file")
    assert other.contributions == {"name": 0, "description": 2, "whole name": 0}
    assert other.best_contributions == {"name": 3, "description": 1, "whole name": 0}
    assert other.share == pytest.approx(4 / 9)  # of three words in the name


def test_an_explanation_tells_why_one_was_not_found(search: Search):
    told = why(search, "disk", "append_file")
    assert told.summary == "not found: no word of the query is in its name or description"
    assert (told.rank, told.score) == (None, 0)


def test_a_ranking_explained_has_the_points_of_each(search: Search):
    told = explain_ranking(Query("disk page"), search)
    sums = [(each.name, each.score, sum(each.contributions.values())) for each in told.candidates]
    assert sums == [("print_page", 4, 4), ("read_file", 1, 1)]
    assert told.fusion == "keywords"


def test_a_crib_goes_by_what_is_set():
    settings = {"search": {"fusion": "keywords"}, "embed": {"embedder": "none"}}
    with Crib(Settings.model_validate(settings)) as crib:
        crib.add_source(ListedSource(*TOOLS))
        assert [(hit.name, hit.score) for hit in crib.search("read_file")] == [("read_file", 103)]
        assert not crib.search("dikc").hits
    with Crib(Settings.model_validate({**settings, "search": {}})) as crib:
        crib.add_source(ListedSource(*TOOLS))
        assert crib.search("read_file").hits[0].score == 1.0
