"""Text to words, and words to terms: the one tokeniser that feeds every index.

    words("getHTTPResponse for GitHub")  → get http response for git hub github
    terms(["reading", "files"])          → reading files
    stems(["reading", "files"])          → read· file·
    terms(["读取文件"])                   → 读取 取文 文件
    stems(["读取文件"])                   → 读· 取· 文· 件·

A *word* is what a person would call one: camelCase, snake_case and digits are split; a name
written as one word (GitHub, base64) gives the whole and its parts. An index stores two kinds of
terms: the word as it is, and its *stem* with a dot behind it. Both are needed: "deployments" finds
"deploy" by its stem, and list_deployments before deploy_model by its spelling. A run in a script
without spaces has the pairs of neighbouring characters (bigrams) as terms, and its characters,
without particles, as stems. Everything is NFKC, lower case, without accents, and in simplified
characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

import Stemmer

from toolcrib.text.stopwords import CHINESE_PARTICLES, ENGLISH_STOPWORDS
from toolcrib.text.traditional import simplified

# Han with its extensions, kana, hangul, Thai: no spaces, or none that help.
UNSPACED = (
    "\u0e00-\u0e7f\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
LONGEST_WORD = 64
LONGEST_REMEMBERED = 256
STEM_MARK = "·"

_RUN = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
_UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
_PART = re.compile(r"[A-Z]+s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NO_SIGNS = {code: None for code in range(128) if not chr(code).isalnum()}
_CONTRACTION = re.compile(r"['\u2019](?:s|t|re|ve|ll|d|m)\b")


def words(text: str) -> list[str]:
    """The words of a text in order, lower case. Runs without spaces stay whole."""
    if text.isascii() and text.replace("_", "").isalnum():  # most names, and a single word
        return [word for run in text.split("_") if run for word in _words_of(run)]
    return list(_remembered(text)) if len(text) <= LONGEST_REMEMBERED else _words(text)


def without_stopwords(words: Sequence[str]) -> Sequence[str]:
    """The words that are not English stop words; all of them if nothing else is there."""
    return [word for word in words if word not in ENGLISH_STOPWORDS] or words


def terms(words: Iterable[str]) -> list[str]:
    """The words as an index stores them: as they are, or in pairs of characters."""
    some = list(words)
    if "".join(some).isascii():  # nearly all of them
        return some
    return [term for word in some for term in (_pairs(word) if is_unspaced(word) else [word])]


def stems(words: Iterable[str]) -> list[str]:
    """The stems of the words as an index stores them; of a run without spaces its characters."""
    return [stem for word in words for stem in _stems_of(word)]


def fold(name: str) -> str:
    """One spelling for all spellings of a name: write_file, writeFile, "Write File" are equal."""
    if name.isascii() and "'" not in name:
        return name.translate(_NO_SIGNS).lower()  # nearly all of them
    return "".join(re.findall(r"[^\W_]+", _normal(name))).casefold()


def is_unspaced(word: str) -> bool:
    """Whether a word is a run of a script written without spaces."""
    return not word.isascii() and _UNSPACED_RUN.fullmatch(word) is not None


@lru_cache(maxsize=1024)
def _remembered(text: str) -> tuple[str, ...]:
    """A request is taken apart some twenty times while it is answered."""
    return tuple(_words(text))


def _words(text: str) -> list[str]:
    return [word for run in _RUN.findall(_normal(text)) for word in _words_of(run)]


def _normal(text: str) -> str:
    if not text.isascii():
        text = simplified(unicodedata.normalize("NFKC", text))
    return _CONTRACTION.sub("", text)


@lru_cache(maxsize=1 << 14)
def _words_of(run: str) -> Sequence[str]:
    """The words of one run; remembered, since texts have few different ones."""
    if run.isascii() and run.isalpha() and run.islower():
        return [run[:LONGEST_WORD]]  # nearly all of them
    if is_unspaced(run):
        return [run]
    word = _without_accents(run[:LONGEST_WORD])
    parts = _PART.findall(word) if word.isascii() else [word]
    return _parts_and_whole(parts) if len(parts) > 1 else [word.lower()]


def _parts_and_whole(parts: list[str]) -> list[str]:
    """Take getForecast apart, keep GitHub and base64 whole too, and s3 only whole."""
    numbered = any(part.isdigit() for part in parts)
    split = [part.lower() for part in parts if len(part) > 1 or not numbered]
    proper = len(parts) == 2 and parts[0][:1].isupper()  # noqa: PLR2004 - a compound of two
    return [*split, "".join(parts).lower()] if numbered or proper else split


def _without_accents(run: str) -> str:
    if run.isascii():
        return run
    return "".join(c for c in unicodedata.normalize("NFKD", run) if not unicodedata.combining(c))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(len(run) - 1, 1))]


def _characters(run: str) -> list[str]:
    return [character + STEM_MARK for character in run if character not in CHINESE_PARTICLES]


@lru_cache(maxsize=1 << 15)
def _stems_of(word: str) -> Sequence[str]:
    """The stems of one word; remembered, since texts have few different ones."""
    return _characters(word) if is_unspaced(word) else (_stemmer().stemWord(word) + STEM_MARK,)


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
