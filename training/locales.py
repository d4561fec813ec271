"""Which file is in which language, by its path; and which files say the same in which."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

LANGUAGES = ("zh", "zht", "de", "fr", "es", "ja", "ko", "ru", "pt", "it")
"""Simplified and traditional Chinese first; the rest as the packages have them."""

_SPELLINGS: Mapping[str, str] = {
    "en": r"en|en[-_]?us|en[-_]?gb|english",
    "zh": r"zh|zh[-_]?cn|zh[-_]?hans(?:[-_]?cn)?|cn|zh[-_]?ch|chinese|zh[-_]cn\.gb2312",
    "zht": r"zh[-_]?tw|zh[-_]?hant(?:[-_]?tw)?|zh[-_]?hk",
    "de": r"de|de[-_]?de|german",
    "fr": r"fr|fr[-_]?fr|french",
    "es": r"es|es[-_]?es|spanish",
    "ja": r"ja|ja[-_]?jp|jp|japanese",
    "ko": r"ko|ko[-_]?kr|kr|korean",
    "ru": r"ru|ru[-_]?ru|russian",
    "pt": r"pt|pt[-_]?br|ptb|pt[-_]?pt",
    "it": r"it|it[-_]?it|italian",
}
_WHOLE = {tag: re.compile(rf"(?:{each})$", re.IGNORECASE) for tag, each in _SPELLINGS.items()}
_STEM = re.compile(r"^(?P<before>|.*?[._-])(?P<tag>[a-zA-Z]{2}(?:[-_][a-zA-Z]{2,4}){0,2})$")
_HASH = re.compile(r"[-.](?=[0-9a-zA-Z]*[0-9])[0-9a-zA-Z]{5,}$")
"""What a bundler appends to the names of files."""


def language_of(name: str) -> str:
    """The language that a name is the tag of; "" if it is none."""
    return next((lang for lang, whole in _WHOLE.items() if whole.match(name)), "")


def placed(path: PurePosixPath) -> tuple[str, str] | None:
    """A path as (the path with a hole for the language, the language); None without one."""
    stem, dot, suffix = path.name.partition(".")
    stem = _HASH.sub("", stem)
    if language := language_of(stem):
        return str(path.parent / f"{{}}{dot}{suffix}"), language
    if (found := _STEM.match(stem)) and (language := language_of(found["tag"])):
        return str(path.parent / f"{found['before']}{{}}{dot}{suffix}"), language
    for number in range(len(path.parts) - 2, -1, -1):
        if language := language_of(path.parts[number]):
            parts = [*path.parts[:number], "{}", *path.parts[number + 1 :]]
            return "/".join(parts), language
    if path.name.startswith("messagebundle.properties"):
        return str(path.parent / "messagebundle_{}.properties"), "en"
    return None


def groups(root: Path, paths: Iterable[Path]) -> dict[str, dict[str, Path]]:
    """The files of each hole, by language; the first of two spellings of a language wins."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(paths):
        if place := placed(PurePosixPath(path.relative_to(root).as_posix())):
            hole, language = place
            found.setdefault(hole, {}).setdefault(language, path)
    return found
