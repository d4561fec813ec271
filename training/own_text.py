"""Text of our own: bilingual requests made of verbs, things, ways to ask and scenes."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("own")


class Action(NamedTuple):
    """Words for one thing to do."""

    english: tuple[str, ...]
    chinese: tuple[str, ...]


class Own(NamedTuple):
    """All lists of the folder `own/`."""

    actions: tuple[Action, ...]
    things: tuple[tuple[str, str], ...]
    forms: tuple[tuple[str, str], ...]
    scenes: tuple[tuple[str, str], ...]


def load(glossary: Path | None = None) -> Own:
    """Read the lists, and the glossary of the package where it is."""
    verbs, things = _glossary(glossary) if glossary else ((), ())
    actions = verbs + tuple(
        Action(tuple(word.replace("-", " ") for word in left.split()), tuple(right.split()))
        for left, right in _rows("verbs.txt")
    )
    return Own(actions, things + _rows("nouns.txt"), _rows("forms.txt"), _rows("scenes.txt"))


def requests(own: Own, count: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """That many requests in English and Chinese, each saying the same in both."""
    for _ in range(count):
        english, chinese = _request(own, chance)
        if chance.random() < 0.25:
            more_english, more_chinese = _phrase(own, chance)
            english = f"{english}, then {more_english}"
            chinese = f"{chinese}，然后{more_chinese}"
        if chance.random() < 0.3:
            scene = chance.choice(own.scenes)
            english, chinese = f"{scene[0]}. {english}", f"{scene[1]}，{chinese}"
        yield english, chinese


def named(own: Own) -> Iterator[tuple[str, str]]:
    """Every verb and every thing alone."""
    for action in own.actions:
        yield from ((action.english[0], word) for word in action.chinese)
        yield from ((word, action.chinese[0]) for word in action.english)
    yield from own.things
    yield from own.scenes


def _request(own: Own, chance: random.Random) -> tuple[str, str]:
    english, chinese = _phrase(own, chance)
    form = chance.choice(own.forms)
    return form[0].replace("{}", english), form[1].replace("{}", chinese)


def _phrase(own: Own, chance: random.Random) -> tuple[str, str]:
    action, thing = chance.choice(own.actions), chance.choice(own.things)
    article = chance.choice(("", "the ", "a ", "my "))
    which = {"my ": "我的", "the ": "", "a ": ""}.get(article, "")
    english = f"{chance.choice(action.english)} {article}{thing[0]}"
    return english, f"{chance.choice(action.chinese)}{which}{thing[1]}"


def _glossary(file: Path) -> tuple[tuple[Action, ...], tuple[tuple[str, str], ...]]:
    """Its verbs, each line an action, and its other terms, each pair a thing."""
    verbs: list[Action] = []
    things: list[tuple[str, str]] = []
    section = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        section = line if line.startswith("[") else section
        left, sign, right = line.partition(" | ")
        if not sign or line.startswith("#") or not section:
            continue
        english, chinese = (
            tuple(term.strip() for term in side.split(",")) for side in (left, right)
        )
        if section == "[verbs]":
            verbs.append(Action(english, chinese))
        else:
            things += [(e, c) for e in english for c in chinese]
    return tuple(verbs), tuple(things)


def _rows(name: str) -> tuple[tuple[str, str], ...]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    rows = (line.split(" = ") for line in lines if line and not line.startswith("#"))
    return tuple((left.strip(), right.strip()) for left, right in rows)
