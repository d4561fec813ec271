"""Rules about descriptions: they are what most searches find a tool by."""

import re
from collections.abc import Iterator
from functools import cache

from toolcrib.lint.catalog import LintCatalog, LintRemark
from toolcrib.model import Capability, Entry
from toolcrib.search import verb_family
from toolcrib.text import estimate_tokens, fold, is_unspaced, stems, without_stopwords, words

FEWEST_WORDS = 3
MOST_CHARACTERS = 1_024
MOST_TOKENS = 400
FIRST_WORDS = 12

# What tools do, besides the verbs in the families that search knows.
_VERBS = """
    accept activate allow analyze append apply approve archive assign attach authenticate block
    book cancel capture change choose clean click clone collect commit complete configure
    connect copy crop cut detect discard disconnect drag draw emit enable ensure evaluate
    examine expand explain export extract fill filter fix flip flush focus follow generate give
    grant group hide hover import increase initialize install issue join keep link lock log look
    manage map mark merge monitor move mute navigate order pay pick plan play plot press print
    provide pull push record redirect refresh register reject release reload render reply report
    request reserve reset resize resolve restart restore resume return review revoke rotate
    route scan schedule scroll select show sign simulate skip solve sort split submit subscribe
    suggest summarize switch sync tap test toggle track transfer turn type undo unlock
    unsubscribe upgrade use visualize wait watch
"""
_PLACEHOLDER = re.compile(
    r"(todo|tbd|fixme|xxx|n/?a|none|null|test|placeholder|lorem ipsum.*|undocumented"
    r"|(a |the |my |this )?(tool|function|description)( here)?"
    r"|(no |add |your |insert )+(a )?description.*)\W*",
    re.IGNORECASE,
)


def no_description(catalog: LintCatalog) -> Iterator[LintRemark]:
    """It has no description."""
    for entry in catalog.entries.values():
        if not entry.description.strip():
            yield LintRemark(
                entry.name, "has no description; say in a sentence what it does, and to what"
            )


def placeholder_description(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Its description stands in for one."""
    for entry in catalog.entries.values():
        text = entry.description.strip()
        if _PLACEHOLDER.fullmatch(text):
            yield LintRemark(
                entry.name, f"is described as {text!r:.60}; say what it does, and to what"
            )


def short_description(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Its description is a word or two."""
    for entry in catalog.entries.values():
        text = entry.description.strip()
        if text and not _PLACEHOLDER.fullmatch(text) and _length(text) < FEWEST_WORDS:
            yield LintRemark(
                entry.name, f"is described in {text!r:.60} alone; add its object and use"
            )


def long_description(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Its description is longer than anybody reads, or a model should pay for."""
    for entry in catalog.entries.values():
        text = entry.description
        tokens = estimate_tokens(text)
        if len(text) > MOST_CHARACTERS or tokens > MOST_TOKENS:
            size = f"{len(text):,} characters, about {tokens:,} tokens"
            yield LintRemark(
                entry.name, f"has a description of {size}; keep what tells it from others"
            )


def same_description(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Another one of its kind has the same description."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name, entry in catalog.entries.items():
        if text := catalog.texts[name]:
            alike.setdefault((entry.kind, text), []).append(name)
    for names in alike.values():
        for name in names[1:]:
            others = f" and {len(names) - 2} more" if len(names) > 2 else ""  # noqa: PLR2004
            message = f"has the description of {names[0]}{others}; say what is different"
            yield LintRemark(name, message, names[0])


def name_apart(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Its description shares no word with its name, and says in no verb what it does."""
    for entry in catalog.entries.values():
        text = _prose(entry.capability)
        if text and not _has_verb(text) and not _shares_words(entry, text):
            yield LintRemark(
                entry.name,
                "has a description without a verb and without a word of its name; "
                "begin it with what the tool does, and to what",
            )


def _length(text: str) -> int:
    """In words; two characters of a script without spaces are one."""
    return sum(len(word) // 2 if is_unspaced(word) else 1 for word in words(text))


def _prose(capability: Capability) -> str:
    texts = (capability.description, *capability.desc.values())
    return " ".join(filter(None, texts))


def _has_verb(text: str) -> bool:
    """Whether it has a verb that is known, or is in a script whose verbs are not looked for."""
    some = words(text)
    return bool(
        verb_family(text)
        or any(map(is_unspaced, some))
        or not _verbs().isdisjoint(stems(some[:FIRST_WORDS]))
    )


@cache
def _verbs() -> frozenset[str]:
    return frozenset(stems(_VERBS.split()))


def _shares_words(entry: Entry, text: str) -> bool:
    labels = f"{entry.bare} {entry.title} {' '.join(entry.capability.display.values())}"
    in_labels = stems(without_stopwords(words(labels)))
    return fold(entry.bare) in fold(text) or not set(in_labels).isdisjoint(stems(words(text)))
