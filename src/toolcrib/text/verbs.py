"""The verbs of requests and of tools' names, by what they do: a list of our own, in families.

    our_verbs().main_verb("looked up the price")   → looked up, of the family search
    our_verbs().main_verb("把文件删掉")              → 删掉, of the family delete

The list is a file in the package, which says how it is read: `wordlists/verbs.txt`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import NamedTuple

from toolcrib.text.analyzer import is_unspaced, words

OURS = "verbs.txt"
IRREGULAR, NOUNS = "irregular", "nouns"
NOUN_LIKE, HINT = "~", "?"
LONGEST_CHINESE_VERB = 4
LONGEST_PHRASE = 4
FARTHEST_PARTICLE = 6
"""How far behind its verb a particle may stand: turn the light in the hall off."""
MOST_REMEMBERED, LONGEST_REMEMBERED = 4096, 128

PARTICLES = frozenset("on off up down out away back know".split())


_OBJECT_STARTS = frozenset(
    """
    a an the this that these those it them him her us me my our your his their its all any each
    every some one two three both another everyone everybody someone what whatever everything
    """.split()
)
_BEHIND_VERBS = frozenset("了掉个下一出到成给进好完上条封张份几走过着")


class Verb(NamedTuple):
    """A verb as it was found: its family, and how many words or Chinese characters it takes.

    `base`: it has the form of a command. `noun_like`: it is as often a noun. `hint`: it is no
    verb, and only tells the family of what has no verb.
    """

    family: str
    size: int = 1
    base: bool = True
    noun_like: bool = False
    hint: bool = False


class VerbFamily(NamedTuple):
    """What does the opposite, "" for nothing; and whether it is hard to undo."""

    opposite: str
    destroys: bool


@dataclass(frozen=True)
class VerbList:
    """Every form of every verb: English words, phrases with spaces between, Chinese verbs.

    What begins like a Chinese verb and is none is there too, with no family.
    """

    families: Mapping[str, VerbFamily]
    verbs: Mapping[str, Verb]
    phrases: Mapping[str, frozenset[str]]
    """By the first word of the verbs that are phrases, which words come second."""
    _remembered: dict[str, Verb | None] = field(
        default_factory=dict[str, Verb | None], repr=False, compare=False
    )

    def main_verb(self, text: str) -> Verb | None:
        """The verb of a name or a request: the first in the form of a command; None without any.

        A word that is as often a noun counts where an article or a pronoun follows, or where there
        is no other: email_delete deletes, and "email me" sends. list_deleted_items lists.
        """
        try:
            return self._remembered[text]
        except KeyError:
            verb = _surest(self.verbs_of(text))
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            if len(text) <= LONGEST_REMEMBERED:
                self._remembered[text] = verb
            return verb

    def destroys(self, name: str) -> bool:
        """Whether a tool of this name does what is hard to undo, by its verb alone."""
        verb = self.main_verb(name)
        return verb is not None and self.families[verb.family].destroys

    def verbs_of(self, text: str) -> Iterator[Verb]:
        """The verbs of a text in order. One that is shown to be a verb is noun-like no more."""
        said, verbs, phrases = words(text), self.verbs, self.phrases
        for at, word in enumerate(said):
            if word.isascii() and word not in verbs and word not in phrases:
                continue  # most words
            if is_unspaced(word):
                yield from self.verbs_in(word)
            elif verb := self.verb_at(said, at):
                shown = verb.noun_like and begins_object(said[at + verb.size :])
                yield verb._replace(noun_like=False) if shown else verb

    def verb_at(self, some: Sequence[str], at: int) -> Verb | None:
        """The verb that begins at this word, the longest first; None for another word."""
        word = some[at]
        if is_unspaced(word):
            found = self._in_run(word, 0)
            return found if found and found.family else None
        longer = self._longer_at(some, at, seconds) if (seconds := self.phrases.get(word)) else None
        return longer or self.verbs.get(word)

    def verbs_in(self, run: str) -> Iterator[Verb]:
        """The verbs in a run of Chinese, in order; no two share a character.

        A single character is a verb where the run begins with it, or where it takes what verbs
        take: 建个任务 has 建, and 清单 has no 清.
        """
        at = 0
        while at < len(run):
            verb = self._in_run(run, at)
            stands = verb and (verb.size > 1 or not at or run[at + 1 : at + 2] in _BEHIND_VERBS)
            if verb and verb.family and stands:
                yield verb
            at += verb.size if verb else 1

    def _in_run(self, run: str, at: int) -> Verb | None:
        starts = (run[at : at + size] for size in range(LONGEST_CHINESE_VERB, 0, -1))
        return next((self.verbs[start] for start in starts if start in self.verbs), None)

    def _longer_at(self, some: Sequence[str], at: int, seconds: Collection[str]) -> Verb | None:
        """The verb of several words that begins here; `seconds` are those that may come second."""
        follows = some[at + 1 : at + 2]
        if follows and follows[0] in seconds:
            for length in range(LONGEST_PHRASE, 1, -1):
                if found := self.verbs.get(" ".join(some[at : at + length])):
                    return found
        return self._parted_at(some, at, seconds)

    def _parted_at(self, some: Sequence[str], at: int, seconds: Collection[str]) -> Verb | None:
        """A verb whose particle stands behind its object: turn it off, let the team know."""
        for particle in some[at + 2 : at + 1 + FARTHEST_PARTICLE]:
            known = particle in seconds and particle in PARTICLES
            if known and (found := self.verbs.get(f"{some[at]} {particle}")):
                return found._replace(size=1)
        return None


@cache
def our_verbs() -> VerbList:
    """The verbs that come with Toolcrib."""
    file = resources.files("toolcrib.text") / "wordlists" / OURS
    return parse_verbs(file.read_text(encoding="utf-8"))


def parse_verbs(text: str) -> VerbList:
    """The list in a text of the format above."""
    sections = dict(_sections(text))
    nouns = " ".join(sections.pop(NOUNS, ())).split()
    irregular = {forms[0]: forms[1:] for forms in map(str.split, sections.pop(IRREGULAR, ()))}
    families = {head.split("|")[0].strip(): _family(head) for head in sections}
    verbs = {
        form: verb
        for head, lines in sections.items()
        for said in " ".join(lines).split()
        for form, verb in _forms(said, head.split("|")[0].strip(), irregular)
    }
    bases = {form: verb for form, verb in verbs.items() if verb.base}
    no_verbs = {noun: Verb("", len(noun)) for noun in nouns}
    return VerbList(families, {**verbs, **bases, **no_verbs}, _second_words(verbs))


def _second_words(forms: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """By the first word of the forms that are phrases, which words come second."""
    seconds: dict[str, set[str]] = {}
    for first, second, *_ in (form.split(" ") for form in forms if " " in form):
        seconds.setdefault(first, set()).add(second)
    return {first: frozenset(some) for first, some in seconds.items()}


def begins_object(some: Sequence[str]) -> bool:
    """Whether the first of these words comes behind a verb and hardly ever behind a noun."""
    return len(some) > 0 and some[0] in _OBJECT_STARTS


def _surest(verbs: Iterable[Verb]) -> Verb | None:
    """The one that shows best that it is the verb of its text, of equal ones the first."""
    surest, least = None, (True, True, True, True)
    for verb in verbs:
        if verb.base and not verb.noun_like and not verb.hint:
            return verb  # most often the first
        doubt = False, verb.hint, not verb.base, verb.noun_like
        if doubt < least:
            surest, least = verb, doubt
    return surest


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    lines: list[str] = []
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("["):
            lines = []
            yield line.strip("[]"), lines
        elif line and not line.startswith("#"):
            lines.append(line)


def _family(head: str) -> VerbFamily:
    _, opposite, destroys = (*(part.strip() for part in head.split("|")), "", "")[:3]
    return VerbFamily(opposite, bool(destroys))


def _forms(
    said: str, family: str, irregular: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Verb]]:
    """Every form of a verb as the file gives it, the base first."""
    first, *rest = said.rstrip(NOUN_LIKE + HINT).split("-")
    size = 1 + len(rest) if first.isascii() else len(first)
    verb = Verb(family, size, noun_like=said.endswith(NOUN_LIKE), hint=said.endswith(HINT))
    yield " ".join([first, *rest]), verb
    if first.isascii() and not verb.hint:
        for other in irregular.get(first) or inflections(first):
            yield " ".join([other, *rest]), verb._replace(base=other == first)


def inflections(base: str) -> Iterable[str]:
    """Third person, -ing and -ed of a regular verb whose last consonant is not doubled."""
    if base.endswith("e"):
        return base + "s", base[:-1] + "ing", base + "d"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies", base + "ing", base[:-1] + "ied"
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return base + "es", base + "ing", base + "ed"
    return base + "s", base + "ing", base + "ed"
