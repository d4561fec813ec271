"""Parallel text out of unpacked packages: English beside each other language."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

from training.clean import alike, plain
from training.locales import LANGUAGES, groups, language_of
from training.translations import GETTEXT, MODULES, SUFFIXES, Texts, read, read_modules


class Pair(NamedTuple):
    """One text in English and in another language, and the package it is from."""

    english: str
    other: str
    language: str
    package: str


def gather(folders: Mapping[str, Path]) -> Iterator[Pair]:
    """The pairs of all packages, one package after the other, read on every core."""
    with Pool() as pool:
        for number, (name, found) in enumerate(pool.imap(_listed, folders.items()), 1):
            sys.stderr.write(f"gather {number} of {len(folders)}: {name}, {len(found)} pairs\n")
            yield from found


def _listed(package: tuple[str, Path]) -> tuple[str, list[Pair]]:
    name, folder = package
    return name, list(pairs(folder, name))


def pairs(folder: Path, package: str) -> Iterator[Pair]:
    """The pairs of one unpacked package, each once."""
    seen: set[tuple[str, str]] = set()
    for files in _usable_groups(folder):
        texts = _texts(files)
        for language in LANGUAGES:
            for english, other in _matched(texts, files, language):
                if (english, other) not in seen and alike(english, other, language):
                    seen.add((english, other))
                    yield Pair(english, other, language, package)


def write(found: Iterable[Pair], file: Path) -> int:
    """Write pairs as JSON lines; how many there were."""
    rows = [json.dumps(pair, ensure_ascii=False) + "\n" for pair in found]
    with file.open("w", encoding="utf-8") as out:
        out.writelines(rows)
    return len(rows)


def load(file: Path) -> Iterator[Pair]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield Pair(*json.loads(line))


def _usable_groups(folder: Path) -> Iterator[dict[str, Path]]:
    """The groups of files that hold some language beside English."""
    files = [path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file()]
    for group in groups(folder, files).values():
        gettext_keys = any(path.suffix in GETTEXT for path in group.values())
        if ("en" in group or gettext_keys) and group.keys() & set(LANGUAGES):
            yield group


def _texts(files: Mapping[str, Path]) -> dict[str, Texts]:
    wanted = {lang: path for lang, path in files.items() if lang == "en" or lang in LANGUAGES}
    modules = read_modules([path for path in wanted.values() if path.suffix in MODULES])
    read_all = {
        lang: modules.get(path, {}) if path.suffix in MODULES else read(path)
        for lang, path in wanted.items()
    }
    return {lang: _without_tags(texts, lang) for lang, texts in read_all.items()}


def _without_tags(texts: Texts, language: str) -> Texts:
    """Keys without the parts that name the language of the file itself."""

    def shared(key: str) -> str:
        parts = key.split("\x1f")
        return "\x1f".join(part for part in parts if language_of(part) != language)

    return {shared(key): text for key, text in texts.items()}


def _matched(
    texts: Mapping[str, Texts], files: Mapping[str, Path], language: str
) -> Iterator[tuple[str, str]]:
    english = texts.get("en", {})
    is_gettext = language in files and files[language].suffix in GETTEXT
    for key, other in texts.get(language, {}).items():
        source = english.get(key) or (key.partition("\x04")[2] or key if is_gettext else "")
        if " " in key and not source and "\x1f" not in key:
            source = key  # some packages key their translations by the English text
        yield plain(source), plain(other)
