"""The products that a text names: a list of our own, with other names and spellings.

    mentions("ping the team on slack")        → slack, certain
    mentions("在飞书上建个日程")                → 飞书, certain
    mentions("cut me some slack")             → slack, not certain: an everyday word, and no sign
    mentions("mail bob@gmail.com")            → nothing: an address is an argument

A name is *certain* if the text acts on that product. It is not if the name is an everyday word
without a sign that the product is meant, or if the text asks about the product ("the CEO of Zoom").
Addresses, paths, file names and quoted texts name nothing. The list is a file in the package, which
says how it is read: `wordlists/product_names.txt`.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

from toolcrib.text.analyzer import fold, is_unspaced
from toolcrib.text.traditional import simplified

OURS = "product_names.txt"
LONGEST_TEXT = 4096
"""So many characters of a text are read: a request is shorter, and what follows is its payload."""
LONGEST_QUOTE = 400
FARTHEST = 32
"""So many characters around a name are read for what they say of it."""
EVERYDAY, NAMES_ONLY = "~", "="
SOFT, BROAD = "?", "*"

_TOKEN = re.compile(r"[A-Za-z0-9]+|[^\W_A-Za-z0-9]")
_GAP = re.compile(r"[ .\-_'’+&]{0,2}")
_ARGUMENT = re.compile(
    r"""\S*@\S*|\S*://\S*|[#\\]\S*|www\.\S*|(?:~|\.{0,2})/\S*|[A-Za-z]:\\\S*
    |[\w-]+(?:\.[\w-]+)+(?:[:/]\S*)?|[\w.-]+(?:/[\w.-]*)+|\S*_\S*|--?[\w-]+(?:=\S*)?""",
    re.ASCII | re.VERBOSE,
)
_MAY_BE_ARGUMENT = re.compile("[-@/#~._\\\\\"'`“「『《‹«]")
"""A sign that every argument and every quotation has one of."""
_ASCII_RUN = re.compile(r"[!-~]+")
_QUOTED = re.compile(
    rf"""[“「『《‹«]([^”」』》›»\n]{{1,{LONGEST_QUOTE}}})[”」』》›»]|"([^"\n]{{1,{LONGEST_QUOTE}}})"
    |`([^`\n]{{1,{LONGEST_QUOTE}}})`|(?<![\w])'([^'\n]{{1,{LONGEST_QUOTE}}})'(?![\w])""",
    re.VERBOSE,
)
_PUNCTUATION = ".,;:!?()[]{}<>\"'"
_WORD_BEFORE = re.compile(r"([A-Za-z']+)[ \t]*$")
_WORD_AFTER = re.compile(r"[ \t]*([A-Za-z]+)")

_PLACES = frozenset(
    """
    in on via to from using with into through over inside within onto search open use query launch
    """.split()
)
_AFTER_PLACES = frozenset(
    """
    for and or to about that with saying as by at when then but if so please instead today tomorrow
    now tonight which where because before after since
    """.split()
)
_KINDS = frozenset(
    """
    account accounts api app base board boards bot bots bucket buckets calendar call calls card
    cards channel channels chat chats contact contacts cycle database databases dm dms doc docs
    document documents event events file files folder folders group groups inbox instance invoice
    invoices issue issues link list lists login meeting meetings message messages note notes
    page pages payment payments playlist playlists post posts project projects record records repo
    repos sheet sheets spreadsheet spreadsheets subscription table tables task tasks team thread
    threads ticket tickets token user users webhook workspace workspaces
    """.split()
)
"""What a product has: behind an everyday word they show that it is the product's name."""
_ABOUT = frozenset(
    "about regarding than vs versus like called named titled is are was what's".split()
)
_TOPIC = re.compile(
    r"""\b(?:stocks?|shares|share\ price|market\ cap|earnings|revenue|valuation|ceo|cfo|founders?
    |founded|headquarters|competitors?|alternatives?|news|headlines|tutorials?|documentation
    |web\ search|the\ web|internet|crawl|scrape|websites?|web\ (?:pages?|content)
    |mcp|funding|investors?|headcount|workforce|layoffs|who\ owns|who\ made|comparison|difference)\b
    |股价|股票|融资|市值|财报|新闻|创始人|总部|教程|是什么|是啥|关于|区别|网上|上网|网站|网页""",
    re.IGNORECASE | re.VERBOSE,
)
_CHINESE_PLACES = ("用", "在", "从", "通过", "打开", "登录", "登陆", "发到", "存到", "同步到")


class Product(NamedTuple):
    """A product: its suite, "" for none, and what else it can do the work of.

    `soft`: a pool without it may still have what fits. `broad`: it works on other products too.
    """

    name: str
    suite: str = ""
    reaches: tuple[str, ...] = ()
    soft: bool = False
    broad: bool = False


class Mention(NamedTuple):
    """A product in a text, by name. `certain`: the text acts on it, as far as words can tell."""

    product: str
    certain: bool


class _Name(NamedTuple):
    """One name of a product: the words behind its first, and how it counts."""

    rest: tuple[str, ...]
    product: str
    everyday: bool
    names_only: bool

    @property
    def size(self) -> int:
        """How many words it has."""
        return 1 + len(self.rest)


class _Span(NamedTuple):
    name: _Name
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ProductList:
    """Products by name, the products of each suite, and the names by which all are found.

    `names` are by their first word, the longest first; `folded` are all of them, folded.
    """

    products: Mapping[str, Product]
    members: Mapping[str, frozenset[str]]
    names: Mapping[str, Sequence[_Name]]
    folded: Collection[str]

    def mentions(self, request: str) -> tuple[Mention, ...]:
        """The products that a request names, once each, in order. Of each the surest mention."""
        return self.mentions_in(self.without_arguments(request))

    def mentions_in(self, text: str) -> tuple[Mention, ...]:
        """The same of a request without its arguments."""
        found: dict[str, bool] = {}
        for span in self._spans(text):
            certain = _acts_on(text, span) and _is_meant(text, span)
            found[span.name.product] = found.get(span.name.product, False) or certain
        topical = bool(found) and _TOPIC.search(text) is not None
        return tuple(Mention(name, certain and not topical) for name, certain in found.items())

    def spoken_of(self, description: str) -> frozenset[str]:
        """The products that a description speaks of, in addresses and examples too."""
        text = _normal(description[:LONGEST_TEXT])
        return frozenset(each.name.product for each in self._spans(text) if _is_meant(text, each))

    def in_name(self, words: Sequence[str], *, everyday: bool) -> frozenset[str]:
        """The products in the words of a name; with `everyday`, by everyday words too.

        A server that is called linear is Linear's. A tool of that name may draw a line.
        """
        spans = self._spans(" ".join(words), in_name=everyday)
        return frozenset(each.name.product for each in spans if everyday or not each.name.everyday)

    def without_arguments(self, request: str) -> str:
        """A request with spaces for what is quoted, an address, a path or a file; its beginning."""
        text = _normal(request[:LONGEST_TEXT])
        if not _MAY_BE_ARGUMENT.search(text):
            return text
        return _ASCII_RUN.sub(self._kept_run, _QUOTED.sub(self._kept_quote, text))

    def _spans(self, text: str, *, in_name: bool = False) -> Iterator[_Span]:
        """The names in a text from left to right, the longest first; no two share a word."""
        said = _lower_tokens(text)
        if self.names.keys().isdisjoint(said):
            return
        begun = [(at, self.names[word]) for at, word in enumerate(said) if word in self.names]
        fitting = [
            (at, name)
            for at, names in begun
            for name in names
            if (in_name or not name.names_only)
            and (not name.rest or name.rest == tuple(said[at + 1 : at + name.size]))
        ]
        places = [token.span() for token in _TOKEN.finditer(text)] if fitting else []
        free = 0
        for at, name in fitting:
            if at >= free and _are_close(text, places[at : at + name.size]):
                free = at + name.size
                yield _Span(name, places[at][0], places[free - 1][1])

    def _kept_quote(self, match: re.Match[str]) -> str:
        whole = match.group()
        return whole if fold(whole) in self.folded else " " * len(whole)

    def _kept_run(self, match: re.Match[str]) -> str:
        """A run of signs as it is, or spaces for an argument. draw.io and gmail/outlook stay."""
        whole = match.group()
        if not _ARGUMENT.fullmatch(whole.strip(_PUNCTUATION)):
            return whole
        parts = whole.strip(_PUNCTUATION).split("/")
        named = all(part[:1].isalnum() and fold(part) in self.folded for part in parts)
        return whole if named else " " * len(whole)


@cache
def our_products() -> ProductList:
    """The products that come with Toolcrib."""
    file = resources.files("toolcrib.text") / "wordlists" / OURS
    return parse_products(file.read_text(encoding="utf-8"))


@cache
def products_digest() -> str:
    """A hash of that list: what was found by another one has to be found again."""
    file = resources.files("toolcrib.text") / "wordlists" / OURS
    return blake2b(file.read_bytes(), digest_size=8).hexdigest()


def parse_products(text: str) -> ProductList:
    """The list in a text of the format above."""
    products: dict[str, Product] = {}
    names: dict[str, list[_Name]] = {}
    for product, spellings in _lines(text):
        products[product.name] = product
        for spelling in spellings:
            for first, name in _names(spelling, product.name):
                names.setdefault(first, []).append(name)
    longest_first = {
        first: sorted(some, key=lambda name: -len(name.rest)) for first, some in names.items()
    }
    suites = {each.suite for each in products.values() if each.suite}
    members = {
        suite: frozenset(each.name for each in products.values() if each.suite == suite)
        for suite in suites
    }
    folded = {first + "".join(name.rest) for first, some in names.items() for name in some}
    return ProductList(products, members, longest_first, folded)


def _lines(text: str) -> Iterator[tuple[Product, Sequence[str]]]:
    suite = ""
    for raw in text.split("\n"):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        is_suite = line.startswith("[")
        body = line.strip("[]").lstrip(SOFT + BROAD).strip()
        said, _, reached = body.partition(">")
        spellings = [each.strip() for each in said.split("|") if each.strip()]
        name = spellings[0].rstrip(EVERYDAY + NAMES_ONLY) if spellings else ""
        suite = name if is_suite else suite
        reaches = tuple(each.strip() for each in reached.split(",") if each.strip())
        if name:
            own_suite = "" if is_suite else suite
            broad = line.startswith(BROAD)
            soft = broad or line.startswith(SOFT)
            yield Product(name, own_suite, reaches, soft, broad), spellings


def _names(spelling: str, product: str) -> Iterator[tuple[str, _Name]]:
    """A spelling by its first word: as it is written, and as one word."""
    plain = _normal(spelling.rstrip(EVERYDAY + NAMES_ONLY)).lower()
    first, *rest = _TOKEN.findall(plain)
    everyday, names_only = spelling.endswith(EVERYDAY), spelling.endswith(NAMES_ONLY)
    yield first, _Name(tuple(rest), product, everyday, names_only)
    if rest and plain.isascii():
        yield first + "".join(rest), _Name((), product, everyday, names_only)


def _normal(text: str) -> str:
    return text if text.isascii() else simplified(unicodedata.normalize("NFKC", text))


def _lower_tokens(text: str) -> list[str]:
    if text.isascii():
        return _TOKEN.findall(text.lower())
    return [token.lower() for token in _TOKEN.findall(text)]


def _are_close(text: str, places: Sequence[tuple[int, int]]) -> bool:
    """Whether nothing but a space, a dot or a hyphen stands between these words."""
    gaps = ((one[1], other[0]) for one, other in pairwise(places))
    return all(_GAP.fullmatch(text, start, end) for start, end in gaps)


def _word_before(text: str, at: int) -> str:
    word = _WORD_BEFORE.search(text[max(at - FARTHEST, 0) : at])
    return word.group(1) if word else ""


def _word_after(text: str, at: int) -> str:
    word = _WORD_AFTER.match(text, at)
    return word.group(1) if word else ""


def _acts_on(text: str, span: _Span) -> bool:
    """Whether a request acts on a product, and does not ask about it: "about Zoom", "Zoom's"."""
    previous = _word_before(text, span.start).lower()
    after = text[span.end : span.end + FARTHEST].strip(_PUNCTUATION + " ")
    asks = previous in _ABOUT or (previous == "of" and not after)
    return not asks and not text.startswith(("'s", "’s"), span.end)


def _is_meant(text: str, span: _Span) -> bool:
    """Whether an everyday word is a product here, by its capital or by the words around it."""
    if not span.name.everyday:
        return True
    if not text[span.start].isascii():
        before = text[max(span.start - FARTHEST, 0) : span.start]
        return before.rstrip().endswith(_CHINESE_PLACES)
    previous, following = _word_before(text, span.start), _word_after(text, span.end)
    ends = following.lower() in {"", *_AFTER_PLACES} and following != previous  # no "to drive to"
    placed = previous.lower() in _PLACES and ends
    proper = text[span.start].isupper() and previous.islower() and not following[:1].isupper()
    owns = following.lower() in _KINDS
    return owns or placed or proper or (not following and _is_within_chinese(text, span))


def _is_within_chinese(text: str, span: _Span) -> bool:
    """A foreign word between Chinese ones, as in 用 notion 建个页面."""
    before = text[max(span.start - FARTHEST, 0) : span.start].rstrip()[-1:]
    after = text[span.end : span.end + FARTHEST].lstrip()[:1]
    latin = before.isascii() and before.isalnum()
    return not latin and any(is_unspaced(each) for each in (before, after))
