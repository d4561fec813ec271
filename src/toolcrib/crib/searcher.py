"""One search over what a crib holds: the live index, the rules, what use teaches, and remarks.

The pipeline itself is `toolcrib.search`; here it is given what it needs of the other stages.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolcrib import execute
from toolcrib.access import Scope, why_hidden
from toolcrib.crib.crib_events import SearchRecord
from toolcrib.crib.inventory import Inventory
from toolcrib.crib.live_index import LiveIndex
from toolcrib.crib.unavailable_servers import mention_unreviewed
from toolcrib.errors import ToolcribError
from toolcrib.index import Catalog, MemoryEngine, View
from toolcrib.model import Answer, Entry, Kind, NameFilter, Query
from toolcrib.pool import EntryCache, warm_up_best
from toolcrib.search import (
    ALTERNATIVES,
    AS_SET,
    Explanation,
    PoolProducts,
    RankingExplanation,
    Search,
    answer_query,
    explain,
    explain_ranking,
    no_look,
)
from toolcrib.settings import Settings
from toolcrib.uses import UseAdvice
from toolcrib.wiring import glossary_of, rules_of

if TYPE_CHECKING:
    from toolcrib.execute import Caller
    from toolcrib.observe import EventLog, Tracer


class Searcher:
    """Answers and explains searches. Safe to share between threads."""

    def __init__(
        self,
        inventory: Inventory,
        index: LiveIndex,
        advice: UseAdvice,
        events: EventLog,
        tracer: Tracer | None,
    ) -> None:
        self._inventory = inventory
        self._index = index
        self._advice = advice
        self._events, self._tracer = events, tracer
        self._products = EntryCache[tuple[Scope, frozenset[Kind]], PoolProducts]()
        self.take(inventory.settings)

    def take(self, settings: Settings) -> None:
        """Go on by the rules and the glossaries of these settings. Raises `ConfigError`."""
        self._glossary = glossary_of(settings)  # first: it may raise
        self._rules = rules_of(settings)

    def search(self, query: Query, *, caller: Caller, scope: Scope | None = None) -> Answer:
        """What fits best, best first, with remarks about what could not be searched.

        Without a scope, that of the caller holds.
        """
        began = time.perf_counter()
        own = self._inventory.scope_of(scope or caller.scope, caller.profile)
        found = self._marked(self._answer(query, own, caller.id), caller.profile)
        if query.text:  # an empty query browses
            record = SearchRecord(found, caller, time.time(), time.perf_counter() - began)
            self._events.append_later("search", record.event)
            if self._tracer:
                self._tracer.tell(partial(record.span, content=self._tracer.content))
        return found

    def _answer(self, query: Query, scope: Scope, caller_id: str) -> Answer:
        pool = self._inventory.current()
        with self._index.view() as (catalog, view):
            found = answer_query(query, self._search(catalog, view, query, scope))
        if (own := execute.tools_of_request(scope)) and (not query.kinds or "tool" in query.kinds):
            found = self._of_request(found, query, own)
        found = self._with_remarks(found, query, scope)
        self._advice.answered(found, caller_id, scope)
        if self._inventory.settings.mcp.warm_up:
            warm_up_best(pool, found)
        return found

    def explain(self, query: Query, name: str, scope: Scope) -> Explanation:
        """Why a search returns this capability. Raises `UnknownTool` and `AmbiguousName`."""
        entry = self._inventory.current().resolve(name)
        with self._index.view() as (catalog, view):
            search = self._search(catalog, view, query, scope)
            return explain(query, entry, why_hidden(entry, scope), search)

    def explain_ranking(
        self, query: Query, names: Iterable[str] = (), alternative: str = AS_SET
    ) -> RankingExplanation:
        """How a search of the host ranks what it finds, by one of `ALTERNATIVES`.

        It tells what becomes of the tools of these names, and of a name that is none what is
        nearest.
        """
        pool, scope = self._inventory.current(), self._inventory.scope_of(None)
        entries, unknown = list[Entry](), dict[str, str]()
        for name in dict.fromkeys(names):
            try:
                entries.append(pool.resolve(name))
            except ToolcribError as error:
                unknown[name] = str(error)
        with self._index.view() as (catalog, view):
            search = ALTERNATIVES[alternative].of(self._search(catalog, view, query, scope))
            tools = [explain(query, each, why_hidden(each, scope), search) for each in entries]
            return explain_ranking(query, search).about(tools, unknown)

    def vectors(self, entries: Sequence[Entry]) -> Mapping[str, NDArray[np.float32]]:
        """The vectors that these entries have by now, by name; each of length 1."""
        with self._index.view() as (catalog, _):
            return catalog.cached_vectors(entries)

    def _search(self, catalog: Catalog, view: View, query: Query, scope: Scope) -> Search:
        entries = self._inventory.pool.entries
        hidden = self._inventory.hidden_from(scope, query.kinds, entries)
        return Search(
            view,
            entries,
            self._rules,
            hidden=hidden,
            known_groups=partial(self._inventory.groups, entries),
            embed=partial(catalog.with_vectors, size=view.vector_size),
            look=catalog.look if catalog.reads_words else no_look,
            products=partial(self._pool_products, entries, hidden, (scope, query.kinds)),
            calibrated_cosines=catalog.calibrated_cosines,
            glossary=self._glossary,
            monolingual_share=self._inventory.facts(entries).monolingual_share,
            boosts=self._advice.learned(query.text, scope),
            often_with=self._advice.often_with(entries),
        )

    def _with_remarks(self, found: Answer, query: Query, scope: Scope) -> Answer:
        """The answer, with what waits for review, is still being listed or cannot be reached."""
        groups = self._inventory.groups(self._inventory.pool.entries)
        unavailable = self._inventory.unavailable
        found = mention_unreviewed(found, scope, groups)
        if query.kinds and "tool" not in query.kinds:
            return found
        found = unavailable.mention_listing(found, scope)
        return unavailable.mention(found, scope, groups, self._glossary)

    def _marked(self, found: Answer, profile: str) -> Answer:
        """The answer, with the hits marked whose calls a person has to approve."""
        entries, verdict = self._inventory.pool.entries, self._inventory.verdict
        known = ((hit, entries.get(hit.name)) for hit in found)
        asked = {hit.name for hit, entry in known if entry and verdict(entry, profile) == "ask"}
        hits = (replace(hit, asks=hit.name in asked) for hit in found)
        return replace(found, hits=tuple(hits)) if asked else found

    def _of_request(self, found: Answer, query: Query, own: Mapping[str, Entry]) -> Answer:
        """The answer, with what fits among the tools of this request, which are in no index."""
        catalog = Catalog(MemoryEngine(), None)
        catalog.rebuild(own.values(), "")
        with catalog.view() as view:
            first = answer_query(query, Search(view, own, self._rules))
        found = replace(found, hits=tuple(hit for hit in found if hit.name not in own))
        surer, other = (found, first) if found.chance > first.chance else (first, found)
        missing = {name: near for name, near in found.missing.items() if name in first.missing}
        hits = (*surer, *other)[: query.limit or None]
        return replace(surer if hits else found, hits=hits, missing=missing)

    def _pool_products(
        self,
        entries: Mapping[str, Entry],
        hidden: NameFilter,
        key: tuple[Scope, frozenset[Kind]],
    ) -> PoolProducts:
        """What the visible entries have of which product, mended as the facts are."""
        facts = self._inventory.facts(entries)
        return self._products.get(
            entries,
            key,
            lambda: PoolProducts(facts, hidden),
            lambda old, changed: old.updated(facts, hidden, changed),
        )
