"""From a free text to one ranking, with a trace of every step for explanations."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Protocol

from toolcrib.index import Arm, View
from toolcrib.model import EXCLUDE_NOTHING, Entry, EntryGroups, Match, NameFilter, Ranking, Variant
from toolcrib.search.confidence import (
    ABSENT,
    BROAD,
    BROAD_COSINE,
    DOUBTFUL,
    LOW,
    chance,
    confidence_level,
    evidence,
)
from toolcrib.search.fusion import VariantTrace, calibrated, fuse_all
from toolcrib.search.keywords import keyword_points, keyword_variant
from toolcrib.search.languages import translation_weight
from toolcrib.search.name_mentions import RESPELT, VERBATIM, is_identifier, mentioned_names
from toolcrib.search.products import PoolProducts, named_products
from toolcrib.search.query_syntax import unwrapped
from toolcrib.search.rankings import autocut, boosted, interleave, top_band
from toolcrib.search.rules import SearchRules
from toolcrib.search.second_look import LOOKED_AT, SecondLook, contenders, look_again
from toolcrib.search.task_parts import MOST_SUBQUERIES, subqueries, whole_weight
from toolcrib.search.variants import query_variants
from toolcrib.search.verbs import asks_the_world, verb_family
from toolcrib.text import Correction, Glossary, Language, Lexicon, detect_language

DEPTH = 30
"""How many matches each arm gives to the fusion: several times what an answer may hold."""
VERB_BOOST = 0.0002
"""Added where query and name have verbs of one family: so little that it breaks near ties alone.

