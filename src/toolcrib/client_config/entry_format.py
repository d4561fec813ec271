"""How a client writes one server down, and how it refers to variables of the environment."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolcrib.model import Json
from toolcrib.sources.mcp import references

_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
_SHELL = r"\$\{" + _NAME + r"(?P<default>:-[^}]*)?\}"


class CannotConvert(Exception):
    """Why an entry has to stay where it is."""


@dataclass(frozen=True)
class References:
    """The references of one client: `pattern` finds them, `other` finds what else it fills in.

    `brackets` are what the client puts before and after the name of a variable; None: it fills in
    nothing. `defaults` is whether a reference may say what to take where it is not set.
    """

    pattern: re.Pattern[str] | None = None
    other: re.Pattern[str] | None = None
    brackets: tuple[str, str] | None = None
    defaults: bool = False

    def has_references(self, text: str) -> bool:
        """Whether the client would fill in a part of the text."""
        return any(each.search(text) for each in (self.pattern, self.other) if each)

    def ours(self, text: str, where: str) -> str:
        """The text with its references in our spelling. Raises `CannotConvert`."""
        pieces: list[str] = []
        place = 0
        for match in self.pattern.finditer(text) if self.pattern else ():
            pieces += [self._literal(text[place : match.start()], where), _spelt(match)]
            place = match.end()
        return "".join([*pieces, self._literal(text[place:], where)])

    def theirs(self, text: str) -> str | None:
        """The text with our references in the client's spelling; None where it has no spelling."""
        if self.has_references(_OURS.sub("", text)):
            return None
        matches = list(_OURS.finditer(text))
        if not matches:
            return text
        if self.brackets is None or (
            any(each["default"] for each in matches) and not self.defaults
        ):
            return None
        before, after = self.brackets
        return _OURS.sub(lambda each: before + each["name"] + (each["default"] or "") + after, text)

    def _literal(self, piece: str, where: str) -> str:
        if self.other and self.other.search(piece):
            raise CannotConvert(f"its {where} uses something that only the client can fill in")
        if references([piece]):
            raise CannotConvert(
                f"its {where} holds a text that Toolcrib would take for a reference"
            )
        return piece


def with_fixed_values(text: str, fixed: Mapping[str, str]) -> str:
    """The text with values that never change put in, such as that of `${userHome}`."""
    for name, value in fixed.items():
        text = text.replace(name, value)
    return text


_OURS = re.compile(r"\$\{(?:env:)?" + _NAME + r"(?P<default>:-[^}]*)?\}")


def _spelt(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return "${" + str(groups["name"] or groups.get("bare")) + (groups.get("default") or "") + "}"


NO_REFERENCES = References()
SHELL_REFERENCES = References(re.compile(_SHELL), brackets=("${", "}"), defaults=True)
EDITOR_REFERENCES = References(
    re.compile(r"\$\{env:" + _NAME + r"\}"), re.compile(r"\$\{"), ("${env:", "}")
)
GEMINI_REFERENCES = References(
    re.compile(_SHELL + r"|\$(?P<bare>[A-Za-z_][A-Za-z0-9_]*)"),
    re.compile(r"%[A-Z_][A-Z0-9_]{2,}%"),
    ("${", "}"),
    defaults=True,
)
BRACE_REFERENCES = References(
    re.compile(r"\{env:" + _NAME + r"\}"), re.compile(r"\{(?:env|file):"), ("{env:", "}")
)


@dataclass(frozen=True)
class EntryFormat:
    """The keys of an entry, by what they mean; an empty one is not there.

    | field | what it says |
    |---|---|
    | `references` | how variables are referred to |
    | `one_list` | `command` is a list that holds the arguments too |
    | `env`, `headers`, `url` | the keys of these |
    | `env_names` | a list of variables that are handed on |
    | `bearer`, `env_headers` | the variable of a token; headers by the variables that fill them |
    | `sse` | a key for an address that speaks SSE unless `type` says otherwise |
    | `speaks_sse` | whether the client knows old servers that speak SSE |
    | `cwd` | whether the format has a key for the folder to start in |
    | `remote` | whether the format has a key for an address |
    | `types` | `type` of a command and of an address; None: there is no such key |
    | `off` | the key, and its value, by which an entry is switched off |
    | `fixed` | what stands in every entry |
    | `enabled_tools`, `disabled_tools` | keys of the only tools to use, of tools to leave out |
    | `narrowing` | keys that restrict a server: a copy without them could do more |
    | `times` | keys of times: which of ours each is, and how many seconds its unit has |
    """

    references: References = NO_REFERENCES
    one_list: bool = False
    env: str = "env"
    env_names: str = ""
    url: str = "url"
    sse: str = ""
    speaks_sse: bool = True
    headers: str = "headers"
    bearer: str = ""
    env_headers: str = ""
    cwd: bool = False
    remote: bool = True
    types: tuple[str, str] | None = None
    off: tuple[str, bool] | None = None
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    enabled_tools: str = ""
    disabled_tools: str = ""
    narrowing: frozenset[str] = frozenset()
    times: Mapping[str, tuple[str, float]] = field(default_factory=dict[str, tuple[str, float]])


def exact_pattern(name: str) -> str:
    """The pattern that fits this name and no other."""
    return re.sub(r"[*?\[]", r"[\g<0>]", name)


def exact_names(patterns: Sequence[str]) -> tuple[str, ...] | None:
    """The names that the patterns fit; None if one of them may fit several."""
    plain = [re.sub(r"\[([*?\[])\]", "", each) for each in patterns]
    if any(re.search(r"[*?\[]", each) for each in plain):
        return None
    return tuple(re.sub(r"\[([*?\[])\]", r"\1", each) for each in patterns)
