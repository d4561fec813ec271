"""How clients write that a value comes from the environment, and how that is written here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from toolcrib.sources.mcp import references

_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
_SHELL = r"\$\{" + _NAME + r"(?P<default>:-[^}]*)?\}"


class CannotBeTaken(Exception):
    """Why an entry has to stay where it is."""


@dataclass(frozen=True)
class References:
    """The references of one client: `pattern` finds them, `other` what it fills in besides.

    `written` is what the client puts before and after the name of a variable; None: it fills in
    nothing. `defaults` is whether a reference may say what to take where it is not set.
    """

    pattern: re.Pattern[str] | None = None
    other: re.Pattern[str] | None = None
    written: tuple[str, str] | None = None
    defaults: bool = False

    def filled(self, text: str) -> bool:
        """Whether the client puts something else in the place of a part of the text."""
        return any(each.search(text) for each in (self.pattern, self.other) if each)

    def ours(self, text: str, where: str) -> str:
        """The text with its references in our spelling. Raises `CannotBeTaken`."""
        pieces: list[str] = []
        place = 0
        for found in self.pattern.finditer(text) if self.pattern else ():
            pieces += [self._literal(text[place : found.start()], where), _spelt(found)]
            place = found.end()
        return "".join([*pieces, self._literal(text[place:], where)])

    def theirs(self, text: str) -> str | None:
        """The text with our references in the client's spelling; None where that cannot be said."""
        if self.filled(_OURS.sub("", text)):
            return None
        found = list(_OURS.finditer(text))
        if not found:
            return text
        if self.written is None or (any(each["default"] for each in found) and not self.defaults):
            return None
        before, after = self.written
        return _OURS.sub(lambda each: before + each["name"] + (each["default"] or "") + after, text)

    def _literal(self, piece: str, where: str) -> str:
        if self.other and self.other.search(piece):
            raise CannotBeTaken(f"its {where} uses something that only the client can fill in")
        if references([piece]):
            raise CannotBeTaken(f"its {where} holds a text that would be taken for a reference")
        return piece


def replaced(text: str, fixed: Mapping[str, str]) -> str:
    """The text with what is the same at any time put in: `${userHome}`."""
    for name, value in fixed.items():
        text = text.replace(name, value)
    return text


_OURS = re.compile(r"\$\{(?:env:)?" + _NAME + r"(?P<default>:-[^}]*)?\}")


def _spelt(found: re.Match[str]) -> str:
    groups = found.groupdict()
    return "${" + str(groups["name"] or groups.get("bare")) + (groups.get("default") or "") + "}"


NONE = References()
SHELL = References(re.compile(_SHELL), written=("${", "}"), defaults=True)
EDITOR = References(re.compile(r"\$\{env:" + _NAME + r"\}"), re.compile(r"\$\{"), ("${env:", "}"))
GEMINI = References(
    re.compile(_SHELL + r"|\$(?P<bare>[A-Za-z_][A-Za-z0-9_]*)"),
    re.compile(r"%[A-Z_][A-Z0-9_]{2,}%"),
    ("${", "}"),
    defaults=True,
)
BRACES = References(
    re.compile(r"\{env:" + _NAME + r"\}"), re.compile(r"\{(?:env|file):"), ("{env:", "}")
)
