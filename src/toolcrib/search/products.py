"""Products that a request names, what the pool has of them, and what that says of a candidate.

    known = pool_products(visible entries)             once for these entries
    named = named_products("ping bob on slack", known)
    product_evidence(entry, named, known)              1.0 for a tool of Slack, -1.0 for one of Jira
    names_absent(named, known)                         true if nothing here knows what it names

A tool belongs to the products in its server's name, and to those in its own name, titles, tags and
hint. The well-known products are a list of `toolcrib.text`. A server that is of none of them can be
named too, by its own words.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from toolcrib.model import Capability, Entry
from toolcrib.text import ENGLISH_STOPWORDS, Mention, our_products, words

WHOLE, PART, MENTION = 1.0, 0.5, 0.25
"""For a tool of the product; for one that can do a part of its work; for one that speaks of it."""
OTHER, UNKNOWN = -1.0, -0.5
"""Against a tool of another product; against one of which nobody knows whose it is."""

FEWEST_OF_PRODUCTS = 0.25
"""Absence tells something only if at least this share of the tools is of a known product.

A pool of functions that are of no product takes the names of products as arguments.
"""
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
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class NamedProduct:
    """A product that a request names, and the entries that have it.

    `certain`: the request acts on it; else its name may be an everyday word, or the request asks
    about it. `tools` are of this product. `partly` are of its suite or of something that can do its
    work, or they speak of it and are of no other product. `mentions` are all that speak of it.
    `soft`: without it something else may still fit, as it is a format, a place or a site too.
    """

    name: str
    certain: bool
    tools: frozenset[str] = frozenset()
    partly: frozenset[str] = frozenset()
    mentions: frozenset[str] = frozenset()
    soft: bool = False

    @property
    def present(self) -> bool:
        """Whether there is any tool for it."""
        return bool(self.tools or self.partly)


@dataclass(frozen=True, slots=True)
class PoolProducts:
    """The products of some entries.

    `of` are those of each entry; `tools`, `partly` and `mentions` the entries of each product, as
    in `NamedProduct`. `servers` are the entries by the words of a server that is of no known
    product. `share` is the share of entries that are of a known one.
    """

    of: Mapping[str, frozenset[str]]
    tools: Mapping[str, frozenset[str]]
    partly: Mapping[str, frozenset[str]]
    mentions: Mapping[str, frozenset[str]]
    servers: Mapping[tuple[str, ...], frozenset[str]]
    share: float


def pool_products(entries: Iterable[Entry]) -> PoolProducts:
    """What these entries have of which product. Give it those that the caller may see."""
    some = {entry.name: entry for entry in entries}
    of = {id: _products(entry) for id, entry in some.items()}
    spoken = {id: _spoken_of(entry.capability.description) for id, entry in some.items()}
    foreign = [id for id, entry in some.items() if not entry.capability.packaged]
    return PoolProducts(
        of=of,
        tools=_inverted({id: _with_suites(own) for id, own in of.items()}),
        partly=_inverted({id: _reached(own) if own else spoken[id] for id, own in of.items()}),
        mentions=_inverted(spoken),
        servers=_inverted({id: _own_names(entry) for id, entry in some.items() if not of[id]}),
        share=sum(bool(of[id]) for id in foreign) / max(len(foreign), 1),
    )


def named_products(text: str, known: PoolProducts) -> tuple[NamedProduct, ...]:
    """The products that a request names, in order, then servers that are of no known product.

    What is not certain is there only if the pool has it.
    """
    listed = (_named(mention, known) for mention in our_products().mentions(text))
    return (*(each for each in listed if each.certain or each.present), *_servers(text, known))


def product_evidence(entry: Entry, named: Sequence[NamedProduct], known: PoolProducts) -> float:
    """From 1 (the entry is of a product that the request names) to -1 (it is of another one).

    0 if the request names none, if the pool has nothing for what it names, or if the entry works on
    any product (web search, a browser, what comes with Toolcrib). What is perhaps named counts
    half, and never against others; so little does any name where few tools are of a known product.
    """
    best = max((_fit(entry.name, each) for each in named), default=0.0)
    if best > 0.0 or not any(each.certain and each.present for each in named):
        return best
    return _unfit(entry, known)


def names_absent(named: Sequence[NamedProduct], known: PoolProducts) -> bool:
    """Whether a request acts on well-known products and nothing here knows any of them."""
    certain = [each for each in named if each.certain]
    here = any(each.present or each.mentions or each.soft for each in certain)
    return bool(certain) and not here and known.share >= FEWEST_OF_PRODUCTS


def _named(mention: Mention, known: PoolProducts) -> NamedProduct:
    name = mention.product
    return NamedProduct(
        name=name,
        certain=mention.certain,
        tools=known.tools.get(name, frozenset()),
        partly=known.partly.get(name, frozenset()),
        mentions=known.mentions.get(name, frozenset()),
        soft=our_products().products[name].soft,
    )


def _servers(text: str, known: PoolProducts) -> Iterator[NamedProduct]:
    """Servers that a request names by their words: certain if they are two or more."""
    said = words(our_products().without_arguments(text))
    sizes = range(LONGEST_SERVER_NAME, 0, -1)
    runs = (tuple(said[at : at + size]) for size in sizes for at in range(len(said)))
    for run in dict.fromkeys(runs):
        if tools := known.servers.get(run):
            yield NamedProduct(" ".join(run), certain=len(run) > 1, tools=tools)


def _fit(id: str, named: NamedProduct) -> float:
    levels = ((WHOLE, named.tools), (PART, named.partly), (MENTION, named.mentions))
    level = next((level for level, ids in levels if id in ids), 0.0)
    return level if named.certain else level / 2


def _unfit(entry: Entry, known: PoolProducts) -> float:
    own = known.of.get(entry.name, frozenset())
    listed = our_products().products
    if entry.capability.packaged or any(listed[each].broad for each in own):
        return 0.0
    trust = min(1.0, known.share / (2 * FEWEST_OF_PRODUCTS))
    return trust * (OTHER if own else UNKNOWN)


def _products(entry: Entry) -> frozenset[str]:
    """Those of a server's name, and of a tool's own name and labels.

    An everyday word in the name of a tool counts if its description speaks of that product.
    """
    capability = entry.capability
    of_server = _products_of_server(capability.source_id or "")
    labelled = frozenset[str]().union(*map(_spoken_of, _labels(capability)))
    surely, perhaps = _products_of_name(entry.bare)
    return of_server | labelled | surely | (perhaps & _spoken_of(capability.description))


def _labels(capability: Capability) -> Iterator[str]:
    titles = (capability.title, *capability.display.values(), *capability.tags)
    yield from filter(None, (*titles, capability.category, capability.search_hint))


@lru_cache(maxsize=1 << 12)
def _products_of_server(id: str) -> frozenset[str]:
    """Those in the name of a server; acmeapi-notionhq is Notion's."""
    said, listed = words(id), our_products()
    spellings = ([word.removesuffix(ending) for word in said] for ending in ("", *_ENDINGS))
    return frozenset[str]().union(*(listed.in_name(each, everyday=True) for each in spellings))


