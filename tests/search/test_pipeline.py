from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workshop import (
    ENGINES,
    SEEN,
    EngineName,
    OneNear,
    pooled,
    search_rules,
    searching,
    uncut,
)
from toolcrib.model import NameFilter, Query, Variant
from toolcrib.search import Search, SearchRules, answer_query
from toolcrib.search.confidence import BROAD, LOW
from toolcrib.search.fusion import fuse_all, fuse_variant
from toolcrib.search.rrf import rrf_arms, rrf_variants

RRF = search_rules(fusion="rrf")
NEAR_BROAD, FAR = 0.6, 0.1
BOTH = 0.7 / 61 + 1.0 / 61  # the score of what is first both as written and in plain words

QUERIES = st.lists(
    st.sampled_from(
        "read write send a file files message user channel list issues web page the and "
        "读取 文件 发送消息 write_file notification-send-user photo pdf zzz".split()
    ),
    max_size=6,
).map(" ".join)


def ids(search: Search, text: str) -> list[str]:
    return [match.id for match in search.trace(text, depth=None).ranking]


def test_a_trace_keeps_every_step(search: Search):
    trace = search.trace("read a file", depth=50)
    assert [step.variant.origin for step in trace.steps] == ["as written", "plain words"]
    for step in trace.steps:
        assert list(step.arms) == ["like", "bm25"]
        assert step.fused == fuse_variant(step.arms, step.bonus, search.rules, 50)
    fused = fuse_all(trace.steps, search.rules, 50)
    assert [match.id for match in trace.ranking] == [match.id for match in fused]
    assert trace.ranking[0].score == trace.chance
    assert trace.after_cut == search.cut(trace.ranking)


def test_by_ranks_a_trace_goes_by_the_two_levels(search: Search):
    trace = replace(search, rules=RRF).trace("read a file", depth=50)
    assert [step.variant.origin for step in trace.steps] == ["as written", "plain words"]
    for step in trace.steps:
        assert list(step.arms) == ["like", "bm25"]
        assert step.fused == rrf_arms(step.arms.values(), step.bonus)
    assert trace.ranking == rrf_variants((step.variant.weight, step.fused) for step in trace.steps)
    assert trace.after_cut == search.cut(trace.ranking)


def test_the_score_of_the_best_is_the_formula_s(search: Search):
    by_ranks = replace(search, rules=RRF)
    assert by_ranks.trace("write_file", depth=50).ranking[0] == ("write_file", pytest.approx(BOTH))


def test_a_name_verbatim_has_its_bonus_in_every_step(search: Search):
    for step in search.trace("list_directory", depth=50).steps:
        # its name, and the verb family that the name and the query share
        assert step.bonus["list_directory"] == pytest.approx(1.0 + 0.0002)


def test_another_spelling_of_a_name_has_half_of_the_bonus(search: Search):
    for step in search.trace("list directory", depth=50).steps:
        assert step.bonus["list_directory"] == pytest.approx(0.5 + 0.0002)


def test_a_verb_of_the_same_family_is_boosted(search: Search):
    step = search.trace("show me issues of a repository", depth=50).steps[0]
    assert step.bonus == {}
    step = search.trace("enumerate issues of a repository", depth=50).steps[0]
    assert step.bonus == {"mcp_github_list_issues": 0.0002}


def test_an_identifier_named_verbatim_is_the_whole_answer(search: Search):
    assert [match.id for match in search.trace("write_file", depth=50).after_cut] == ["write_file"]
    assert len(search.trace("write_file", depth=50).ranking) > 1
    assert len(search.trace("write file", depth=50).after_cut) > 1


def test_without_a_cut_even_that_is_not_cut(search: Search):
    trace = replace(search, rules=uncut()).trace("write_file", depth=50)
    assert trace.after_cut == trace.ranking


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        (search_rules(cut="autocut"), 3),
        (search_rules(cut="autocut", cut_ratio=1.01), 1),
        (search_rules(cut="top_band"), 3),
        (search_rules(cut="none"), 4),
    ],
)
def test_the_cut_is_the_one_that_is_set(search: Search, rules: SearchRules, kept: int):
    whole = [("a", 1.0), ("b", 0.9), ("c", 0.8), ("d", 0.3)]
    ranking = search.trace("read a file", depth=50).ranking[:4]
    scored = [
        match._replace(id=id, score=score)
        for match, (id, score) in zip(ranking, whole, strict=True)
    ]
    assert len(replace(search, rules=rules).cut(scored)) == kept


def test_depth_is_how_far_down_each_arm_looks(search: Search):
    for step in search.trace("file message list", depth=2).steps:
        assert all(len(ranking) <= 2 for ranking in step.arms.values())
    assert len(ids(search, "file message list")) > 4


