"""Queries for tools that nobody wrote queries for: other words, other languages, other forms.

A tool's name is a verb and an object ("create_issue"). Other verbs of the same family, an object
as the packages' translations say it, and ways to ask make queries of it.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from training.own_text import Action, Own

LONGEST_OBJECT = 4
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Named(NamedTuple):
    """The name of a tool taken apart; `context` is what stands before the verb."""

    context: str
    action: Action
    object: str


class Dictionary(NamedTuple):
    """What to make queries from: verbs by each of their words, things in Chinese, ways to ask."""

    verbs: Mapping[str, Action]
    chinese: Mapping[str, Sequence[str]]
    forms: Sequence[tuple[str, str]]


def dictionary(own: Own, pairs: Sequence[tuple[str, str]]) -> Dictionary:
    """From our lists, and short Chinese translations."""
    chinese: dict[str, list[str]] = {}
    for english, other in (*own.things, *pairs):
        key = english.lower().strip(" .:!?")
        if len(key.split()) <= LONGEST_OBJECT and len(other) <= 4 * LONGEST_OBJECT:
            chinese.setdefault(key, []).append(other.strip(" 。：！？.:"))
    verbs = {word: action for action in reversed(own.actions) for word in action.english}
    return Dictionary(verbs, chinese, own.forms)


def words_of(name: str) -> list[str]:
    """The words of an identifier, in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


def taken_apart(name: str, using: Dictionary) -> Named | None:
    """The name as verb and object; None if it has no verb that we know, or nothing after it."""
    words = words_of(name)
    for place, word in enumerate(words[:-1]):
        if word in using.verbs:
            return Named(" ".join(words[:place]), using.verbs[word], " ".join(words[place + 1 :]))
    return None


def english_queries(
    name: str, description: str, using: Dictionary, chance: random.Random, count: int
) -> Iterator[str]:
    """What one might ask for this tool, in English."""
    yield " ".join(words_of(name))
    parts = taken_apart(name, using)
    sentence = _first_sentence(description)
    for _ in range(count):
        form = chance.choice(using.forms)[0]
        if parts and chance.random() < 0.6:
            article = chance.choice(("", "the ", "a ", "my ", "some "))
            place = f" in {parts.context}" if parts.context and chance.random() < 0.4 else ""
            asked = f"{chance.choice(parts.action.english)} {article}{parts.object}{place}"
        elif sentence:
            asked = _thinned(sentence, using, chance)
        else:
            continue
        yield form.replace("{}", asked)


def chinese_queries(
    name: str, using: Dictionary, chance: random.Random, count: int
) -> Iterator[str]:
    """The same in Chinese, where we have Chinese words for the object of the name."""
    parts = taken_apart(name, using)
    things = _in_chinese(parts.object, using) if parts else ()
    if not parts or not things:
        return
    context = using.chinese.get(parts.context, ())
    for _ in range(count):
        form = chance.choice(using.forms)[1]
        owner = chance.choice(context) + "的" if context and chance.random() < 0.4 else ""
        asked = chance.choice(parts.action.chinese) + owner + chance.choice(things)
        yield form.replace("{}", asked)


def _in_chinese(thing: str, using: Dictionary) -> Sequence[str]:
    """Chinese for a thing: for the whole, or put together from its words."""
    for key in (thing, thing.removesuffix("s"), thing.removesuffix("es")):
        if key in using.chinese:
            return using.chinese[key]
    words = [word for word in thing.split() if word not in {"by", "for", "of", "the", "a", "in"}]
    found = [using.chinese.get(w) or using.chinese.get(w.removesuffix("s")) for w in words]
    if not words or len(words) > LONGEST_OBJECT or not all(found):
        return ()
    return ["".join(each[0] for each in found if each)]


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s|\n", text.strip(), maxsplit=1)[0][:200]


def _thinned(sentence: str, using: Dictionary, chance: random.Random) -> str:
    """The sentence with some words left out and its verb perhaps exchanged."""
    words = sentence.rstrip(".").split()
    verb = words[0].lower().removesuffix("s")
    if verb in using.verbs:
        words[0] = chance.choice(using.verbs[verb].english)
    kept = [word for n, word in enumerate(words) if n == 0 or chance.random() > 0.25]
    return " ".join(kept)