@lru_cache(maxsize=1 << 16)
def _products_of_name(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The products in the name of a tool: by names of products alone, and by everyday words."""
    said, listed = words(name), our_products()
    return listed.in_name(said, everyday=False), listed.in_name(said, everyday=True)


@lru_cache(maxsize=1 << 16)
def _spoken_of(text: str) -> frozenset[str]:
    return our_products().spoken_of(text)


def _with_suites(own: frozenset[str]) -> frozenset[str]:
    listed = our_products().products
    return own | {suite for each in own if (suite := listed[each].suite)}


def _reached(own: frozenset[str]) -> frozenset[str]:
    """What these can do the work of: a suite, of its products, unless one of them is named here."""
    listed = our_products()
    narrowed = {listed.products[each].suite for each in own}
    members = frozenset[str]().union(*(listed.members.get(each, ()) for each in own - narrowed))
    reached = (listed.products[each].reaches for each in own | members)
    return members.union(*reached) - own


def _own_names(entry: Entry) -> tuple[tuple[str, ...], ...]:
    """The words of a server, without those that any server may have; none if that says nothing."""
    said = [word for word in words(entry.capability.source_id or "") if word not in _NO_NAMES]
    long_enough = len("".join(said)) >= SHORTEST_SERVER_NAME
    return (tuple(said[:LONGEST_SERVER_NAME]),) if said and long_enough else ()


def _inverted(found: Mapping[str, Iterable[_Key]]) -> dict[_Key, frozenset[str]]:
    ids: dict[_Key, set[str]] = {}
    for id, some in found.items():
        for each in some:
            ids.setdefault(each, set()).add(id)
    return {each: frozenset(some) for each, some in ids.items()}
