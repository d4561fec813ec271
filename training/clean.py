"""Which two texts are a translation of each other that is worth learning from."""

import re
import unicodedata

SCRIPTS = {
    "zh": r"[\u4e00-\u9fff]",
    "zht": r"[\u4e00-\u9fff]",
    "ja": r"[\u3040-\u30ff\u4e00-\u9fff]",
    "ko": r"[\uac00-\ud7af]",
    "ru": r"[\u0400-\u04ff]",
}
"""The script of a language that Latin letters cannot write."""

SHORTEST, LONGEST = 2, 400
_HAN = re.compile(r"[\u4e00-\u9fff]")
_MARKUP = re.compile(r"<[^<>]{1,120}>|\[[^\[\]]{1,80}\]\([^()]{1,200}\)|https?://\S+|\\[nt]")
_HOLES = re.compile(
    r"\{\{[^{}]*\}\}|\$?\{[^{}]*\}|%\([a-zA-Z_]+\)[sd]|%[sdif@]|%\d\$?[sd]?|@@|\$[a-zA-Z]+\$|<\d+/?>"
)
_ACCELERATOR = re.compile(r"\([&_][A-Za-z]\)|&&|(?<=\w)&(?=\w)|(?<!\w)[&_](?=\w)")
_EN_WORD = re.compile(r"[A-Za-z]{2,}")


def plain(text: str) -> str:
    """The text without markup, placeholders, accelerators and doubled blanks."""
    text = unicodedata.normalize("NFKC", text)
    for pattern in (_MARKUP, _HOLES, _ACCELERATOR):
        text = pattern.sub(" ", text)
    text = re.sub(r"[{}<>|*`#\x00-\x1f]+", " ", text)
    return re.sub(r"\s+", " ", text).strip(" :：…-–—.·•")


def alike(english: str, other: str, language: str) -> bool:
    """Whether the cleaned pair is usable: both sides said something, each in its language."""
    if not (SHORTEST <= len(english) <= LONGEST and other and len(other) <= LONGEST):
        return False
    if english.casefold() == other.casefold() or not _EN_WORD.search(english):
        return False
    if re.search(r"[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]", english):
        return False
    return _in_script(other, language) and _fair_lengths(english, other, language)


def _in_script(text: str, language: str) -> bool:
    script = SCRIPTS.get(language)
    if script is None:
        return bool(re.search(r"[A-Za-zÀ-ÿ]{2}", text)) and not _HAN.search(text)
    letters = [c for c in text if c.isalpha()]
    inside = len(re.findall(script, text))
    return inside >= 1 and inside >= 0.3 * len(letters)


def _fair_lengths(english: str, other: str, language: str) -> bool:
    wide = 2.6 if language in {"zh", "zht"} else 1.9 if language in {"ja", "ko"} else 1.0
    ratio = (len(other) * wide + 8) / (len(english) + 8)
    return 0.35 < ratio < 2.8
