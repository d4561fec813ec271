"""Takes out of a text what may be personal or secret: for texts that people and models wrote.

This is a net with holes, and not what keeps a secret: a name or a street looks like any other word.
That is why queries are not kept unless the operator asks for it.
"""

import re
from typing import Final

MASK: Final = "***"
LONGEST_TEXT = 1_000

_ANNOUNCED = re.compile(
    r"\b(pass(?:word|wort|phrase|code)?|pwd|pin|secret|token|bearer|api[ _-]?key|credentials?)"
    r"(\s*[:=]\s*|\s+is\s+|\s+(?=\S*\d))\S+",
    re.IGNORECASE,
)
_PATTERNS: Final = (
    (_ANNOUNCED, rf"\1\2{MASK}"),
    (re.compile(r"(?<=//)[^/@\s]+(?=@)"), MASK),  # name and password in an address
    (re.compile(r"(\w://[^\s?#]*)[?#]\S+"), rf"\1?{MASK}"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), MASK),
    (re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[a-z]|AKIA|AIza|eyJ)[-_.\w]{8,}"), MASK),
    # A piece of a token: letters and digits in one word, or more letters than words have.
    (re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{12,}"), MASK),
    (re.compile(r"[A-Za-z0-9+/]{32,}={0,2}"), MASK),
    (re.compile(r"\+?\d(?:[ .()/-]{0,2}\d){4,}"), MASK),
)


def mask_personal(text: str) -> str:
    """The text without mails, queries of URLs, tokens and runs of digits, cut to some length."""
    text = text[:LONGEST_TEXT]
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text
