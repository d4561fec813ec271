"""From a query in any form to an answer: never a dead end, never the whole catalog."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from toolcrib.model import (
    Answer,
    Entry,
    EntryGroups,
    EntryTraits,
    Hit,
    Match,
    NameFilter,
    Query,
    Ranking,
)
from toolcrib.names import bare_parts, is_called, name_stems
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
from toolcrib.text import (
    BadPattern,
    Language,
    compile_pattern,
    detect_language,
    fold,
    nearest_names,
)

ONE_LINE, LONG_ENOUGH = 160, 320
MOST_NEAREST = 5
MOST_NAMESPACES = 20
MOST_NAMES = 100
"""Of more than these, an answer that has found nothing gives the number alone."""
MOST_OFTEN_WITH = 3


def answer_query(query: Query, search: Search) -> Answer:
    """The answer to a query in any form. Without hits its confidence is "none"."""
    answer = _by_form(query, search)
    if answer.hits or answer.confidence == "none":
        return answer
    return replace(answer, confidence="none", chance=0.0)


def _by_form(query: Query, search: Search) -> Answer:
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
            shown = limit_of(query, search)
            return _free(query, search, search.trace(text, depth=search.depth, shown=shown))


def namespaces(groups: EntryGroups, visible: Mapping[EntryTraits, int]) -> Mapping[str, int]:
    """How many visible capabilities there are from where; the smallest summed up.

    The largest come first, and of equal ones those whose names do.
    """
    counts, first = Counter[str](), dict[str, str]()
    for traits, size in visible.items():
        label = _namespace(traits)
        counts[label] += size
        begins = name_stems(traits)[-1] or min(groups[traits])
        first[label] = min(begins, first.get(label, begins))
    largest = sorted(counts, key=lambda label: (-counts[label], first[label]))
    rest = sum(counts[label] for label in largest[MOST_NAMESPACES:])
    return {label: counts[label] for label in largest[:MOST_NAMESPACES]} | (
        {"others": rest} if rest else {}
    )


def visible_sizes(groups: EntryGroups, hidden: NameFilter) -> Mapping[EntryTraits, int]:
    """How many of each group are visible, by the shorter list of names; no group without any."""
    found = (entry for name in hidden.names if (entry := groups.entries.get(name)))
    listed = Counter(map(EntryTraits.of, found))
    if hidden.inverted:
        return listed
    sizes = {traits: len(names) - listed[traits] for traits, names in groups.items()}
    return {traits: size for traits, size in sizes.items() if size}


def limit_of(query: Query, search: Search) -> int:
    """How many hits the answer to a query may have."""
    limit = search.rules.limit if query.limit is None else query.limit
    return max(0, min(limit, search.rules.most))


def _answer(query: Query, search: Search, ranking: Ranking) -> Answer:
    if not ranking:
        return _nothing_fits(query, search)
    return Answer(query.text, _hits(query, search, ranking[: limit_of(query, search)]))


def _free(query: Query, search: Search, trace: SearchTrace) -> Answer:
    """The answer to a free text, with its confidence.

    Its note is on what was corrected, and on parts without a hit.
    """
    level = confidence_level(trace.chance) if trace.ranking else "none"
    if trace.after_cut:
        hits = _hits(query, search, trace.after_cut[: limit_of(query, search)])
        answer, note = partial(Answer, query.text, hits), _unanswered_parts(hits, trace)
    else:
        nothing = _nothing_fits(query, search)
        answer, note = partial(replace, nothing), nothing.note
    return answer(
        note=_notes(_corrected(trace), note),
        confidence=level,
        chance=trace.chance,
        variants=len(trace.steps),
        candidates=len(trace.ranking),
    )


def _notes(*some: str) -> str:
    return " ".join(filter(None, some))


def _corrected(trace: SearchTrace) -> str:
    return f"Corrected: {', '.join(map(str, trace.corrections))}." if trace.corrections else ""


def _unanswered_parts(found: Sequence[Hit], trace: SearchTrace) -> str:
    """Which parts of the task have no hit in the answer, and why; "" if all have one."""
    if not trace.parts:
        return ""
    hits = {hit.name for hit in found}
    unfit = [part.text for part in trace.parts if not part.fits]
    fitting = [part for part in trace.parts if part.fits]
    crowded = [part.text for part in fitting if hits.isdisjoint(m.id for m in part.after_cut)]
    crowded += trace.parts_left_out
    return _notes(
        f"Nothing fits {_quoted(unfit)}." if unfit else "",
        f"No room was left for {_quoted(crowded)}: ask for each by itself." if crowded else "",
    )


def _quoted(texts: Iterable[str]) -> str:
    return " or ".join(repr(text) for text in texts)


def _browse(query: Query, search: Search) -> Answer:
    note = "Nothing was asked, so nothing is revealed. Say what you need: verb, object, domain."
    return _with_names(Answer(query.text, note=note), search)


def _select(query: Query, search: Search, names: tuple[str, ...]) -> Answer:
    by_name = {name: _named(name, search) for name in names}
    selected = dict.fromkeys(ids[0] for ids in by_name.values() if len(ids) == 1)
    missing = {
        name: tuple(ids[:MOST_NEAREST]) or nearest_names(name, _names(search))
        for name, ids in by_name.items()
        if len(ids) != 1
    }
    ranking = [Match(id, 1.0) for id in selected][: search.rules.most]
    left = len(selected) - len(ranking)
    note = f"{left} more were selected than one answer holds; ask for them again." if left else ""
    return Answer(query.text, _hits(query, search, ranking), missing=missing, note=note)


def _named(name: str, search: Search) -> list[str]:
    """The visible capabilities of this name: by the name, by the bare name, by its spelling."""
    visible = {id: search.entries[id] for id in search.view.named(fold(name)) if search.sees(id)}
    exact = [id for id in visible if id == name]
    bare = [id for id, entry in visible.items() if entry.bare == name]
    ends = [id for end in bare_parts(name) for id in search.view.named(fold(end))]
    seen = filter(search.sees, dict.fromkeys((*visible, *ends)))
    called = [id for id in seen if is_called(name, search.entries[id])]
    return exact or bare or called or list(visible)


def _required(query: Query, search: Search, parts: tuple[str, ...], rest: str) -> Answer:
    """What has the words in its name, ranked by the rest. It never abstains."""
    having = [name for name in _names(search) if all(part in name.lower() for part in parts)]
    words = " and ".join(repr(part) for part in parts)
    if not having:
        lacking = {part: nearest_names(part, _names(search)) for part in parts[:MOST_NEAREST]}
        note = f"No name has {words} in it."
        return _with_names(Answer(query.text, missing=lacking, note=note), search)
    if not rest:
        return _whole_set(query, search, having, words)
    within = replace(search.within(having), min_chance=LOW)
    trace = within.trace(rest, depth=search.depth)
    return (
        _free(query, within, trace) if trace.after_cut else _unranked(query, search, having, rest)
    )


def _whole_set(query: Query, search: Search, having: Sequence[str], words: str) -> Answer:
    """All that have the words in their name, in order of it."""
    answer = _answer(query, search, [Match(name, 1.0) for name in having])
    left = len(having) - len(answer)
    note = f"{left} more have {words} in their name: say what you need of them."
    return replace(answer, note=note) if left else answer


def _unranked(query: Query, search: Search, having: Sequence[str], rest: str) -> Answer:
    """A named set in which nothing fits the rest: first those with a verb of the same family."""
    family = verb_family(rest)
    same = {name for name in having if family == verb_family(search.entries[name].bare) != ""}
    ranking = [Match(name, LOW) for name in sorted(having, key=lambda name: name not in same)]
    how = "those with a verb like it come first" if same else "they come by name"
    note = f"No tool with that name is about {rest!r}: {how}."
    answer = _answer(query, search, ranking)
    return replace(answer, confidence="low", chance=LOW, note=note)


def _pattern(query: Query, search: Search, pattern: str) -> Answer:
    try:
        fits = compile_pattern(pattern)
    except BadPattern as error:
        return Answer(
            query.text, note=f"The pattern cannot be used: {error}. Use plain words instead."
        )
    named = {name for name in _names(search) if fits(name) or fits(search.entries[name].bare)}
    in_text = [
        Match(entry.name, 0.5)
        for entry in _visible(search)
        if entry.name not in named and fits(f"{entry.title}\n{entry.description}")
    ]
    return _answer(query, search, [Match(name, 1.0) for name in sorted(named)] + in_text)


def _nothing_fits(query: Query, search: Search) -> Answer:
    note = "Nothing fits. Say it in other words, or look at what there is."
    return _with_names(Answer(query.text, note=note), search)


def _with_names(answer: Answer, search: Search) -> Answer:
    """The answer with what there is: how many from where, and their names if they are few."""
    groups = search.groups()
    sizes = visible_sizes(groups, search.hidden)
    names: dict[str, tuple[str, ...]] = {}
    for entry in _visible(search) if sum(sizes.values()) <= MOST_NAMES else ():
        own = entry.bare if entry.kind == "tool" else entry.name
        names[_namespace(entry)] = (*names.get(_namespace(entry), ()), own)
    return replace(answer, namespaces=namespaces(groups, sizes), names=names)


def _visible(search: Search) -> list[Entry]:
    return [search.entries[name] for name in _names(search)]


def _names(search: Search) -> list[str]:
    hidden = search.hidden
    if hidden.inverted:
        return sorted(name for name in hidden.names if name in search.entries)
    return sorted(name for name in search.entries if name not in hidden.names)


def _hits(query: Query, search: Search, ranking: Ranking) -> tuple[Hit, ...]:
    language = detect_language(query.text[:LONGEST_QUERY])
    return tuple(
        _hit(match, search, language, full=place < search.rules.schemas)
        for place, match in enumerate(ranking)
    )


def _often_with(name: str, search: Search) -> tuple[str, ...]:
    visible = filter(search.sees, search.often_with(name))
    return tuple(islice(visible, MOST_OFTEN_WITH))


def _hit(match: Match, search: Search, language: Language, *, full: bool) -> Hit:
    entry = search.visible(match.id) or search.entries[match.id]
    return Hit(
        name=entry.name,
        kind=entry.kind,
        source=entry.source,
        source_id=entry.source_id,
        state=entry.state,
        remedy=entry.remedy,
        score=match.score,
        description=_one_line(entry, language),
        permission_kind=entry.permission_kind,
        schema=entry.parameters if full else None,
        often_with=_often_with(entry.name, search),
    )


def _one_line(entry: Entry, language: Language) -> str:
    """The description in the query's language if there is one, else as it is, on one line."""
    own = (text for tag, text in entry.desc.items() if tag.startswith(language))
    text = next(own, entry.description)
    line = " ".join(text[:LONG_ENOUGH].split())  # the rest matters if this is mostly white
    line = line if len(line) > ONE_LINE else " ".join(text.split())
    return line if len(line) <= ONE_LINE else line[: ONE_LINE - 1].rstrip() + "…"


def _namespace(what: Entry | EntryTraits) -> str:
    return what.owner_label if what.kind == "tool" else f"{what.kind}s"
