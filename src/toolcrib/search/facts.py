"""What search wants to know of every entry at once: languages, products, server, links.

    facts_of(entry)                      worked out from the definition, once
    facts.text, SearchFacts.read(text)   as a pool keeps them in its file: facts_version() says
                                         by which word lists they were made
    PoolFacts                            of all entries: mended when entries change, never walked

Few entries have facts of their own: most share them with others of their server. So whatever is
asked of all entries is asked of the different facts.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from toolcrib.model import Capability, Entry, SkillInfo, with_name, without_name
from toolcrib.search.languages import languages_of
from toolcrib.search.name_mentions import is_identifier
from toolcrib.text import ENGLISH_STOPWORDS, Language, our_products, products_digest, words

FORMAT = 1
"""Another number whenever this module or the words it goes by make other facts of an entry."""
MOST_OVERLAID = 1024
MOST_MENTIONS = 64
LONGEST_SERVER_NAME = 4
"""In words."""
SHORTEST_SERVER_NAME = 4
"""In characters: what is shorter stands in other words and sentences by chance."""
_NO_NAMES = ENGLISH_STOPWORDS | frozenset(
    """
    mcp server servers api apis tool tools toolbox toolkit toolset agent agents ai app apps client
    service services sdk cli http stdio sse remote local official unofficial community simple my
    model context protocol integration connector plugin bridge wrapper js ts py python node
    """.split()
)
_ENDINGS = ("mcpserver", "oapi", "api", "mcp", "hq", "labs", "inc", "dev", "io", "ai")
_NOTHING = frozenset[str]()
_IN_BACKTICKS = re.compile(r"`([A-Za-z0-9_-]{2,64})`")


class SearchFacts(NamedTuple):
    """What search knows of an entry without reading its definition.

    `languages` are those it is described in. `products` are those it is of, `spoken_of` those that
    its description names. `server` are the words of its server, if it is of no known product.
    `links` are what it says it is used with: names of others, as they are written.
    """

    languages: frozenset[Language]
    products: frozenset[str]
    spoken_of: frozenset[str]
    server: tuple[str, ...]
    packaged: bool
    links: tuple[str, ...]

    @property
    def text(self) -> str:
        """The facts as one line."""
        sets = (self.languages, self.products, self.spoken_of)
        others = self.server, self.packaged, self.links
        return json.dumps([*map(sorted, sets), *others], ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> "SearchFacts":
        """The facts of such a line."""
        languages, products, spoken_of, server, packaged, links = json.loads(text)
        sets = frozenset(languages), frozenset(products), frozenset(spoken_of)
        return cls(*sets, tuple(server), packaged, tuple(links))


class StoredFacts(NamedTuple):
    """Facts that were read rather than made: the names by text, and the text of a name."""

    names: Mapping[str, Collection[str]]
    text_of: Callable[[str], str | None]


def _no_text(_name: str) -> None:
    return None


NOTHING_STORED = StoredFacts({}, _no_text)
NOTHING_KNOWN: Mapping[str, SearchFacts | None] = {}


def facts_version() -> str:
    """Facts of another version were made by other rules, and are not to be used."""
    return f"{FORMAT}-{products_digest()}"


def facts_of(entry: Entry) -> SearchFacts:
    """The facts of an entry; reads its definition."""
    capability = entry.given
    spoken = _spoken_of(capability.description)
    products = _products(entry, capability, spoken)
    server = () if products else _server_words(entry.source_id or "")
    languages, links = languages_of(capability), _links_of(capability)
    return SearchFacts(languages, products, spoken, server, entry.packaged, links)


class FactCounts(NamedTuple):
    """How many entries there are by languages, how many that do not come with Toolcrib.

    `of_products` are those among them that are of a known product.
    """

    languages: Mapping[frozenset[Language], int]
    foreign: int
    of_products: int

    @classmethod
    def of(cls, groups: Iterable[tuple[SearchFacts, int]]) -> "FactCounts":
        """The counts of facts that so many entries have each."""
        counts = cls({}, 0, 0)
        for facts, size in groups:
            counts = counts.plus(facts, size)
        return counts

    def plus(self, facts: SearchFacts, size: int) -> "FactCounts":
        """The counts with so many more entries of these facts; with fewer, if it is negative."""
        described = self.languages.get(facts.languages, 0) + size
        foreign = 0 if facts.packaged else size
        return FactCounts(
            {**self.languages, facts.languages: described},
            self.foreign + foreign,
            self.of_products + (foreign if facts.products else 0),
        )


class FactIndex:
    """The different facts by what they say. It only ever grows, and many pools share it."""

    def __init__(self) -> None:
        self._known = set[SearchFacts]()
        self.tools: dict[str, dict[SearchFacts, None]] = {}
        self.partly: dict[str, dict[SearchFacts, None]] = {}
        self.mentions: dict[str, dict[SearchFacts, None]] = {}
        self.servers: dict[tuple[str, ...], dict[SearchFacts, None]] = {}
        self.server_starts = set[str]()
        self.linking: dict[SearchFacts, None] = {}

    def add(self, facts: SearchFacts) -> None:
        """Know these facts."""
        if facts in self._known:
            return
        self._known.add(facts)
        own = facts.products
        for each in _with_suites(own):
            self.tools.setdefault(each, {})[facts] = None
        for each in _reached(own) if own else facts.spoken_of:
            self.partly.setdefault(each, {})[facts] = None
        for each in facts.spoken_of:
            self.mentions.setdefault(each, {})[facts] = None
        if facts.links:
            self.linking[facts] = None
        if facts.server:
            self.servers.setdefault(facts.server, {})[facts] = None
            self.server_starts.add(facts.server[0])


@dataclass(frozen=True, slots=True, eq=False)
class PoolFacts:
    """The facts of all entries: the names of each, and the facts of each name.

    Facts of a name are in the `overlay`, if it has changed of late (None: it is gone), else in
    `memory`, else among those that were `stored`.
    """

    groups: Mapping[SearchFacts, Collection[str]]
    counts: FactCounts
    index: FactIndex
    overlay: Mapping[str, SearchFacts | None]
    memory: Mapping[str, SearchFacts | None]
    stored: Callable[[str], SearchFacts | None]

    @classmethod
    def of(
        cls,
        entries: Mapping[str, Entry],
        stored: StoredFacts = NOTHING_STORED,
        known: Mapping[str, SearchFacts | None] = NOTHING_KNOWN,
    ) -> "PoolFacts":
        """The facts that were stored, and those of these entries: as known, or worked out."""
        parsed = {text: SearchFacts.read(text) for text in stored.names}

        def stored_of(name: str) -> SearchFacts | None:
            text = stored.text_of(name)
            here = text is not None and name in stored.names.get(text, ())
            return parsed[text] if text is not None and here else None

        memory = {name: known.get(name) or facts_of(entry) for name, entry in entries.items()}
        groups = {parsed[text]: names for text, names in stored.names.items()}
        for facts, names in _grouped(memory).items():
            groups[facts] = frozenset((*groups.get(facts, ()), *names))
        index = FactIndex()
        for facts in groups:
            index.add(facts)
        counts = FactCounts.of((facts, len(names)) for facts, names in groups.items())
        return cls(groups, counts, index, {}, memory, stored_of)

    def changed(self, entries: Mapping[str, Entry], names: Iterable[str]) -> "PoolFacts":
        """The facts of later entries, which differ in the given names alone."""
        groups, overlay, counts = dict(self.groups), dict(self.overlay), self.counts
        for name in names:
            old, entry = self.of_name(name), entries.get(name)
            overlay[name] = new = facts_of(entry) if entry else None
            if old:
                groups[old] = without_name(groups[old], name)
                counts = counts.plus(old, -1)
            if new:
                groups[new] = with_name(groups.get(new, ()), name)
                counts = counts.plus(new, 1)
                self.index.add(new)
        if len(overlay) <= MOST_OVERLAID:
            return replace(self, groups=groups, counts=counts, overlay=overlay)
        whole = {**self.memory, **overlay}
        return replace(self, groups=groups, counts=counts, overlay={}, memory=whole)

    def of_name(self, name: str) -> SearchFacts | None:
        """The facts of an entry; None if there is none of this name."""
        if name in self.overlay:
            return self.overlay[name]
        return self.memory[name] if name in self.memory else self.stored(name)

    def linking(self) -> Mapping[str, Sequence[str]]:
        """What the entries that say so are used with, by their names in order."""
        some = ((facts, self.groups.get(facts, ())) for facts in tuple(self.index.linking))
        found = {name: facts.links for facts, names in some for name in names}
        return dict(sorted(found.items()))

    @property
    def monolingual_share(self) -> Mapping[Language, float]:
        """By language, the share of the entries that are described in it and in no other."""
        counts = self.counts.languages
        total, alone = sum(counts.values()), (only for only in counts if len(only) == 1)
        return {one: counts[only] / total for only in alone if counts[only] for one in only}


def mentioned_tools(body: str) -> Sequence[str]:
    """What may be names of tools in a text: identifiers in backticks, each once, in order."""
    said = dict.fromkeys(filter(is_identifier, _IN_BACKTICKS.findall(body)))
    return list(said)[:MOST_MENTIONS]


def _links_of(capability: Capability) -> tuple[str, ...]:
    if isinstance(capability, SkillInfo):
        return *capability.often_with, *mentioned_tools(capability.body)
    return capability.often_with


def _grouped(facts: Mapping[str, SearchFacts]) -> Mapping[SearchFacts, Sequence[str]]:
    groups: dict[SearchFacts, list[str]] = {}
    for name, each in facts.items():
        groups.setdefault(each, []).append(name)
    return groups


def _products(entry: Entry, capability: Capability, spoken: frozenset[str]) -> frozenset[str]:
    """Those of a server's name, and of a tool's own name and labels.

    An everyday word in the name of a tool counts if its description speaks of that product.
    """
    of_server = _products_of_server(capability.source_id or "")
    labelled = _NOTHING.union(*map(_spoken_of, _labels(capability)))
    surely, perhaps = _products_of_name(entry.bare)
    return of_server | labelled | surely | (perhaps & spoken)


def _labels(capability: Capability) -> Iterable[str]:
    titles = (capability.title, *capability.display.values(), *capability.tags)
    return filter(None, (*titles, capability.category, capability.search_hint))


@lru_cache(maxsize=1 << 12)
def _products_of_server(id: str) -> frozenset[str]:
    """Those in the name of a server; acmeapi-notionhq is Notion's."""
    said, listed = words(id), our_products()
    spellings = ([word.removesuffix(ending) for word in said] for ending in ("", *_ENDINGS))
    return _NOTHING.union(*(listed.in_name(each, everyday=True) for each in spellings))


