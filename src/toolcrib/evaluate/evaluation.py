"""Run a suite: the same search as everywhere, without the cut."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from toolcrib import wiring
from toolcrib.embed import CachedEmbedder
from toolcrib.evaluate.cases import EvalCase, EvalSuite
from toolcrib.evaluate.measures import EvalScores, score
from toolcrib.index import Catalog, MemoryEngine, SqliteEngine
from toolcrib.model import Entry
from toolcrib.search import PoolFacts, PoolProducts, Search
from toolcrib.settings import Settings
from toolcrib.store import SqliteStore, VectorCache
from toolcrib.text import LANGUAGE_NAMES, detect_language


class EvalFound(NamedTuple):
    """What one query found: the ranked ids, the same if it never abstained, and the chance."""

    ranked: Sequence[str]
    nearest: Sequence[str]
    chance: float


@dataclass(frozen=True, slots=True)
class EvalResult:
    """What every query found, and the scores of all, of each split and of each language."""

    found: Mapping[str, EvalFound]
    total: EvalScores
    splits: Mapping[str, EvalScores]
    languages: Mapping[str, EvalScores]

    @property
    def ranked(self) -> Mapping[str, Sequence[str]]:
        """The ranked ids of every query, best first."""
        return {id: found.ranked for id, found in self.found.items()}


@contextmanager
def open_search(
    suite: EvalSuite, settings: Settings, vectors: VectorCache | None = None
) -> Generator[Search]:
    """A search over a suite's catalog, by the settings.

    Nothing of it is stored, except the vectors of its tools if a cache is given.
    """
    entries = {id: tool.entry() for id, tool in suite.tools.items()}
    with open_search_of(entries, settings, vectors) as search:
        yield search


@contextmanager
def open_search_of(
    entries: Mapping[str, Entry], settings: Settings, vectors: VectorCache | None = None
) -> Generator[Search]:
    """The same over entries of a pool, all of which are searched."""
    with SqliteStore.open(":memory:") as store:
        stored = settings.index == "sqlite"
        engine = SqliteEngine(store) if stored else MemoryEngine()
        embedder = wiring.embedder_of(settings)
        catalog = Catalog(engine, CachedEmbedder(embedder, vectors or store) if embedder else None)
        catalog.rebuild(entries.values(), "")
        facts = PoolFacts.of(entries)
        known = PoolProducts(facts)
        with catalog.view() as view:
            rules = replace(wiring.rules_of(settings), cut="none")
            yield Search(
                view,
                entries,
                rules,
                embed=partial(catalog.with_vectors, size=view.vector_size),
                look=catalog.look,
                products=lambda: known,
                calibrated_cosines=catalog.calibrated_cosines,
                glossary=wiring.glossary_of(settings),
                monolingual_share=facts.monolingual_share,
            )


def evaluate(
    search: Search,
    cases: Iterable[EvalCase],
    *,
    limit: int,
    text: Callable[[EvalCase], str] = lambda case: case.query,
) -> EvalResult:
    """Search for every case, by its query or another text of it, and score the rankings."""
    found = [(case, _found(search, case, text(case), limit)) for case in cases]
    pairs = [(case, each.ranked) for case, each in found]
    return EvalResult(
        {case.id: each for case, each in found},
        score(pairs),
        dict(_grouped(pairs, lambda case: case.split)),
        dict(_grouped(pairs, lambda case: LANGUAGE_NAMES[detect_language(text(case))])),
    )


def ranked_ids(search: Search, case: EvalCase, text: str) -> Sequence[str]:
    """The ids that a text of a case finds, best first."""
    return _found(search, case, text, None).ranked


def among_candidates(search: Search, case: EvalCase) -> Search:
    """The search among the candidates of an unanswerable case, if it names any; else as it is."""
    return search.within(case.candidates) if case.candidates and not case.relevant else search


def _found(search: Search, case: EvalCase, text: str, limit: int | None) -> EvalFound:
    trace = among_candidates(search, case).trace(text, depth=search.depth)
    ranked, nearest = (
        [match.id for match in ranking[:limit]] for ranking in (trace.after_cut, trace.ranking)
    )
    return EvalFound(ranked, nearest, trace.chance)


def _grouped(
    pairs: Sequence[tuple[EvalCase, Sequence[str]]], group: Callable[[EvalCase], str]
) -> Iterator[tuple[str, EvalScores]]:
    for name in sorted({group(case) for case, _ in pairs}):
        yield name, score(pair for pair in pairs if group(pair[0]) == name)
