"""Run a suite: the same search as everywhere, without the cut."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from toolcrib import wiring
from toolcrib.embed import CachedEmbedder
from toolcrib.evaluate.cases import EvalCase, EvalSuite
from toolcrib.evaluate.measures import EvalScores, score
from toolcrib.index import Catalog, MemoryEngine, SqliteEngine
from toolcrib.model import Entry
from toolcrib.search import Search, monolingual_share
from toolcrib.settings import Settings
from toolcrib.store import SqliteStore, VectorCache


@dataclass(frozen=True, slots=True)
class EvalResult:
    """The ranked ids of every query, and the scores of all and of each split."""

    ranked: Mapping[str, Sequence[str]]
    total: EvalScores
    splits: Mapping[str, EvalScores]


@contextmanager
def open_search(
    suite: EvalSuite, settings: Settings, vectors: VectorCache | None = None
) -> Generator[Search]:
    """A search over a suite's catalog, by the settings.

    Nothing of it is stored, except the vectors of its tools if a cache is given.
    """
    entries = {id: Entry(id, tool.name, tool.info()) for id, tool in suite.tools.items()}
    with SqliteStore.open(":memory:") as store:
        stored = settings.index == "sqlite"
        engine = SqliteEngine(store) if stored else MemoryEngine()
        embedder = wiring.embedder_of(settings)
        catalog = Catalog(engine, CachedEmbedder(embedder, vectors or store) if embedder else None)
        catalog.rebuild(entries.values(), "")
        with catalog.view() as view:
            rules = replace(wiring.rules_of(settings), cut="none")
            yield Search(
                view,
                entries,
                rules,
                embed=partial(catalog.with_vectors, size=view.vector_size),
                calibrated_cosines=catalog.calibrated_cosines,
                glossary=wiring.glossary_of(settings),
                monolingual_share=monolingual_share(entries.values()),
            )


def evaluate(
    search: Search,
    cases: Iterable[EvalCase],
    *,
    limit: int,
    text: Callable[[EvalCase], str] = lambda case: case.query,
) -> EvalResult:
    """Search for every case, by its query or another text of it, and score the rankings."""
    pairs = [(case, ranked_ids(search, case, text(case))[:limit]) for case in cases]
    ranked = {case.id: ids for case, ids in pairs}
    return EvalResult(ranked, score(pairs), dict(_by_split(pairs)))


def ranked_ids(search: Search, case: EvalCase, text: str) -> Sequence[str]:
    """The ids that a text of a case finds, best first."""
    return [
        match.id
        for match in among_candidates(search, case).trace(text, depth=search.depth).after_cut
    ]


def among_candidates(search: Search, case: EvalCase) -> Search:
    """The search among the candidates of an unanswerable case, if it names any; else as it is."""
    return search.within(case.candidates) if case.candidates and not case.relevant else search


def _by_split(pairs: Sequence[tuple[EvalCase, Sequence[str]]]) -> Iterator[tuple[str, EvalScores]]:
    for split in sorted({case.split for case, _ in pairs}):
        yield split, score(pair for pair in pairs if pair[0].split == split)
