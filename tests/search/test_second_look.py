"""The second look: the order it makes, and what it leaves alone."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embed.dict_cache import DictCache
from tests.embed.hash_embedder import HashEmbedder
from tests.embed.word_embedder import AskedEmbedder, WordEmbedder
from tests.workshop import (
    ENGINES,
    HIDDEN,
    HIDDEN_NAMES,
    SEEN,
    EngineName,
    many,
    mcp,
    pooled,
    search_rules,
)
from toolcrib.access import Scope, search_filter
from toolcrib.embed import CachedEmbedder, Embedder
from toolcrib.index import Catalog, MemoryEngine, SqliteEngine
from toolcrib.model import Capability, Entry, EntryGroups, Match, Query
from toolcrib.search import PoolFacts, PoolProducts, Search, answer_query, named_products
from toolcrib.search.confidence import BROAD
from toolcrib.search.pipeline import no_look
from toolcrib.search.rankings import rank_by_score
from toolcrib.search.rules import Fusion
from toolcrib.search.second_look import (
    CLOSED,
    LOOK,
    LOOKED_AT,
    OPEN,
    PRODUCT,
    UNASKED,
    SecondLook,
    contenders,
    look_again,
)
from toolcrib.store import SqliteStore

VERBS = "read", "delete", "list", "purge"
QUERIES = ["read a text file", "send a message in Slack", "读取磁盘上的文本文件", "file", "issues"]

TOOLS = pooled(
    *(mcp(server, f"{verb}_file") for server in ("slack", "jira", "files") for verb in VERBS)
)


@contextmanager
def searching(engine: EngineName, embedder: Embedder, *more: Capability) -> Generator[Search]:
    entries = pooled(*SEEN, *HIDDEN, *more)
    hidden = search_filter(EntryGroups.of(entries), Scope())
    with SqliteStore.open(":memory:") as store:
        chosen = MemoryEngine() if engine == "memory" else SqliteEngine(store)
        catalog = Catalog(chosen, CachedEmbedder(embedder, DictCache()))
        catalog.rebuild(entries.values(), "")
        with catalog.view() as view:
            rules = search_rules(abstain=False)
            yield Search(
                view, entries, rules, hidden, embed=catalog.with_vectors, look=catalog.look
            )


def lifts(seen: SecondLook) -> Mapping[str, float]:
    """All that a second look adds, by entry."""
    parts = list(seen.contributions().values())
    return {id: sum(part.get(id, 0.0) for part in parts) for part in parts for id in part}


def ranking(search: Search, text: str) -> Sequence[Match]:
    return search.trace(text, depth=None).ranking


def looks(**scores: float) -> Mapping[str, float]:
    return scores


def test_without_a_look_the_order_stays():
    fused = [Match("b", 2.0), Match("a", 2.0)]
    assert SecondLook().reorder(fused) is fused
    assert SecondLook(looks(a=0.9)).reorder([]) == []


def test_what_answers_every_word_comes_before_what_sounds_nearer():
    fused = [Match("loud", 1.0), Match("right", 0.5), Match("other", 0.4)]
    again = SecondLook(looks(loud=0.2, right=0.9, other=0.2)).reorder(fused)
    assert [match.id for match in again] == ["right", "loud", "other"]


def test_both_scores_are_summed_in_standard_deviations():
    added = lifts(SecondLook(looks(a=0.9, b=0.5, c=0.1)))
    assert added["b"] == pytest.approx(0)
    assert added["a"] == pytest.approx(LOOK * 1.5**0.5)
    assert added["c"] == pytest.approx(-added["a"])
    same = SecondLook(looks(a=0.5, b=0.5)).reorder([Match("a", 1.0), Match("b", 1.0)])
    assert same == [Match("a", 1.0), Match("b", 1.0)]


@pytest.mark.parametrize(
    ("best", "share"), [(CLOSED, 0.0), (0.0, 0.0), ((CLOSED + OPEN) / 2, 0.5), (OPEN, 1.0)]
)
def test_where_even_the_best_answers_few_words_the_look_says_little(best: float, share: float):
    added = lifts(SecondLook(looks(a=best, b=best - 0.1)))
    assert added == pytest.approx({"a": share * LOOK, "b": -share * LOOK})


def test_a_remark_counts_with_a_look_and_without_one():
    seen = SecondLook(looks(a=0.9, b=0.7), {"b": -1.0, "c": 0.5})
    assert lifts(seen) == pytest.approx({"a": LOOK, "b": -LOOK - PRODUCT, "c": 0.5 * PRODUCT})


def test_how_far_the_best_look_leads_the_fifth():
    seen = SecondLook(looks(a=0.9, b=0.8, c=0.7, d=0.6, e=0.5, f=0.1))
    assert (seen.best, seen.lead) == (0.9, pytest.approx(0.4))
    assert SecondLook(looks(a=0.9)).lead == 0.0
    assert SecondLook().best is None


def test_ties_go_by_id():
    fused = [Match("c", 1.0), Match("a", 1.0), Match("b", 1.0)]
    again = SecondLook(looks(a=0.6, b=0.6, c=0.6)).reorder(fused)
    assert [match.id for match in again] == ["a", "b", "c"]


def test_what_was_not_looked_at_has_no_lift():
    again = SecondLook(looks(a=0.9, b=0.1)).reorder([Match("x", 1.0), Match("a", 1.0)])
    assert dict(again)["x"] == 1.0


def test_what_is_beyond_the_first_stays_behind_in_its_order():
    fused = [Match(f"{n:03}", float(-n)) for n in range(LOOKED_AT + 20)]
    some = {match.id: 0.9 - n / 100 for n, match in enumerate(fused[:LOOKED_AT])}
    again = SecondLook(some).reorder(fused[:LOOKED_AT], fused[LOOKED_AT:])
    assert fused[LOOKED_AT].score > again[LOOKED_AT - 1].score == again[LOOKED_AT].score
    assert {match.id for match in again[:LOOKED_AT]} == {m.id for m in fused[:LOOKED_AT]}
    assert [match.id for match in again[LOOKED_AT:]] == [m.id for m in fused[LOOKED_AT:]]


@given(
    st.dictionaries(st.text(max_size=3), st.floats(-9, 9), max_size=LOOKED_AT + 9),
    st.lists(st.floats(-1, 1), max_size=LOOKED_AT),
)
def test_nothing_is_lost_and_no_score_rises_down_the_list(scores, seen):
    fused = [Match(id, score) for id, score in sorted(scores.items(), key=lambda each: -each[1])]
    some = {match.id: score for match, score in zip(fused, seen, strict=False)}
    again = SecondLook(some).reorder(fused[:LOOKED_AT], fused[LOOKED_AT:])
    assert sorted(match.id for match in again) == sorted(scores)
    assert [m.score for m in again] == sorted((m.score for m in again), reverse=True)


def test_a_tool_that_destroys_stands_back_where_nothing_of_the_kind_was_asked():
    entries = list(pooled(mcp("files", "delete_file"), mcp("files", "read_file")).values())
    [destroys, _] = entries
    seen = look_again("show me the file", entries, {}, None)
    assert lifts(seen) == {destroys.name: -UNASKED}
    assert lifts(look_again("remove the file", entries, {}, None)) == {}


@given(
    st.lists(st.floats(-2, 2, allow_nan=False), min_size=len(TOOLS), max_size=len(TOOLS)),
    st.sampled_from(["show the file", "delete the file", "show the file in Slack"]),
    st.integers(1, 6),
)
def test_what_is_not_looked_at_could_not_have_been_shown(
    scores: Sequence[float], text: str, shown: int
):
    known = PoolProducts(PoolFacts.of(TOOLS))
    named = named_products(text, known)
    fused = rank_by_score(dict(zip(TOOLS, scores, strict=True)))
    tops = list[Sequence[Match]]()
    for most in (None, shown):
        every = ((match, TOOLS[match.id]) for match in fused)
        first = contenders(text, every, named, most)
        entries = [entry for _, entry in first]
        seen = look_again(text, entries, {}, known, named)
        again = seen.reorder([match for match, _ in first], fused[len(first) :])
        assert sorted(match.id for match in again) == sorted(TOOLS)
        tops.append(again[:shown])
    assert tops[0] == tops[1]


def test_what_is_far_below_is_not_looked_at():
    fused = [Match(name, -float(place)) for place, name in enumerate(TOOLS)]
    every = ((match, TOOLS[match.id]) for match in fused)
    assert 2 < len(contenders("show the file", every, (), 2)) < len(TOOLS)


@pytest.mark.parametrize("text", QUERIES)
def test_both_engines_answer_alike(text: str):
    found = []
    for engine in ENGINES:
        with searching(engine, WordEmbedder()) as search:
            found.append(answer_query(Query(text), search))
    one, other = found
    assert [hit.name for hit in one.hits] == [hit.name for hit in other.hits] != []
    scores = [hit.score for hit in one.hits]
    assert scores == pytest.approx([hit.score for hit in other.hits], abs=1e-3)  # of 16 bits


def test_the_look_is_at_the_first_visible_matches_and_at_no_other():
    asked: list[Sequence[Entry]] = []

    def look(_text: str, entries: Sequence[Entry], **_how: bool) -> Mapping[str, float]:
        asked.append(entries)
        return {entry.name: 1.0 for entry in [*entries, *search.entries.values()]}

    with searching("memory", WordEmbedder(), *many(2 * LOOKED_AT)) as search:
        spied = replace(search, look=look)
        found = [match.id for match in ranking(spied, "turn a file on disk")]
    assert [len(entries) for entries in asked] == [LOOKED_AT]
    assert HIDDEN_NAMES.isdisjoint(entry.name for entry in asked[0])
    assert len(found) > LOOKED_AT
    assert HIDDEN_NAMES.isdisjoint(found)


def test_the_look_is_at_the_text_as_it_was_corrected():
    asked: list[str] = []

    def look(text: str, _entries: Sequence[Entry], **_how: bool) -> Mapping[str, float]:
        asked.append(text)
        return {}

    with searching("memory", WordEmbedder()) as search:
        replace(search, look=look).trace("sned a mesage", depth=None)
    assert asked == ["send a message"]


TASK = "read a text file and send a message in Slack"
PARTS = ["read a text file", "send a message in Slack"]


@contextmanager
def heard(*more: Capability) -> Generator[tuple[Search, AskedEmbedder]]:
    """A search and its embedder, which is asked for no tool while it searches."""
    embedder = AskedEmbedder()
    with searching("memory", embedder, *more) as search:
        embedder.asked.clear()
        yield search, embedder
    assert not embedder.asked


@pytest.mark.parametrize("fusion", ["zscore", "rrf"])
def test_what_asks_for_one_thing_is_read_as_a_query(fusion: Fusion):
    with heard() as (search, embedder):
        replace(search, rules=replace(search.rules, fusion=fusion)).trace(PARTS[0], depth=None)
    assert not embedder.close_queries
    assert embedder.queries[0][0] == PARTS[0]
    assert len(embedder.queries) == 1


def test_what_asks_for_several_things_is_read_closely_and_so_are_its_parts():
    with heard() as (search, embedder):
        for part in PARTS:
            search.trace(part, depth=None)
        assert embedder.queries == [[part] for part in PARTS]
        trace = search.trace(TASK, depth=None)
    assert [part.text for part in trace.parts] == PARTS
    assert embedder.close_queries == [[text] for text in (TASK, *PARTS)]
    assert len(embedder.queries) == len(PARTS)


def test_by_ranks_what_asks_for_several_things_is_read_closely_too():
    with heard() as (search, embedder):
        replace(search, rules=replace(search.rules, fusion="rrf")).trace(TASK, depth=None)
    assert {TASK, *PARTS} <= {*embedder.close_queries[0]}
    assert not embedder.queries


def test_a_name_is_read_as_a_query_though_it_sounds_like_two_things():
    tool = mcp("files", "read_file_and_send_message")
    with heard(tool) as (search, embedder):
        trace = search.trace("read file and send message", depth=None)
    assert not trace.parts
    assert embedder.queries == [["read file and send message"]]
    assert not embedder.close_queries


def test_the_web_is_read_closely():
    with heard() as (search, embedder):
        replace(search, calibrated_cosines=True).is_broad([])
    assert (embedder.close_queries, embedder.queries) == ([[BROAD]], [])


@pytest.mark.parametrize("text", QUERIES)
def test_switched_off_the_order_is_that_of_the_arms(text: str):
    with searching("memory", WordEmbedder()) as search:
        rules = replace(search.rules, second_look="off")
        off = ranking(replace(search, rules=rules), text)
        assert off == ranking(replace(search, look=no_look), text)
        assert off != ranking(search, text)


@pytest.mark.parametrize("text", QUERIES)
def test_by_ranks_there_is_no_second_look(text: str):
    with searching("memory", WordEmbedder()) as search:
        by_ranks = replace(search, rules=replace(search.rules, fusion="rrf"))
        off = replace(by_ranks, rules=replace(by_ranks.rules, second_look="off"))
        assert ranking(by_ranks, text) == ranking(off, text) != []


@pytest.mark.parametrize("text", QUERIES)
def test_an_embedder_that_reads_no_words_searches_as_before(text: str):
    with searching("memory", HashEmbedder()) as search:
        off = replace(search, rules=replace(search.rules, second_look="off"))
        assert ranking(search, text) == ranking(off, text) != []
