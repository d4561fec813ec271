"""Finds what a reader does not see in a text and a model does, and takes it out.

Offline and deterministic: the answer depends on the text alone. Emoji, the flags of England and
its neighbours, and marks where a script needs them (joiners in Persian or Hindi, direction marks
beside Hebrew or Arabic, variants of the characters of a Japanese name) are what they seem, and no
finding. Marks that would be honest one by one are findings where there are more of them than such
a script needs: each could stand for a bit.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

HidingTrick = Literal[
    "zero-width",
    "bidi",
    "tag",
    "variation",
    "ansi",
    "control",
    "private",
    "blank",
    "stacked",
]

LONGEST_GAP = 160
"""So many blanks on a line are honest at most: what follows them is out of sight."""
MOST_EMPTY_LINES = 30
MOST_STACKED = 4
"""Of marks on one letter. Hebrew with vowels and accents has four."""
MOST_VARIANTS = 4
LETTERS_PER_JOINER = 4
FEW_JOINERS = 2

_WIDE_SPACES = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_SPACES = " \t" + _WIDE_SPACES
_COMBINING = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1"
    "\u0eb4-\u0ebc\u0ec8-\u0ece\u093c\u0941-\u0948\u094d\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\ua66f-\ua672\ua674-\ua67d\ufe20-\ufe2f"
)
_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17)
)
_CHARACTERS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffc\U00013430-\U0001345f\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff" + _NONCHARACTERS
)
_BLANKS = (
    f"(?<=[{_SPACES}])(?<![{_SPACES}]{{2}})[{_SPACES}]{{{LONGEST_GAP},}}"
    f"|(?<=\n)(?<!\n\n)(?:[{_SPACES}\r]*\n){{{MOST_EMPTY_LINES},}}"
)
_STACK = f"(?<![{_COMBINING}])[{_COMBINING}]{{{MOST_STACKED + 1},}}"
# One quick look, so that a text without a candidate costs next to nothing.
_ANY = re.compile(f"[{_CHARACTERS}{_COMBINING}{_WIDE_SPACES}]")
_HARMLESS_ASCII = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
_ANY_BLANKS = re.compile(_BLANKS)
_SUSPECT = re.compile(f"[{_CHARACTERS}]|(?P<blank>{_BLANKS})|(?P<stacked>{_STACK})")
_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")
_FLAGS = re.compile(
    "\U0001f3f4"
    "(?:\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073))"
    "\U000e007f"
)
_ALWAYS: Mapping[HidingTrick, re.Pattern[str]] = {
    "ansi": re.compile("[\x1b\x9b]"),
    "control": re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"),
    "tag": re.compile("[\U000e0000-\U000e007f]"),
    "bidi": re.compile("[\u202a-\u202e\u2066-\u2069]"),
    "blank": re.compile("[\u115f\u1160\u3164\uffa0\U00016fe4\U0001d159]"),
    "private": re.compile(f"[\ue000-\uf8ff{_NONCHARACTERS}\U000f0000-\U0010ffff]"),
}
_ZWSP, _ZWNJ, _ZWJ = "\u200b", "\u200c", "\u200d"
_TEXT_STYLE, _EMOJI_STYLE, _KEYCAP = "\ufe0e", "\ufe0f", "\u20e3"
_MARKS = "\u200e\u200f\u061c"
_BRAILLE_BLANK = "\u2800"
_MONGOLIAN = re.compile("[\u180b-\u180f]")
_HIEROGLYPHIC = re.compile("[\U00013430-\U0001345f]")
_RIGHT_TO_LEFT = ("R", "AL")
_NEAR = 12
_VIRAMA = 9  # the combining class of the sign that joins two letters of an Indic script
_CURSIVE = ("ARABIC", "SYRIAC", "MANDAIC", "NKO", "ADLAM", "MONGOLIAN", "PHAGS-PA")
_WITHOUT_SPACES = ("THAI", "LAO", "KHMER", "MYANMAR")
_WITH_VARIANTS = ("CJK", "MYANMAR", "PHAGS-PA", "MANICHAEAN", "IDEOGRAPHIC", "FULLWIDTH")


class HiddenSpan(NamedTuple):
    """One thing that is hidden: by what trick, from which character to which."""

    trick: HidingTrick
    start: int
    end: int


def find_hidden(text: str) -> tuple[HiddenSpan, ...]:
    """All that is hidden in a text, in order. Of an escape sequence all of it is one finding.

    So are all marks on a letter that has too many, and of too many blanks all but the first.
    """
    return tuple(_Scanner(text).findings()) if may_have_hidden(text) else ()


def may_have_hidden(text: str) -> bool:
    """Whether a text has to be looked at closely. If not, none of its parts has to be either."""
    if text.isascii():
        return bool(text.encode().translate(None, _HARMLESS_ASCII)) or _may_have_blanks(text)
    return bool(_ANY.search(text)) or _may_have_blanks(text)


def without_hidden(text: str) -> str:
    """The text with nothing hidden in it."""
    while found := find_hidden(text):  # what is left may join to something new
        text = _rebuilt(text, found, lambda _part: "")
    return text


def show_hidden(text: str) -> str:
    """The text with each hidden character written out, as `⟨U+200B⟩`; of blanks, how many."""
    return _rebuilt(text, find_hidden(text), _spelt)


def printable(text: str) -> str:
    """With each hidden character written out, and only what a terminal can print."""
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in show_hidden(text))


def _may_have_blanks(text: str) -> bool:
    """Whether spaces or empty lines are too many, in a text that has no other candidate."""
    some = " " * LONGEST_GAP in text or "\t" in text or text.count("\n") >= MOST_EMPTY_LINES
    return some and bool(_ANY_BLANKS.search(text))


def _spelt(part: str) -> str:
    if len(part) >= MOST_EMPTY_LINES and part.isspace():
        return f"⟨{len(part)} blanks⟩"
    return "".join(c if c.isascii() and c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in part)


def _rebuilt(text: str, found: tuple[HiddenSpan, ...], put: Callable[[str], str]) -> str:
    """The text with each finding replaced by what is put in its place."""
    parts: list[str] = []
    done = 0
    for _, start, end in found:
        parts += text[done:start], put(text[start:end])
        done = end
    return "".join((*parts, text[done:]))


class _Scanner:
    """One text, with counts that tell whether marks in it are honest."""

    def __init__(self, text: str) -> None:
        self._text = text

    def findings(self) -> Iterator[HiddenSpan]:
        text, done = self._text, 0
        meant = {at for flag in _FLAGS.finditer(text) for at in range(*flag.span())}
        for suspect in _SUSPECT.finditer(text):
            at = suspect.start()
            if at < done or at in meant:
                continue
            trick: HidingTrick | None = "stacked" if suspect["stacked"] else None
            trick = "blank" if suspect["blank"] else trick or self._trick(at)
            if trick:
                sequence = _ANSI.match(text, at) if trick == "ansi" else suspect
                done = sequence.end() if sequence else at + 1
                yield HiddenSpan(trick, at, done)

    def _trick(self, at: int) -> HidingTrick | None:
        """The trick of a suspect character; None if it is honest."""
        char = self._text[at]
        for trick, chars in _ALWAYS.items():
            if chars.match(char):
                return trick
        if _is_variation(char):
            return None if self._varies(at) else "variation"
        if char in _MARKS:
            return None if self._directs(at) else "bidi"
        if char == _BRAILLE_BLANK:
            return None if any(map(_is_braille, self._beside(at))) else "blank"
        return None if self._joins(at) else "zero-width"

    def _beside(self, at: int) -> tuple[str, str]:
        """The characters before and after; empty at an end."""
        return self._text[max(at - 1, 0) : at], self._text[at + 1 : at + 2]

    def _varies(self, at: int) -> bool:
        """Whether a variation selector follows something that has such a variant."""
        (before, after), char = self._beside(at), self._text[at]
        if not before or _is_variation(before):
            return False
        if char in (_TEXT_STYLE, _EMOJI_STYLE):
            return _is_symbol(before) or (before in "0123456789#*" and after == _KEYCAP)
        return self._variants <= MOST_VARIANTS and _has_variant(before, char)

    def _directs(self, at: int) -> bool:
        """Whether a direction mark stands by itself beside a word that runs from the right."""
        before, after = self._beside(at)
        if {before, after} & set(_MARKS) or self._marks > self._right_to_left_words:
            return False
        left, right = self._text[max(at - _NEAR, 0) : at], self._text[at + 1 : at + 1 + _NEAR]
        return any(map(_runs_from_the_right, (_first_letter(left[::-1]), _first_letter(right))))

    def _joins(self, at: int) -> bool:
        """Whether something without width stands where its script wants it."""
        (before, after), char = self._beside(at), self._text[at]
        if char == _ZWJ and _is_symbol(after):
            return _is_symbol(before) or before == _EMOJI_STYLE
        if char in (_ZWSP, _ZWNJ, _ZWJ):
            return self._joiners <= self._most_joiners and _joins_letters(char, before, after)
        if _HIEROGLYPHIC.match(char):
            return _is_hieroglyph(before) and _is_hieroglyph(after)
        if _MONGOLIAN.match(char):
            return _is_of(before, ("MONGOLIAN",))
        return char == "\ufeff" and at == 0

    @cached_property
    def _variants(self) -> int:
        emoji = (_TEXT_STYLE, _EMOJI_STYLE)
        return sum(_is_variation(char) and char not in emoji for char in self._text)

    @cached_property
    def _marks(self) -> int:
        return sum(map(self._text.count, _MARKS))

    @cached_property
    def _right_to_left_words(self) -> int:
        """Words of two letters and more: a single letter proves nothing."""
        words = re.findall(r"[^\W\d_]{2,}", self._text)
        return sum(all(map(_runs_from_the_right, word[:2])) for word in words)

    @cached_property
    def _joiners(self) -> int:
        """Joiners and invisible spaces, but for those within emoji."""
        found = re.finditer(f"[{_ZWSP}{_ZWNJ}{_ZWJ}]", self._text)
        return sum(not _is_symbol(self._beside(each.start())[1]) for each in found)

    @cached_property
    def _most_joiners(self) -> int:
        """How many the letters of its non-Latin scripts need at most."""
        letters = sum(char > "\u0590" and char.isalpha() for char in self._text)
        return max(FEW_JOINERS, letters // LETTERS_PER_JOINER)


def _is_variation(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _has_variant(char: str, selector: str) -> bool:
    """Whether there may be such a variant: no list of them, but the scripts and the numbers."""
    if selector >= "\U000e0100":  # of a CJK character there are 32 at most
        return selector < "\U000e0120" and _is_of(char, ("CJK UNIFIED",))
    if _is_hieroglyph(char):
        return selector <= "\ufe06"
    if selector > "\ufe02":
        return False
    if unicodedata.category(char) == "Sm":
        return not char.isascii()
    return _is_of(char, _WITH_VARIANTS)


def _joins_letters(joiner: str, before: str, after: str) -> bool:
    """Whether a joiner does something there, or an invisible space divides words."""
    if joiner == _ZWSP:
        return _is_of(before, _WITHOUT_SPACES) and _is_of(after, _WITHOUT_SPACES)
    cursive = _is_of(before, _CURSIVE), _is_of(after, _CURSIVE)
    if any(cursive):  # within a word its letters join anyway, at its end they do not
        return all(cursive) == (joiner == _ZWNJ)
    return any(each and unicodedata.combining(each) == _VIRAMA for each in (before, after))


def _is_symbol(char: str) -> bool:
    """Emoji, their skin tones, and the signs that have an emoji's look as well."""
    if not char or char.isascii():
        return False
    return unicodedata.category(char) in ("So", "Sk", "Sm") or char in "‼⁉ℹ〰"


def _is_braille(char: str) -> bool:
    return "\u2801" <= char <= "\u28ff"


def _is_hieroglyph(char: str) -> bool:
    return "\U00013000" <= char < "\U00013430"


def _is_of(char: str, scripts: tuple[str, ...]) -> bool:
    return bool(char) and unicodedata.name(char, "").startswith(scripts)


def _first_letter(text: str) -> str:
    return next(filter(str.isalpha, text), "")


def _runs_from_the_right(char: str) -> bool:
    return bool(char) and unicodedata.bidirectional(char) in _RIGHT_TO_LEFT