def test_a_hidden_tool_takes_no_place(search: Search):
    assert not [id for id in ids(search, "erase shred tag file") if id in search.hidden]
    for hidden in ("erase_file", "shred_file", "tag_file"):
        assert hidden not in ids(search, hidden)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["file", "write_file", "send a message", "list", "读取文件"])
def test_with_one_hidden_the_others_are_there_and_the_limit_is_filled(
    engine: EngineName, text: str
):
    entries = pooled(*SEEN)
    with searching(engine, entries, rules=uncut(limit=3)) as search:
        whole = ids(search, text)
        for gone in whole[:4]:
            less = replace(search, hidden=NameFilter.without([gone]))
            assert sorted(ids(less, text)) == sorted(id for id in whole if id != gone)
            assert len(answer_query(Query(text), less)) == min(3, len(whole) - 1)
            by_ranks = replace(less, rules=uncut(limit=3, fusion="rrf"))
            before = replace(search, rules=by_ranks.rules)
            assert ids(by_ranks, text) == [id for id in ids(before, text) if id != gone]


@given(QUERIES)
def test_what_is_hidden_is_as_good_as_not_there(search: Search, text: str):
    trace = search.trace(text, depth=None)
    shown = {match.id for match in trace.ranking}
    shown |= {id for step in trace.steps for id in step.bonus}
    assert not [name for name in shown if name in search.hidden]


def test_within_is_the_same_search_among_a_few(search: Search):
    few = {"read_file", "fetch_url"}
    assert set(ids(search.within(few), "read a file from the web")) == few


def test_within_shows_nothing_that_was_hidden(search: Search):
    assert ids(search.within(["erase_file", "read_file"]), "erase file") == ["read_file"]


def test_one_that_is_hidden_can_be_looked_at(search: Search):
    assert "erase_file" in ids(search.without_hiding("erase_file"), "erase a file")
    assert "shred_file" not in ids(search.without_hiding("erase_file"), "shred a file")


def test_an_index_that_knows_more_than_the_pool_reveals_nothing_of_it(search: Search):
    """Another process may have written the index of another pool meanwhile."""
    fewer = {name: entry for name, entry in search.entries.items() if name != "read_file"}
    other = replace(search, entries=fewer)
    for text in ("read_file", "read a file", "file", "读取文件"):
        assert "read_file" not in ids(other, text)
        assert "read_file" not in [hit.name for hit in answer_query(Query(text), other)]


def test_wordings_are_given_their_vectors_all_at_once(search: Search):
    asked: list[list[str]] = []

    def vectors(some: Sequence[Variant], **_how: bool) -> Sequence[Variant]:
        asked.append([each.text for each in some])
        return some

    replace(search, embed=vectors).trace("i want to read a file please", depth=50)
    assert asked == [["i want to read a file"]]
    replace(search, embed=vectors, rules=RRF).trace("i want to read a file", depth=50)
    assert asked[1:] == [["i want to read a file", "read file"]]


@given(QUERIES)
def test_both_engines_rank_alike(text: str):
    entries = pooled(*SEEN)
    rankings = []
    for engine in ENGINES:
        with searching(engine, entries) as search:
            rankings.append(search.trace(text, depth=None).ranking)
    memory, sqlite = rankings
    assert dict(memory) == pytest.approx(dict(sqlite))


def near_broad(variant: Variant) -> float:
    return NEAR_BROAD if variant.text == BROAD else FAR


def test_what_is_near_to_nothing_is_not_answered_but_by_a_tool_that_searches_the_web(
    search: Search,
):
    [read, *_] = ids(search, "read a text file")
    far = replace(
        search, view=OneNear(search.view, "no such tool", near_broad), calibrated_cosines=True
    )
    assert far.trace("read a text file", depth=50).after_cut == []
    broad = replace(search, view=OneNear(search.view, read, near_broad), calibrated_cosines=True)
    trace = broad.trace("read a text file", depth=50)
    assert trace.chance == LOW
    assert trace.after_cut[0].id == read
    assert replace(broad, calibrated_cosines=False).is_broad(trace.ranking) is False


def test_a_question_about_the_world_that_nothing_answers_goes_to_a_web_search(search: Search):
    world, own = "who wrote the text file format", "who wrote my text file"
    last = ids(search, own)[-1]
    broad = replace(search, view=OneNear(search.view, last, near_broad), calibrated_cosines=True)
    trace = broad.trace(world, depth=50)
    assert (trace.ranking[0].id, trace.chance) == (last, LOW)
    assert broad.trace(own, depth=50).ranking[0].id != last
