"""Queries that nobody would ask, by the ten thousand, through the public door: none breaks it.

Each is answered within the bounds that keep the work of a search bounded; time is not measured
here. The memory engine takes nine of ten and the sqlite engine, which is slower, the tenth. The
bundled model embeds one query of thirty; for the others a hash does, since no word gets further
into the vector arm than its embedder.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest

from tests.catalogs import tool
from tests.e2e.queries import MEGABYTE, queries
from tests.embed.hash_embedder import HashEmbedder
from tests.plan import amount
from tests.workshop import ListedSource
from toolcrib import Answer, Crib, Settings
from toolcrib.model import ToolInfo
from toolcrib.search import MOST_SUBQUERIES, FreeQuery, parse_query
from toolcrib.search.answer import MOST_NAMESPACES, MOST_NEAREST
from toolcrib.search.query_syntax import LONGEST_QUERY, MOST_SELECTED
from toolcrib.search.variants import MOST_TERMS, query_variants

Opener = Callable[..., Crib]

TOOLS = 200
THIRTIETH = amount(27, "queries") // 30
CHUNKS = [
    *(("memory", "bundled", seed, THIRTIETH // 4) for seed in range(4)),
    *(("memory", "hash", seed, THIRTIETH) for seed in range(4, 30)),
    *(("sqlite", "hash", seed, THIRTIETH // 4) for seed in range(30, 42)),
]


def test_hundreds_of_the_queries_are_a_megabyte_long():
    assert sum(len(query) > MEGABYTE * 0.9 for query in queries(0, 5_000)) == 20


def tools() -> Iterator[ToolInfo]:
    """Tools of all sorts, every seventh of which nobody gets to see."""
    chance = Random(1)
    for number in range(TOOLS):
        made = replace(tool(chance, number), searchable=number % 7 > 0)
        if number % 2:
            made = replace(made, name=f"tool_{number}")
        yield replace(made, source="mcp", source_id=f"server{number % 9}") if number % 3 else made


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opener]:
    """A crib for each engine and embedder, made when it is first asked for."""
    cribs: dict[tuple[str, str], Crib] = {}

    def crib(engine: str, embedder: str) -> Crib:
        key = engine, embedder
        if key not in cribs:
            store = tmp_path_factory.mktemp("fuzz") / "catalog.db"
            table = {"store": str(store), "index": engine, "embed": {"embedder": "bundled"}}
            own = HashEmbedder() if embedder == "hash" else None
            cribs[key] = Crib(Settings.model_validate(table), embedder=own)
            cribs[key].add_source(ListedSource(*tools()))
            assert cribs[key].index.embedded()
        return cribs[key]

    yield crib
    for each in cribs.values():
        each.close()


def told(answer: Answer) -> set[str]:
    """Every name that an answer gives away."""
    near = {name for names in answer.missing.values() for name in names}
    there = {name for names in answer.names.values() for name in names}
    return {hit.name for hit in answer} | near | there


def within_bounds(answer: Answer, most: int) -> bool:
    return (
        len(answer) <= most
        and len(answer.namespaces) <= MOST_NAMESPACES + 1
        and len(answer.missing) <= MOST_SELECTED
        and all(len(names) <= MOST_NEAREST for names in answer.missing.values())
        and len(answer.note) <= 2 * LONGEST_QUERY
    )


def looks_up_little(text: str) -> bool:
    """Whether the work of looking a text up is bounded, however long it is."""
    form = parse_query(text)
    if not isinstance(form, FreeQuery):
        return True
    wordings = query_variants(form.text, split=True)
    return len(wordings) <= 2 + MOST_SUBQUERIES and all(
        len(each.terms) <= MOST_TERMS and len(each.words) <= MOST_TERMS for each in wordings
    )


@pytest.mark.plan(27)
@pytest.mark.parametrize(("engine", "embedder", "seed", "count"), CHUNKS)
def test_no_query_breaks_a_search(
    opened: Opener, engine: str, embedder: str, seed: int, count: int
):
    crib = opened(engine, embedder)
    visible = {name for name, entry in crib.entries().items() if entry.capability.searchable}
    most = crib.settings.search.most
    assert len(visible) < TOOLS
    for query in queries(seed, count):
        answer = crib.search(query, limit=100)
        assert told(answer) <= visible, repr(query[:200])
        assert within_bounds(answer, most), repr(query[:200])
        assert looks_up_little(query), repr(query[:200])


def test_the_queries_reach_every_way_to_answer(opened: Opener):
    """A fuzz that only ever hears "nothing fits" would prove little."""
    answers = [opened("memory", "hash").search(query) for query in queries(99, 2_000)]
    assert sum(bool(answer) for answer in answers) > 200
    assert any(answer.missing for answer in answers)
    notes = " ".join({answer.note for answer in answers})
    for part in ("Nothing fits", "Nothing was asked", "No name has", "The pattern cannot be used"):
        assert part in notes
