"""Products that a request names, what the pool has of them, and what that says of a candidate.

    known = PoolProducts(facts of the pool, what is hidden)
    named = named_products("ping bob on slack", known)
    product_evidence(entry, named, known)              1.0 for a tool of Slack, -1.0 for one of Jira
    names_absent(named, known)                         true if nothing here knows what it names

A tool belongs to the products in its server's name, and to those in its own name, titles, tags and
hint. The well-known products are a list of `toolcrib.text`. A server that is of none of them can be
named too, by its own words.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolcrib.model import EXCLUDE_NOTHING, Entry, NameFilter
from toolcrib.search.facts import LONGEST_SERVER_NAME, PoolFacts, SearchFacts
from toolcrib.text import Mention, our_products, words

WHOLE, PART, MENTION = 1.0, 0.5, 0.25
"""For a tool of the product; for one that can do a part of its work; for one that speaks of it."""
OTHER, UNKNOWN = -1.0, -0.5
"""Against a tool of another product; against one of which nobody knows whose it is."""

FEWEST_OF_PRODUCTS = 0.25
"""Absence tells something only if at least this share of the tools is of a known product.

A pool of functions that are of no product takes the names of products as arguments.
"""
MOST_SORTED = 2_048
"""So many visible names at most are sorted out by their facts for a caller who sees no others."""


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
    tools: Collection[str] = ()
    partly: Collection[str] = ()
    mentions: Collection[str] = ()
    soft: bool = False

    @property
    def present(self) -> bool:
        """Whether there is any tool for it."""
        return bool(self.tools or self.partly)


class VisibleNames(Collection[str]):
    """The visible entries that have one of some facts; nobody counts them unless asked to.

    `names_of` gives those that have just these facts.
    """

    def __init__(
        self,
        facts: Collection[SearchFacts],
        pool: PoolFacts,
        hidden: NameFilter,
        names_of: Callable[[SearchFacts], Iterable[str]],
    ) -> None:
        self._facts = facts
        self._pool = pool
        self._hidden = hidden
        self._names_of = names_of

    def __contains__(self, name: object) -> bool:
        if not self._facts or not isinstance(name, str) or name in self._hidden:
            return False
        return self._pool.of_name(name) in self._facts

    def __iter__(self) -> Iterator[str]:
        return (name for facts in tuple(self._facts) for name in self._names_of(facts))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None


class PoolProducts:
    """What the entries of a pool that are not hidden have of which product."""

    def __init__(self, facts: PoolFacts, hidden: NameFilter = EXCLUDE_NOTHING) -> None:
        self._facts = facts
        self._hidden = hidden
        self._counted: tuple[int, int] | None = None
        self._few: dict[SearchFacts, list[str]] | None = None

    def updated(
        self, facts: PoolFacts, hidden: NameFilter, changed: Iterable[str]
    ) -> "PoolProducts":
        """The same of later entries, which differ in the changed names alone."""
        later = PoolProducts(facts, hidden)
        if self._counted is not None:
            names = list(changed)
            now, before = later._count(names), self._count(names)
            foreign, of_products = self._counted
            later._counted = foreign + now[0] - before[0], of_products + now[1] - before[1]
        return later

    def of(self, name: str) -> frozenset[str]:
        """The products of an entry."""
        known = self._facts.of_name(name)
        return known.products if known else frozenset()

    def tools(self, product: str) -> VisibleNames:
        """The entries of a product, as in `NamedProduct`."""
        return self._having(self._facts.index.tools.get(product, ()))

    def partly(self, product: str) -> VisibleNames:
        """Those that can do a part of its work."""
        return self._having(self._facts.index.partly.get(product, ()))

    def mentions(self, product: str) -> VisibleNames:
        """Those that speak of it."""
        return self._having(self._facts.index.mentions.get(product, ()))

    def may_begin_server(self, word: str) -> bool:
        """Whether there is, or was, a server of which this is the first word."""
        return word in self._facts.index.server_starts

    def server(self, said: tuple[str, ...]) -> Collection[str]:
        """The entries of a server by its words, if it is of no known product."""
        facts = self._facts.index.servers.get(said)
        return self._having(facts) if facts else ()

    @property
    def share(self) -> float:
        """The share of entries that are of a known product, but for what comes with Toolcrib."""
        if self._counted is None:
            self._counted = self._count_all()
        foreign, of_products = self._counted
        return of_products / max(foreign, 1)

    def _having(self, facts: Collection[SearchFacts]) -> VisibleNames:
        few = self._hidden.inverted and len(self._hidden.names) <= MOST_SORTED
        names_of = self._names_of_few if few else self._names_of
        return VisibleNames(facts, self._facts, self._hidden, names_of)

    def _names_of(self, facts: SearchFacts) -> Iterable[str]:
        return (name for name in self._facts.groups.get(facts, ()) if name not in self._hidden)

    def _names_of_few(self, facts: SearchFacts) -> Iterable[str]:
        """The same where few are visible: those are sorted out once, and the others never read."""
        if (few := self._few) is None:
            few = dict[SearchFacts, list[str]]()
            for name in self._hidden.names:
                if known := self._facts.of_name(name):
                    few.setdefault(known, []).append(name)
            self._few = few
        return few.get(facts, ())

    def _count_all(self) -> tuple[int, int]:
        counts, names = self._facts.counts, self._hidden.names
        if self._hidden.inverted:
            return self._count(names)
        foreign, of_products = self._count(names, EXCLUDE_NOTHING)
        return counts.foreign - foreign, counts.of_products - of_products

    def _count(self, names: Iterable[str], hidden: NameFilter | None = None) -> tuple[int, int]:
        """How many of these are visible and foreign, and how many of them are of a product."""
        hidden = self._hidden if hidden is None else hidden
        visible = (self._facts.of_name(name) for name in names if name not in hidden)
        found = [each for each in visible if each and not each.packaged]
        return len(found), sum(bool(each.products) for each in found)


def named_products(text: str, known: PoolProducts) -> tuple[NamedProduct, ...]:
    """The products that a request names, in order, then servers that are of no known product.

    What is not certain is there only if the pool has it.
    """
    products = our_products()
    said = products.without_arguments(text)
    listed = (_named(mention, known) for mention in products.mentions_in(said))
    return (*(each for each in listed if each.certain or each.present), *_servers(said, known))


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
        tools=known.tools(name),
        partly=known.partly(name),
        mentions=known.mentions(name),
        soft=our_products().products[name].soft,
    )


def _servers(text: str, known: PoolProducts) -> Iterator[NamedProduct]:
    """Servers that a request names by their words: certain if they are two or more."""
    said = words(text)
    sizes = range(LONGEST_SERVER_NAME, 0, -1)
    begun = [at for at, word in enumerate(said) if known.may_begin_server(word)]
    runs = (tuple(said[at : at + size]) for size in sizes for at in begun)
    for run in dict.fromkeys(runs):
        if tools := known.server(run):
            yield NamedProduct(" ".join(run), certain=len(run) > 1, tools=tools)


def _fit(id: str, named: NamedProduct) -> float:
    levels = ((WHOLE, named.tools), (PART, named.partly), (MENTION, named.mentions))
    level = next((level for level, ids in levels if id in ids), 0.0)
    return level if named.certain else level / 2


def _unfit(entry: Entry, known: PoolProducts) -> float:
    own = known.of(entry.name)
    listed = our_products().products
    if entry.packaged or any(listed[each].broad for each in own):
        return 0.0
    trust = min(1.0, known.share / (2 * FEWEST_OF_PRODUCTS))
    return trust * (OTHER if own else UNKNOWN)
