"""From a query in any form to an answer: never a dead end, never the whole catalog."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from toolcrib.model import Answer, Capability, Entry, Hit, Match, Query, Ranking, ToolInfo
from toolcrib.search.confidence import LOW, confidence_level
from toolcrib.search.pipeline import Search, SearchTrace
from toolcrib.search.query_syntax import (
    LONGEST_QUERY,
    BrowseQuery,
    FreeQuery,
    PatternQuery,
    RequiredQuery,
    SelectQuery,
    parse_query,
)
from toolcrib.search.verbs import verb_family
from toolcrib.text import BadPattern, compile_pattern, detect_language, fold, nearest_names

ONE_LINE = 160
MOST_NEAREST = 5
MOST_NAMESPACES = 20
MOST_NAMES = 100
"""Of more than these, an answer that has found nothing gives the number alone."""
MOST_OFTEN_WITH = 3


def answer_query(query: Query, search: Search) -> Answer:
    """The answer to a query, whatever its form. Without hits it is sure of nothing."""
    found = _answered(query, search)
    if found.hits or found.confidence == "none":
        return found
    return replace(found, confidence="none", chance=0.0)


def _answered(query: Query, search: Search) -> Answer:
    match parse_query(query.text):
        case BrowseQuery():
            return _browse(query, search)
        case SelectQuery(names):
            return _select(query, search, names)
        case RequiredQuery(parts, rest):
            return _required(query, search, parts, rest)
        case PatternQuery(pattern):
            return _pattern(query, search, pattern)
        case FreeQuery(text):
            return _fitting(query, search, search.trace(text, depth=search.depth))


def namespaces(entries: Iterable[Entry]) -> Mapping[str, int]:
    """How many capabilities there are from where, the largest first; the smallest summed up."""
    counts = Counter(map(_namespace, entries)).most_common()
    rest = sum(count for _, count in counts[MOST_NAMESPACES:])
    return dict(counts[:MOST_NAMESPACES]) | ({"others": rest} if rest else {})


def limit_of(query: Query, search: Search) -> int:
    """How many hits the answer to a query may have."""
    wanted = search.rules.limit if query.limit is None else query.limit
    return max(0, min(wanted, search.rules.most))


def _answer(query: Query, search: Search, ranking: Ranking) -> Answer:
    if not ranking:
        return _nothing_fits(query, search)
    return Answer(query.text, _hits(query, search, ranking[: limit_of(query, search)]))


def _fitting(query: Query, search: Search, trace: SearchTrace) -> Answer:
    """The answer to a free text, with how sure it is and which of its parts went without."""
    found = _answer(query, search, trace.kept)
    sure = confidence_level(trace.chance) if trace.ranking else "none"
    note = found.note or _lost_parts(found, trace)
    return replace(found, confidence=sure, chance=trace.chance, note=note)


def _lost_parts(found: Answer, trace: SearchTrace) -> str:
    """Which of the things that were asked for have nothing in the answer, and why."""
    shown = {hit.name for hit in found}
    unfit = [part.asked for part in trace.parts if not part.fits]
    fitting = [part for part in trace.parts if part.fits]
    left = [part.asked for part in fitting if shown.isdisjoint(match.id for match in part.kept)]
    left += trace.beyond
    notes = [
        f"Nothing fits {_quoted(unfit)}." if unfit else "",
        f"No room was left for {_quoted(left)}: ask for each by itself." if left else "",
    ]
    return " ".join(filter(None, notes))


def _quoted(texts: Iterable[str]) -> str:
    return " or ".join(repr(text) for text in texts)


def _browse(query: Query, search: Search) -> Answer:
    note = "Nothing was asked, so nothing is revealed. Say what you need: verb, object, domain."
    return _with_names(Answer(query.text, note=note), search)


def _select(query: Query, search: Search, names: tuple[str, ...]) -> Answer:
    found = {name: _called(name, search) for name in names}
    chosen = dict.fromkeys(ids[0] for ids in found.values() if len(ids) == 1)
    missing = {
        name: tuple(ids[:MOST_NEAREST]) or nearest_names(name, _names(search))
        for name, ids in found.items()
        if len(ids) != 1
    }
    shown = [Match(id, 1.0) for id in chosen][: search.rules.most]
    left = len(chosen) - len(shown)
    note = f"{left} more were selected than one answer holds; ask for them again." if left else ""
    return Answer(query.text, _hits(query, search, shown), missing=missing, note=note)


def _called(name: str, search: Search) -> list[str]:
    """The visible capabilities of this name: by the name, by the bare name, by its spelling."""
    visible = {id: search.entries[id] for id in search.view.named(fold(name)) if search.sees(id)}
    exact = [id for id in visible if id == name]
    bare = [id for id, entry in visible.items() if entry.bare == name]
    return exact or bare or list(visible)


def _required(query: Query, search: Search, parts: tuple[str, ...], rest: str) -> Answer:
    """What has the words in its name, ranked by the rest. Nothing in it is withheld."""
    having = [name for name in _names(search) if all(part in name.lower() for part in parts)]
    words = " and ".join(repr(part) for part in parts)
    if not having:
        lacking = {part: nearest_names(part, _names(search)) for part in parts[:MOST_NEAREST]}
        note = f"No name has {words} in it."
        return _with_names(Answer(query.text, missing=lacking, note=note), search)
    if not rest:
        return _whole_set(query, search, having, words)
    within = replace(search.within(having), least=LOW)
    trace = within.trace(rest, depth=search.depth)
    return _fitting(query, within, trace) if trace.kept else _unranked(query, search, having, rest)


def _whole_set(query: Query, search: Search, having: Sequence[str], words: str) -> Answer:
    """All that have the words in their name, in order of it."""
    found = _answer(query, search, [Match(name, 1.0) for name in having])
    left = len(having) - len(found)
    note = f"{left} more have {words} in their name: say what you need of them."
    return replace(found, note=note) if left else found


def _unranked(query: Query, search: Search, having: Sequence[str], rest: str) -> Answer:
    """A named set of which nothing is said to fit: those first whose verb is kin to the rest's."""
    wanted = verb_family(rest)
    kin = {
        name: bool(wanted) and verb_family(search.entries[name].bare) == wanted for name in having
    }
    ranking = [Match(name, LOW) for name in sorted(having, key=lambda name: not kin[name])]
    how = "those with a verb like it come first" if any(kin.values()) else "they come by name"
    found = _answer(query, search, ranking)
    note = f"No tool with that name is about {rest!r}: {how}."
    return replace(found, confidence="low", chance=LOW, note=note)


