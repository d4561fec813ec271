from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.catalogs import CHINESE, NOUNS, VERBS, tool
from tests.workshop import ENGINES, pooled, search_rules, searching, uncut
from toolcrib.access import Scope, why_hidden
from toolcrib.model import Query
from toolcrib.search import Explanation, Search, SearchRules, answer_query, explain

WORDS = """
    read write send a file files message user channel list issues web page the and then save
    读取 文件 发送消息 write_file `read_file` notification-send-user create_issue photo pdf zzz
""".split()
FREE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
FORMS = st.sampled_from(
    [
        "",
        "select:write_file,raed_file,list_channels",
        "select:create_issue",
        "+slack send",
        "+issue",
        "+nowhere send",
        "/file/",
        "/(/",
    ]
)

FEWER = settings(max_examples=40)
"""Each example searches once for every tool that there is."""


def why(search: Search, text: str, name: str, limit: int | None = None) -> Explanation:
    entry = search.entries[name]
    return explain(Query(text, limit), entry, why_hidden(entry, Scope()), search)


def agrees(search: Search, text: str, limit: int | None = None) -> None:
    """Each visible capability's explanation says what the search did with it."""
    returned = [hit.name for hit in answer_query(Query(text, limit), search)]
    for name in filter(search.sees, search.entries):
        told = why(search, text, name, limit)
        place = returned.index(name) + 1 if name in returned else None
        assert told.summary.startswith("returned") == (place is not None)
        assert place in (None, told.rank)


def test_an_explanation_tells_every_step(search: Search):
    told = why(replace(search, rules=search_rules(fusion="rrf")), "please write file", "write_file")
    assert [(each.origin, each.weight) for each in told.wordings] == [
        ("as written", 0.7),
        ("plain words", 1.0),
    ]
    for wording in told.wordings:
        assert wording.ranks == {"like": 1, "bm25": 2}
        assert wording.bonus == pytest.approx(0.5 + 0.0002)
        assert wording.score == pytest.approx(0.5 + 0.0002 + 1 / 61 + 1 / 62)
        assert wording.rank == 1
    assert (told.rank, told.score) == (1, pytest.approx(1.7 / 61))
    assert told.best == ("write_file", told.score)
    assert (told.state, told.hidden, told.summary) == ("ready", "", "returned at rank 1")


def test_an_explanation_says_how_sure_the_answer_is(search: Search):
    named, asked = (why(search, text, "write_file") for text in ("write_file", "text to a disk"))
    assert (named.confidence, named.chance) == ("high", 1.0)
    assert asked.chance == pytest.approx(search.trace("text to a disk", depth=50).chance)
    assert asked.chance < 1


def test_an_explanation_names_the_several_things_that_were_asked_for(search: Search):
    told = why(search, "write text to a file and then send a message to a user", "write_file")
    assert [part for part, _ in told.parts] == ["write text to a file", "send a message to a user"]
    assert told.parts[0][1] == 1


def test_what_is_too_unsure_is_found_and_not_returned(search: Search):
    unsure = replace(search, calibrated_cosines=True)
    text = "what would my grandmother say of the weather on a file"
    told = why(replace(unsure, rules=search_rules()), text, "read_file")
    assert told.rank
    assert told.confidence in {"low", "none", "medium"}


def test_what_is_not_found_has_no_ranks(search: Search):
    told = why(search, "write a file", "mcp_jira_create_issue")
    assert (told.rank, told.score) == (None, 0.0)
    assert all(set(each.ranks.values()) == {None} for each in told.wordings)
    assert told.summary.startswith("not found")


def test_what_is_cut_is_found_below_the_cut(search: Search):
    told = why(search, "write_file", "read_file")
    assert told.cut_at == 1
    assert told.summary == f"found at rank {told.rank}, below the cut after 1"


def test_what_is_beyond_the_limit_is_found_there(search: Search):
    told = why(search, "write file", "write_file_backup", limit=1)
    assert (told.rank, told.limit) == (2, 1)
    assert told.summary == "found at rank 2, beyond the limit of 1"


@pytest.mark.parametrize(("asked", "limit"), [(None, 5), (3, 3), (99, 8), (0, 0)])
def test_the_limit_is_that_of_the_answer(search: Search, asked: int | None, limit: int):
    assert why(search, "file", "read_file", asked).limit == limit


@pytest.mark.parametrize(
    ("name", "reason", "state"),
    [
        ("erase_file", "not searchable", "ready"),
        ("shred_file", "disabled", "disabled"),
        ("tag_file", "other platform", "other_platform"),
    ],
)
def test_what_is_hidden_is_explained_as_if_it_were_not_with_the_filter_beside(
    search: Search, name: str, reason: str, state: str
):
    told = why(search, name, name)
    assert (told.rank, told.hidden, told.state) == (1, reason, state)
    assert told.summary == f"hidden from this caller: {reason}"


@given(FREE, st.none() | st.integers(0, 9))
@example("write_file", None)
@FEWER
def test_an_explanation_agrees_with_the_search(search: Search, text: str, limit: int | None):
    agrees(search, text, limit)


@given(
    FREE,
    st.sampled_from([search_rules(cut="top_band"), search_rules(cut_ratio=1.05), uncut(limit=2)]),
)
@example("read file and send", search_rules(cut="top_band"))
@FEWER
def test_and_under_other_rules(search: Search, text: str, rules: SearchRules):
    agrees(replace(search, rules=rules), text)


@given(FORMS, st.none() | st.integers(1, 9))
@FEWER
def test_and_for_the_other_forms_of_a_query(search: Search, text: str, limit: int | None):
    agrees(search, text, limit)


@given(FREE)
@FEWER
def test_the_rank_is_the_position_in_an_uncut_search(search: Search, text: str):
    whole = replace(search, rules=uncut(search_rules(most=99), limit=99))
    found = [hit.name for hit in answer_query(Query(text), whole)]
    for name in filter(search.sees, search.entries):
        told = why(whole, text, name)
        assert told.rank == (found.index(name) + 1 if name in found else None)


@pytest.fixture(scope="module", params=ENGINES)
def crowd(request: pytest.FixtureRequest) -> Iterator[Search]:
    """A search among so many that no arm gives all its matches to the fusion."""
    chance = Random(7)
    tools = [replace(tool(chance, number), name=f"tool_{number}") for number in range(150)]
    with searching(request.param, pooled(*tools), rules=search_rules(most=20)) as search:
        yield replace(search, depth=10)


@pytest.mark.parametrize("seed", range(10))
def test_an_explanation_agrees_where_the_arms_end_before_their_matches_do(crowd: Search, seed: int):
    chance = Random(seed)
    text = " ".join(chance.choices(VERBS + NOUNS + CHINESE, k=chance.randint(1, 5)))
    agrees(crowd, text, limit=20)


def test_how_far_down_an_arm_has_it_is_told_even_if_the_fusion_never_heard(crowd: Search):
    shallow = replace(crowd, depth=1)
    deep = [why(shallow, "read file message", name) for name in shallow.entries]
    lost = [told for told in deep if told.rank is None and told.wordings[0].ranks["bm25"]]
    assert lost
    assert all(told.summary.startswith("not found") for told in lost)


def test_an_explanation_says_what_was_corrected(search: Search):
    told = why(search, "wriet a fiel", "write_file")
    assert told.corrections == ("wriet → write", "fiel → file")
    assert (told.wordings[0].text, told.wordings[0].origin) == ("write a file", "corrected")
    assert why(search, "write a file", "write_file").corrections == ()
