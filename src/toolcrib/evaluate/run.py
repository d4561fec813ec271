"""A suite through the pipeline: the same search as everywhere, without the cut."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from toolcrib.embed.cached import CachedEmbedder
from toolcrib.evaluate.cases import Case, Suite
from toolcrib.evaluate.measures import Scores, score
from toolcrib.index.catalog import Catalog
from toolcrib.index.memory.engine import MemoryEngine
from toolcrib.index.sqlite.engine import SqliteEngine
from toolcrib.model import Entry
from toolcrib.search.pipeline import Search
from toolcrib.search.tongues import spoken_alone
from toolcrib.settings import Settings
from toolcrib.store import SqliteStore, VectorCache
from toolcrib.text.glossary import load_glossary
from toolcrib.wiring import embedder_of, rules_of


@dataclass(frozen=True, slots=True)
class Result:
    """The ranked ids of every query, and the scores of all and of each split."""

    ranked: Mapping[str, Sequence[str]]
    total: Scores
    splits: Mapping[str, Scores]


@contextmanager
def searching(
    suite: Suite, settings: Settings, vectors: VectorCache | None = None
) -> Generator[Search]:
    """A search over a suite's catalog, by the settings.

    Nothing of it is kept, but for the vectors of its tools where a place for them is given.
    """
    entries = {id: Entry(id, tool.name, tool.info()) for id, tool in suite.tools.items()}
    with SqliteStore.open(":memory:") as store:
        stored = settings.index == "sqlite"
        engine = SqliteEngine(store) if stored else MemoryEngine()
        embedder = embedder_of(settings)
        catalog = Catalog(engine, CachedEmbedder(embedder, vectors or store) if embedder else None)
        catalog.rebuild(entries.values(), "")
        with catalog.view() as view:
            rules = replace(rules_of(settings), cut="none")
            yield Search(
                view,
                entries,
                rules,
                vectors=partial(catalog.with_vectors, size=view.vector_size),
                cosines=catalog.cosines,
                glossary=load_glossary(settings.search.glossaries),
                alone=spoken_alone(entries.values()),
            )


def run(
    search: Search,
    cases: Iterable[Case],
    *,
    limit: int,
    text: Callable[[Case], str] = lambda case: case.query,
) -> Result:
    """Search for every case, by its query or another text of it, and score the rankings."""
    pairs = [(case, found(search, case, text(case))[:limit]) for case in cases]
    ranked = {case.id: ids for case, ids in pairs}
    return Result(ranked, score(pairs), dict(_by_split(pairs)))


def found(search: Search, case: Case, text: str) -> Sequence[str]:
    """The ids that a text of a case finds, best first."""
    return [match.id for match in among(search, case).trace(text, depth=search.depth).kept]


def among(search: Search, case: Case) -> Search:
    """The search that a case is for: an unanswerable one may be so among some tools alone."""
    return search.within(case.candidates) if case.candidates and not case.relevant else search


def _by_split(pairs: Sequence[tuple[Case, Sequence[str]]]) -> Iterator[tuple[str, Scores]]:
    for split in sorted({case.split for case, _ in pairs}):
        yield split, score(pair for pair in pairs if pair[0].split == split)