def _pattern(query: Query, search: Search, pattern: str) -> Answer:
    try:
        fits = compile_pattern(pattern)
    except BadPattern as error:
        return Answer(
            query.text, note=f"The pattern cannot be used: {error}. Use plain words instead."
        )
    named = {name for name in _names(search) if fits(name)}
    in_text = [
        Match(entry.name, 0.5)
        for entry in _visible(search)
        if entry.name not in named
        and fits(f"{entry.capability.title}\n{entry.capability.description}")
    ]
    return _answer(query, search, [Match(name, 1.0) for name in sorted(named)] + in_text)


def _nothing_fits(query: Query, search: Search) -> Answer:
    near = nearest_names(query.text[:ONE_LINE], _names(search), limit=MOST_NEAREST)
    note = "Nothing fits. Say it in other words, or look at the nearest names."
    return _with_names(Answer(query.text, nearest=near, note=note), search)


def _with_names(found: Answer, search: Search) -> Answer:
    """The answer with what there is: how many from where, and their names if they are few."""
    visible = _visible(search)
    names: dict[str, tuple[str, ...]] = {}
    for entry in visible if len(visible) <= MOST_NAMES else ():
        names[_namespace(entry)] = (*names.get(_namespace(entry), ()), entry.name)
    return replace(found, namespaces=namespaces(visible), names=names)


def _visible(search: Search) -> list[Entry]:
    return [search.entries[name] for name in _names(search)]


def _names(search: Search) -> list[str]:
    return sorted(name for name in search.entries if search.sees(name))


def _hits(query: Query, search: Search, ranking: Ranking) -> tuple[Hit, ...]:
    tongue = detect_language(query.text[:LONGEST_QUERY])
    hits = (
        _hit(search.entries[match.id], match.score, tongue, full=place < search.rules.schemas)
        for place, match in enumerate(ranking)
    )
    return tuple(replace(hit, often_with=_often_with(hit.name, search)) for hit in hits)


def _often_with(name: str, search: Search) -> tuple[str, ...]:
    seen = filter(search.sees, search.often_with(name))
    return tuple(islice(seen, MOST_OFTEN_WITH))


def _hit(entry: Entry, score: float, tongue: str, *, full: bool) -> Hit:
    capability = entry.capability
    return Hit(
        name=entry.name,
        kind=capability.kind,
        source=capability.source,
        source_id=capability.source_id,
        state=entry.state,
        remedy=entry.remedy,
        score=score,
        description=_one_line(capability, tongue),
        permission_kind=capability.permission_kind,
        schema=capability.parameters if full and isinstance(capability, ToolInfo) else None,
    )


def _one_line(capability: Capability, tongue: str) -> str:
    """The description in the query's language if there is one, else as it is, on one line."""
    own = (text for tag, text in capability.desc.items() if tag.startswith(tongue))
    line = " ".join(next(own, capability.description).split())
    return line if len(line) <= ONE_LINE else line[: ONE_LINE - 1].rstrip() + "…"


def _namespace(entry: Entry) -> str:
    capability = entry.capability
    if capability.kind != "tool":
        return f"{capability.kind}s"
    return capability.owner_label