In RRF two neighbouring ranks differ by 1/61 - 1/62, which is about as much.
"""
VERB_DEPTH = 10
"""Only among so many of the first matches of each arm."""
BROAD_HITS = 3
"""A tool that searches the web keeps search from abstaining if it is among so many first hits."""
MOST_BROAD = 20


class EmbedVariants(Protocol):
    """Gives variants their vectors, all at once; as they are without an embedder.

    `closely` they are read as tools are, by an embedder that reads queries in a faster way.
    """

    def __call__(self, variants: Sequence[Variant], /, *, closely: bool) -> Sequence[Variant]: ...


class LookAt(Protocol):
    """How well entries answer every word of a text, by name; `closely` as with its vector."""

    def __call__(
        self, text: str, entries: Sequence[Entry], /, *, closely: bool
    ) -> Mapping[str, float]: ...


def _nothing(_name: str) -> Sequence[str]:
    return ()


def no_vectors(variants: Sequence[Variant], /, **_how: bool) -> Sequence[Variant]:
    """The variants as they are: there is no embedder."""
    return variants


def no_look(_text: str, _entries: Sequence[Entry], /, **_how: bool) -> Mapping[str, float]:
    """A second look that knows nothing of any entry."""
    return {}


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """The steps, the ranking they fused to, and what the cut left of it.

    `boosts` is by what share use has raised which scores, `chance` how likely it is that one of
    the best fits. `parts` are the traces of the subqueries, if the text asks for several things:
    each is cut by itself, then the whole and the parts are interleaved, and the chance is the mean
    of theirs. `parts_left_out` are subqueries beyond the most.
    `corrections` are the misspelt words, which were looked up as what they mean.
    """

    steps: tuple[VariantTrace, ...]
    ranking: Ranking
    after_cut: Ranking
    boosts: Mapping[str, float] = field(default_factory=dict[str, float])
    chance: float = 1.0
    parts: tuple["SearchTrace", ...] = ()
    parts_left_out: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    seen: SecondLook = field(default_factory=SecondLook)

    @property
    def text(self) -> str:
        """What was looked up: as it was written, but for what was corrected."""
        return self.steps[0].variant.text

    @property
    def fits(self) -> bool:
        """Whether there is anything that is likely enough to fit."""
        return bool(self.after_cut) and confidence_level(self.chance) != "none"


@dataclass(frozen=True, slots=True)
class Search:
    """One search: what it looks in, what it may not see and the rules it goes by.

    `embed` gives variants their vectors; `look` is how well entries answer every word of a text,
    and knows nothing without the bundled model. `products` are what the visible entries have of
    well-known products. `known_groups` are the entries by their traits, if somebody has them.
    `calibrated_cosines`: the vectors are of the bundled model, whose cosines tell the chance.
    `monolingual_share` is the share of entries that are described in one language and in no other,
    by language: a query in another language is translated for them.
    `boosts` is the share by which earlier use of this query raises which scores, `often_with`
    tells what is used with a capability. `min_chance` is the chance that an answer has at least:
    from low on it never abstains. `depth` is how many matches each arm gives to the fusion.
    Without `bonuses` names and verbs add nothing: so benchmarks measure an arm alone.
    """

    view: View
    entries: Mapping[str, Entry]
    rules: SearchRules
    hidden: NameFilter = EXCLUDE_NOTHING
    known_groups: Callable[[], EntryGroups] | None = None
    embed: EmbedVariants = no_vectors
    look: LookAt = no_look
    products: Callable[[], PoolProducts | None] = lambda: None
    calibrated_cosines: bool = False
    glossary: Glossary = field(default_factory=Glossary)
    monolingual_share: Mapping[Language, float] = field(default_factory=dict[Language, float])
    boosts: Mapping[str, float] = field(default_factory=dict[str, float])
    often_with: Callable[[str], Sequence[str]] = _nothing
    min_chance: float = 0.0
    depth: int = DEPTH
    bonuses: bool = True
    _seen: dict[str, Entry | None] = field(
        default_factory=dict[str, "Entry | None"], init=False, repr=False, compare=False
    )
    """The entries that were looked at; None for one that is hidden or is not there."""

    def trace(self, text: str, *, depth: int | None, shown: int | None = None) -> SearchTrace:
        """Correct, rewrite, look up, fuse, cut.

        `depth` is how far down each arm looks; None: to the end. `shown` is how many places matter:
        what cannot come among them is not looked at again. None: all do.
        """
        if self.rules.fusion == "keywords":
            return self._trace_keywords(text, depth)
        corrected = self.view.speller().correct(text, may_say=self._may_say)
        trace = self._trace_task(corrected.text, depth, shown)
        return _with_corrections(trace, corrected.corrections)

    def sees(self, id: str) -> bool:
        """Whether this one is visible to the caller."""
        return self.visible(id) is not None

    def visible(self, id: str) -> Entry | None:
        """The entry of an id; None if there is none, or none that the caller sees."""
        try:
            return self._seen[id]
        except KeyError:
            names, inverted = self.hidden.names, self.hidden.inverted
            is_hidden = (id in names) != inverted  # as the filter says it, without the call
            entry = self._seen[id] = None if is_hidden else self.entries.get(id)
            return entry

    def groups(self) -> EntryGroups:
        """The entries by their traits, hidden or not."""
        return self.known_groups() if self.known_groups else EntryGroups.of(self.entries)

    def within(self, ids: Iterable[str]) -> "Search":
        """The same search among these alone."""
        return replace(self, hidden=NameFilter.only(filter(self.sees, ids)))

    def without_hiding(self, id: str) -> "Search":
        """The same search, with this one visible."""
        return replace(self, hidden=self.hidden.letting(id))

    def is_broad(self, hits: Ranking) -> bool:
        """Whether one of the hits searches the web, as far as the bundled model can tell."""
        near = {match.id for match in self._broad()}
        return any(match.id in near for match in hits)

    def _broad(self) -> Ranking:
        """The tools that search the web, as far as the bundled model can tell; best first."""
        index = self.view.arms.get("vector")
        if not self.calibrated_cosines or index is None:
            return []
        [anchor] = self.embed([Variant(BROAD)], closely=True)
        broad = index.lookup(anchor, limit=MOST_BROAD, exclude=self.hidden)
        return [match for match in broad if match.score >= BROAD_COSINE]

    def cut(self, ranking: Ranking) -> Ranking:
        """The ranking up to its end, by the cut that is set."""
        match self.rules.cut:
            case "autocut":
                return autocut(ranking, ratio=self.rules.cut_ratio)
            case "top_band":
                return top_band(ranking)
            case "none":
                return ranking

    def _recut(self, whole: SearchTrace, ranking: Ranking) -> Ranking:
        """What the cut leaves of the whole task, by the scores that its parts give.

        A tool that one part asks for stands above what merely sounds like all of it.
        """
        own = {match.id for match in whole.after_cut}
        best = sorted((match for match in ranking if match.id in own), key=lambda each: -each.score)
        strong = {match.id for match in self.cut(best)}
        return [match for match in whole.after_cut if match.id in strong]

    def _cut_or_abstain(self, ranking: Ranking, likely: float) -> Ranking:
        """What an answer is made of: nothing, if most likely nothing fits."""
        abstains = self.rules.abstain and confidence_level(likely) == "none"
        return [] if abstains else self.cut(ranking)

    def _may_say(self, word: str) -> bool:
        """Whether something visible has this word: a correction must not tell of what is hidden."""
        index = self.view.arms.get("bm25")
        if not self.hidden or index is None:
            return not self.hidden
        return bool(index.lookup(Variant(word, terms=(word,)), limit=1, exclude=self.hidden))

    def _trace_task(self, text: str, depth: int | None, shown: int | None) -> SearchTrace:
        """The trace of a text, and of its parts if it asks for several things.

        Such a text and its parts are read closely.
        """
        several = subqueries(text)
        if several and self._is_name(text):
            several = ()
        if not several:
            return self._trace_one(text, depth, closely=False, shown=shown)
        whole = self._trace_one(text, depth, closely=True)
        if self.rules.fusion == "rrf":
            return whole
        asked = several[:MOST_SUBQUERIES]
        parts = tuple(self._trace_one(part, depth, closely=True) for part in asked)
        weights = [whole_weight(text), *(1.0 for _ in parts)]
        ranking = interleave([each.ranking for each in (whole, *parts)], weights)
        cut = [self._recut(whole, ranking), *(part.after_cut for part in parts)]
        return replace(
            whole,
            ranking=ranking,
            after_cut=interleave(cut, weights),
            chance=_mean_chance(whole, parts),
            parts=parts,
            parts_left_out=tuple(several[MOST_SUBQUERIES:]),
        )

    def _trace_one(
        self, text: str, depth: int | None, *, closely: bool, shown: int | None = None
    ) -> SearchTrace:
        """The trace of a text that asks for one thing, or is taken as if it did."""
        names = self._mentioned(text)
        variants = self._variants(text, closely=closely)
        steps = tuple(self._step(each, names, depth) for each in variants)
        fused = fuse_all(steps, self.rules, depth)
        if names or self.boosts:  # either may raise what is far below
            shown = None
        seen, fused = self._second_look(steps[0].variant.text, fused, closely=closely, shown=shown)
        likely = 1.0 if names else self._chance(steps, fused, seen)
        if likely < DOUBTFUL and not seen.absent and asks_the_world(text):
            fused, likely = self._with_web_search(fused, likely)
        boosts: Mapping[str, float] = {} if names else self.boosts  # a name means its tool
        ranking = boosted(calibrated(fused, likely, self.rules), boosts)
        after_cut = self._outright(text, names, ranking) or self._cut_or_abstain(ranking, likely)
        return SearchTrace(steps, ranking, after_cut, boosts, likely, seen=seen)

    def _trace_keywords(self, text: str, depth: int | None) -> SearchTrace:
        """The trace by fixed points: nothing is corrected, reworded, split or looked at again."""
        visible = filter(None, map(self.visible, self.entries))
        scores = {each.name: sum(keyword_points(text, each).values()) for each in visible}
        points = {id: score for id, score in scores.items() if score}
        steps = (VariantTrace(keyword_variant(text), {}, points, self.rules, depth),)
        ranking = fuse_all(steps, self.rules, depth)
        likely = self._chance(steps, ranking, SecondLook())
        return SearchTrace(steps, ranking, self._cut_or_abstain(ranking, likely), chance=likely)

    def _variants(self, text: str, *, closely: bool) -> Sequence[Variant]:
        """The variants of a text, with their vectors.

        By z-scores the vector of the text as written is enough, and subqueries have traces of
        their own.
        """
        foreign = self._foreign(text)
        if self.rules.fusion == "rrf":
            return self.embed(query_variants(text, foreign, split=True), closely=closely)
        whole = query_variants(text, foreign)
        return [*self.embed(whole[:1], closely=closely), *whole[1:]]

    def _second_look(
        self, text: str, fused: Ranking, *, closely: bool, shown: int | None
    ) -> tuple[SecondLook, Ranking]:
        """What a second look sees, and the ranking that it leaves of what the caller sees."""
        if self.rules.second_look == "off" or self.rules.fusion == "rrf" or not self.bonuses:
            return SecondLook(), [match for match in fused if self.sees(match.id)]
        known = self.products()
        named = named_products(text, known) if known else ()
        matches = iter(fused)
        seen = ((match, entry) for match in matches if (entry := self.visible(match.id)))
        first = contenders(text, seen, named, shown if self.look is no_look else None)
        # What ended before its time needs no look at the others: they may even be gone by now.
        rest = [*matches] if len(first) < LOOKED_AT else [match for match, _ in seen]
        entries = [entry for _, entry in first]
        looks = self.look(text, entries, closely=closely)
        found = look_again(text, entries, looks, known, named)
        return found, found.reorder([match for match, _ in first], rest)

    def _chance(self, steps: Sequence[VariantTrace], fused: Ranking, seen: SecondLook) -> float:
        if not fused:
            return 0.0
        if seen.absent:
            return max(self.min_chance, ABSENT)
        likely = chance(evidence(steps, seen), calibrated=self.calibrated_cosines)
        likely = max(self.min_chance, likely)
        return LOW if likely < LOW and self.is_broad(fused[:BROAD_HITS]) else likely

    def _with_web_search(self, fused: Ranking, likely: float) -> tuple[Ranking, float]:
        """The ranking with the best web search first, if there is one, and a low chance at least.

        What nobody here is for may still be found on the web.
        """
        best = next((match.id for match in self._broad() if self.sees(match.id)), None)
        if best is None or not self.bonuses:
            return fused, likely
        top = fused[0].score if fused else 0.0
        others = [match for match in fused if match.id != best]
        return [Match(best, top), *others], max(likely, LOW)

    def _outright(self, text: str, names: Mapping[str, float], ranking: Ranking) -> Ranking:
        """What the text names verbatim, and nothing else, if it is an identifier and no phrase."""
        if self.rules.cut == "none" or not is_identifier(unwrapped(text)):
            return []
        return [match for match in ranking if names.get(match.id, 0.0) >= VERBATIM]

    def _foreign(self, text: str) -> Sequence[tuple[Lexicon, float]]:
        """Into which languages the text is to be translated, and how much each counts."""
        own = detect_language(text)
        return [
            (self.glossary.lexicon(own, other), weight)
            for other, share in self.monolingual_share.items()
            if other != own and (weight := translation_weight(share))
        ]

    def _is_name(self, text: str) -> bool:
        """Whether all of the text is a name in some spelling, as `search and replace` may be."""
        return any(strength >= RESPELT for strength in self._mentioned(text).values())

    def _mentioned(self, text: str) -> Mapping[str, float]:
        """The visible capabilities that the text names, each with its bonus."""
        strengths = mentioned_names(text, self.view, self.entries).items()
        return {id: strength * self.bonuses for id, strength in strengths if self.sees(id)}

    def _step(
        self, variant: Variant, names: Mapping[str, float], depth: int | None
    ) -> VariantTrace:
        arms: dict[Arm, Ranking] = {
            arm: index.lookup(variant, limit=depth, exclude=self.hidden)
            for arm, index in self.view.arms.items()
        }
        bonus = self._with_verb_boost(names, variant, arms.values())
        return VariantTrace(variant, arms, bonus, self.rules, depth)

    def _with_verb_boost(
        self, names: Mapping[str, float], variant: Variant, rankings: Collection[Ranking]
    ) -> Mapping[str, float]:
        """The bonus by name, and the boost of the first few with a verb of the query's family."""
        family = verb_family(variant.text)
        if not family or not self.bonuses:
            return names
        bonus = dict(names)
        for id in {match.id for ranking in rankings for match in ranking[:VERB_DEPTH]}:
            if (entry := self.visible(id)) and verb_family(entry.bare) == family:
                bonus[id] = bonus.get(id, 0.0) + VERB_BOOST
        return bonus


def _mean_chance(whole: SearchTrace, parts: Sequence[SearchTrace]) -> float:
    """The chance of a task: the mean of the whole and of its parts, of those that are answered."""
    answered = [each.chance for each in (whole, *parts) if each.fits]
    return fmean(answered) if answered else whole.chance


def _with_corrections(trace: SearchTrace, made: tuple[Correction, ...]) -> SearchTrace:
    """The trace that says what was corrected before it."""
    if not made:
        return trace
    first, *others = trace.steps
    first = replace(first, variant=replace(first.variant, origin="corrected"))
    return replace(trace, steps=(first, *others), corrections=made)
