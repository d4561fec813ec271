"""A whole ranking explained: it is the answer's own order, and says what put each where it is."""

import json
from dataclasses import asdict, replace

import pytest

from tests.workshop import search_rules
from toolcrib.model import Query
from toolcrib.search import (
    ALTERNATIVES,
    MOST_CANDIDATES,
    RankingExplanation,
    Search,
    answer_query,
    explain_ranking,
)

QUERIES = [
    "write text to a file",
    "write text to a file and then send a message to a user",
    "raed a flie",
    "write_file",
    "zzz qqq",
    "select:write_file",
    "/file/",
    "",
]


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("name", ALTERNATIVES)
def test_its_first_candidates_are_the_answer(search: Search, text: str, name: str):
    other = ALTERNATIVES[name].of(search)
    told = explain_ranking(Query(text), other)
    hits = [hit.name for hit in answer_query(Query(text), other)]
    assert [each.name for each in told.candidates][: min(told.cut_at, told.limit)] == hits
    assert len(told.candidates) <= MOST_CANDIDATES
    assert told.found >= told.cut_at


@pytest.mark.parametrize("text", QUERIES)
def test_it_is_the_same_after_a_journey_as_json(search: Search, text: str):
    told = explain_ranking(Query(text), search)
    assert RankingExplanation.of_json(json.loads(json.dumps(asdict(told)))) == told


def test_what_lifts_a_candidate_adds_up_to_its_place(search: Search):
    told = explain_ranking(Query("write text to a file"), search)
    sums = [sum(each.contributions.values()) for each in told.candidates]
    assert sums == sorted(sums, reverse=True)
    assert len(sums) > 2


def test_by_ranks_what_lifts_it_are_reciprocal_ranks(search: Search):
    by_ranks = replace(search, rules=search_rules(fusion="rrf"))
    told = explain_ranking(Query("please write file"), by_ranks)
    best = told.candidates[0]
    assert best.ranks == {"like": 1, "bm25": 2}
    assert best.contributions["like"] == pytest.approx(1.7 / 61)
    assert best.contributions["bm25"] == pytest.approx(1.7 / 62)


def test_a_candidate_stands_for_the_part_that_it_answers(search: Search):
    text = "write text to a file and then send a message to a user"
    told = explain_ranking(Query(text), search)
    assert [part.text for part in told.parts] == [
        "write text to a file",
        "send a message to a user",
    ]
    parts = {each.name: each.part for each in told.candidates}
    assert parts["write_file"] == "write text to a file"


def test_every_other_setting_changes_what_it_says(search: Search):
    def of(name: str) -> Search:
        return ALTERNATIVES[name].of(replace(search, boosts={"x": 0.1}))

    assert of("as_set") == replace(search, boosts={"x": 0.1})
    assert of("rrf").rules.fusion == "rrf"
    assert of("zscore").rules.fusion == "zscore"
    assert of("no_second_look").rules.second_look == "off"
    assert of("no_cut").rules.cut == "none"
    assert of("top_band").rules.cut == "top_band"
    assert not of("no_abstain").rules.abstain
    assert of("limit_10").rules.limit == 10
    assert of("no_use").boosts == {}
    assert "vector" not in of("no_vectors").view.arms
    assert next(iter(ALTERNATIVES)) == "as_set"