@lru_cache(maxsize=1 << 12)
def _products_of_name(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The products in the name of a tool: by names of products alone, and by everyday words."""
    said, listed = words(name), our_products()
    return listed.in_name(said, everyday=False), listed.in_name(said, everyday=True)


@lru_cache(maxsize=1 << 12)
def _spoken_of(text: str) -> frozenset[str]:
    return our_products().spoken_of(text)


def _with_suites(own: frozenset[str]) -> frozenset[str]:
    listed = our_products().products
    return own | {suite for each in own if (suite := listed[each].suite)}


def _reached(own: frozenset[str]) -> frozenset[str]:
    """What these can do the work of: a suite, of its products, unless one of them is named here."""
    listed = our_products()
    narrowed = {listed.products[each].suite for each in own}
    members = _NOTHING.union(*(listed.members.get(each, ()) for each in own - narrowed))
    reached = (listed.products[each].reaches for each in own | members)
    return members.union(*reached) - own


@lru_cache(maxsize=1 << 12)
def _server_words(id: str) -> tuple[str, ...]:
    """The words of a server, without those that any server may have; none if that says nothing."""
    said = [word for word in words(id) if word not in _NO_NAMES]
    long_enough = len("".join(said)) >= SHORTEST_SERVER_NAME
    return tuple(said[:LONGEST_SERVER_NAME]) if said and long_enough else ()
