"""Finds what a reader does not see in a text and a model does, and takes it out.

Offline and deterministic: the answer depends on the text alone. Emoji, the flags of England and
its neighbours, and marks where a script needs them (joiners in Persian or Hindi, direction marks
beside Hebrew or Arabic, one variant of a CJK character) are what they seem, and no finding.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

Trick = Literal["zero-width", "bidi", "tag", "variation", "ansi", "control", "private"]

# One look for any candidate, so that a text without one costs next to nothing.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")
_FLAGS = re.compile(
    "\U0001f3f4"
    "(?:\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073))"
    "\U000e007f"
)
_ALWAYS: Mapping[Trick, re.Pattern[str]] = {
    "ansi": re.compile("[\x1b\x9b]"),
    "control": re.compile("[\x00-\x1f\x7f-\x9f]"),
    "tag": re.compile("[\U000e0000-\U000e007f]"),
    "bidi": re.compile("[\u202a-\u202e\u2066-\u2069]"),
    "private": re.compile("[\U000f0000-\U0010ffff]"),
}
_JOINERS = re.compile("[\u200c\u200d\u180b-\u180f]")
_ZWJ, _TEXT_STYLE, _EMOJI_STYLE, _KEYCAP = "\u200d", "\ufe0e", "\ufe0f", "\u20e3"
_MARKS = "\u200e\u200f\u061c"
_RIGHT_TO_LEFT = ("R", "AL")
_JOINING = tuple(
    "ARABIC SYRIAC MONGOLIAN DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA"
    " MALAYALAM SINHALA KHMER MYANMAR".split()
)


class Finding(NamedTuple):
    """One thing that is hidden: by what trick, from which character to which."""

    trick: Trick
    start: int
    end: int


def find_hidden(text: str) -> tuple[Finding, ...]:
    """All that is hidden in a text, in order. Of an escape sequence all of it is one finding."""
    if not _SUSPECT.search(text):
        return ()
    return tuple(_findings(text))


def without_hidden(text: str) -> str:
    """The text with nothing hidden in it."""
    while found := find_hidden(text):  # what is left may join to something new
        text = _rebuilt(text, found, lambda _part: "")
    return text


def show_hidden(text: str) -> str:
    """The text with each hidden character written out, as `⟨U+200B⟩`."""
    return _rebuilt(text, find_hidden(text), _spelt)


def _spelt(part: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in part)


def _rebuilt(text: str, found: tuple[Finding, ...], put: Callable[[str], str]) -> str:
    """The text with each finding replaced by what is put in its place."""
    parts: list[str] = []
    done = 0
    for _, start, end in found:
        parts += text[done:start], put(text[start:end])
        done = end
    return "".join((*parts, text[done:]))


def _findings(text: str) -> Iterator[Finding]:
    meant = {at for flag in _FLAGS.finditer(text) for at in range(*flag.span())}
    done = 0
    for suspect in _SUSPECT.finditer(text):
        at = suspect.start()
        if at < done or at in meant:
            continue
        trick = _trick(text, at)
        if trick:
            sequence = _ANSI.match(text, at) if trick == "ansi" else None
            done = sequence.end() if sequence else at + 1
            yield Finding(trick, at, done)


def _trick(text: str, at: int) -> Trick | None:
    """What a suspect character is up to; None if it is what it seems."""
    char = text[at]
    for trick, chars in _ALWAYS.items():
        if chars.match(char):
            return trick
    if _is_variation(char):
        return None if _varies(text, at) else "variation"
    if char in _MARKS:
        alone = text[at - 1 : at] not in _MARKS or not at
        return None if alone and _has_right_to_left(text) else "bidi"
    seems = _joins(text, at) if _JOINERS.match(char) else char == "\ufeff" and at == 0
    return None if seems else "zero-width"


def _is_variation(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _varies(text: str, at: int) -> bool:
    """Whether a variation selector follows something that has variants."""
    before, char, after = text[at - 1 : at], text[at], text[at + 1 : at + 2]
    if not before or _is_variation(before):
        return False
    if char in (_TEXT_STYLE, _EMOJI_STYLE):
        return _is_symbol(before) or (before in "0123456789#*" and after == _KEYCAP)
    kind = unicodedata.category(before)
    return kind == "Lo" or (char < "\U000e0100" and kind == "Sm" and not before.isascii())


def _joins(text: str, at: int) -> bool:
    """Whether a joiner stands within an emoji, or among letters of a script that has joiners."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if text[at] == _ZWJ and before and after and _is_symbol(after):
        return _is_symbol(before) or before == _EMOJI_STYLE
    return bool(before) and unicodedata.name(before, "").startswith(_JOINING)


def _is_symbol(char: str) -> bool:
    """Emoji, their skin tones, and the signs that have an emoji's look as well."""
    if char.isascii():
        return False
    return unicodedata.category(char) in ("So", "Sk", "Sm") or char in "‼⁉ℹ〰"


def _has_right_to_left(text: str) -> bool:
    return any(c.isalpha() and unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in text)
