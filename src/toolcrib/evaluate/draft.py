"""A first set of cases for a catalog, for a person to correct.

    recorded use ─ words that led to a tool that was then called ─┐
    the tools    ─ a request guessed from what each says of itself ┼→ DraftCases → a YAML file
    requests that the catalog has nothing for ────────────────────┘

Every server gets its turn before one gets a second, tools in use come before others, and two runs
over the same catalog write the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Literal

from toolcrib.evaluate.phrasing import plain_request
from toolcrib.evaluate.unanswerable import unanswerable
from toolcrib.model import Entry
from toolcrib.text import detect_language, is_unspaced, stems, without_hidden, words
from toolcrib.uses import LedWord

DraftSplit = Literal["use", "guess", "none"]

NONE_SHARE = 10
"""One case in so many is one that nothing fits."""
USE_SHARE = 2
"""One case in so many comes from recorded use at most: the rest is spread over all servers."""
FEWEST_WORDS = 2
MOST_WORDS = 6
LONGEST_NOTE = 96


@dataclass(frozen=True, slots=True)
class DraftCase:
    """A case to be corrected: where it comes from is its split; the note says what to look at."""

    query: str
    relevant: tuple[str, ...]
    split: DraftSplit
    note: str


@dataclass(frozen=True, slots=True)
class DraftEvidence:
    """What recorded use tells: which words led to a tool, and how often each was called."""

    led: Mapping[str, Sequence[LedWord]] = field(default_factory=dict[str, Sequence[LedWord]])
    calls: Mapping[str, int] = field(default_factory=dict[str, int])


def draft_cases(
    entries: Mapping[str, Entry], evidence: DraftEvidence, *, count: int
) -> Sequence[DraftCase]:
    """At most so many cases, those from use first; none for an empty catalog."""
    if not entries:
        return []
    said = {term for text in catalog_texts(entries.values()) for term in _said(text)}
    none = [*islice(_none_cases(entries, said), count // NONE_SHARE)]
    used = [*islice(_use_cases(entries, evidence), (count - len(none)) // USE_SHARE)]
    taken = {each.relevant[0] for each in used}
    rest = {name: entry for name, entry in entries.items() if name not in taken}
    guesses = islice(_guesses(rest, evidence.calls), count - len(none) - len(used))
    return _distinct([*used, *guesses, *none])


def catalog_texts(entries: Iterable[Entry]) -> Iterator[str]:
    """What a catalog says of its tools, to people and to search."""
    for entry in entries:
        each = entry.capability
        yield from (entry.bare, each.title, each.description, each.search_hint, *each.tags)
        yield each.source_id or ""


def _use_cases(entries: Mapping[str, Entry], evidence: DraftEvidence) -> Iterator[DraftCase]:
    """Of tools that searches led to, the most often used first."""
    led = {name: some for name, some in evidence.led.items() if name in entries}
    for name in sorted(led, key=lambda name: (-sum(each.uses for each in led[name]), name)):
        some = led[name][:MOST_WORDS]
        if len(some) >= FEWEST_WORDS:
            times = max(each.uses for each in some)
            often = "once" if times == 1 else f"in {times} conversations"
            note = f"led here {often}: {_about(entries[name])}"
            yield DraftCase(" ".join(each.word for each in some), (name,), "use", note)


def _guesses(entries: Mapping[str, Entry], calls: Mapping[str, int]) -> Iterator[DraftCase]:
    """A server after the other, each with its most called tool that is left."""
    servers: dict[str, list[Entry]] = {}
    for entry in sorted(entries.values(), key=lambda each: (-calls.get(each.name, 0), _draw(each))):
        servers.setdefault(entry.owner_label, []).append(entry)
    while servers:
        for server in list(servers):
            entry = servers[server].pop(0)
            if not servers[server]:
                del servers[server]
            yield DraftCase(plain_request(entry), (entry.name,), "guess", _about(entry))


def _none_cases(entries: Mapping[str, Entry], said: set[str]) -> Iterator[DraftCase]:
    described = [detect_language(each.description) for each in entries.values()]
    for each in unanswerable(said, chinese="zh" in described):
        yield DraftCase(each.text, (), "none", "")


def _distinct(cases: Iterable[DraftCase]) -> Sequence[DraftCase]:
    """Each query once: tools of two servers that say the same are one case, and either is right."""
    by_query: dict[str, DraftCase] = {}
    for case in cases:
        first = by_query.get(case.query)
        relevant = (*first.relevant, *case.relevant) if first else case.relevant
        kept = first or case
        by_query[case.query] = DraftCase(kept.query, relevant, kept.split, kept.note)
    return list(by_query.values())


def _about(entry: Entry) -> str:
    """The tool's description on one line, for the person who corrects."""
    line = " ".join(without_hidden(entry.description).split())
    short = line if len(line) <= LONGEST_NOTE else f"{line[: LONGEST_NOTE - 1].rstrip()}…"
    return "".join(char if char.isprintable() else " " for char in short)


def _said(text: str) -> Iterator[str]:
    for word in words(text):
        yield from [word] if is_unspaced(word) else stems([word])


def _draw(entry: Entry) -> bytes:
    """An order that is by chance, and the same for the same names."""
    return blake2b(entry.name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
