"""The names that models see: legal for every provider, the same whatever was loaded first.

builtin stays bare, MCP is mcp_{server_id}_{tool}, apps are sdk_{app_name}_{tool}; skills and
agents say what they are. In the id of a source `_` stands for what is not legal. A tool's own name
that had to lose something, and a name that is too long, end in a hash of what it was, so that two
that differ never become one. Names are looked up and never taken apart; what a pattern of the
operator means is for `patterns` to say, by origin.

Other hosts of MCP servers write mcp__{server_id}__{tool}, and their users do: see `Spellings`.

`RESERVED_NAMES` are those of Toolcrib's own tools: no other tool may have one of them. Names with a
prefix (`mcp_github_tool_search`) never collide with these; only a bare name can.
"""

import hashlib
import re
from typing import Final, NamedTuple, TypeAlias

from toolcrib.model import Capability, Entry, EntryTraits

LONGEST_NAME = 64
HASH_LENGTH = 8
SHORTEST_CUT = LONGEST_NAME - HASH_LENGTH - 1
"""A name that is too long keeps so many of its first characters."""

NameStems: TypeAlias = tuple[str, ...]

RESERVED_NAMES: Final = frozenset(
    """
    tool_search search_capability call_tool
    tool_describe tool_call_read tool_call tool_result
    tool_search_tool_bm25 tool_search_tool_regex
    """.split()
)
"""The search tool and its other name, the proxy tool, the gateway's tools, Anthropic's search."""

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


class Origin(NamedTuple):
    """Where a capability is from and what it is called there: its identity."""

    prefix: str
    source_id: str
    own_name: str

    @classmethod
    def of(cls, what: Capability | Entry | EntryTraits, own_name: str = "") -> "Origin":
        """The origin of a capability as its source lists it, or as it is in the pool.

        In the pool its name is another one: then pass its own name.
        """
        own_name = own_name or (what.name if isinstance(what, Capability) else "")
        return cls(_prefix(what), what.source_id or "", own_name)

    def plain_name(self) -> str:
        """The name by the rules, if no other origin has the same one."""
        return legal(self.stem + self.own_name)

    def hashed_name(self) -> str:
        """The name with a hash behind it, if another origin has the same plain one."""
        return _hashed(self.plain_name(), "\n".join(self))

    @property
    def kind_stem(self) -> str:
        """How every name of such sources begins: `mcp_`; empty for builtin tools."""
        return f"{self.prefix}_" if self.prefix else ""

    @property
    def stem(self) -> str:
        """How every name from there begins, in legal characters: `mcp_google_`."""
        return allowed(self._raw_stem)

    @property
    def text(self) -> str:
        """The name in legal characters, at any length and without a hash."""
        return self.stem + allowed(self.own_name)

    def spellings(self) -> "Spellings":
        """Every way in which a person may write the name."""
        stems = self._raw_stem, self.stem
        exact = tuple(stem + self.own_name for stem in stems)
        given = self.plain_name(), self.hashed_name(), legal(exact[0])
        double = tuple(f"mcp__{id}__" for id in (self.source_id, allowed(self.source_id)))
        double = double if self.prefix == "mcp" else ()
        called = tuple(
            stem + own for stem in double for own in (self.own_name, allowed(self.own_name))
        )
        every = dict.fromkeys((*exact, allowed(exact[0]), *given, *called))
        return Spellings(stems, exact, given, double, called, tuple(every))

    @property
    def _raw_stem(self) -> str:
        id = f"{self.source_id}_" if self.source_id and self.prefix in ("mcp", "sdk") else ""
        return self.kind_stem + id


class Spellings(NamedTuple):
    """How the name of something may be written.

    `stems`: how it begins, as its source is configured and in legal characters. `exact`: either,
    and the own name letter by letter. `given`: the names that it may have got from us, now or
    formerly. `double`: how it begins where other hosts of MCP servers write it, as `stems`;
    `called`: its names there. `every`: all of them, and the one in legal characters without a hash.
    """

    stems: tuple[str, ...]
    exact: tuple[str, ...]
    given: tuple[str, ...]
    double: tuple[str, ...]
    called: tuple[str, ...]
    every: tuple[str, ...]


def legal(name: str) -> str:
    """The name with only letters, digits, _ and -, at most 64 long; hashed if that changed it."""
    plain = allowed(name)
    return name if name == plain and 0 < len(name) <= LONGEST_NAME else _hashed(plain, name)


def reserved_message(name: str) -> str:
    """Why a tool cannot have this name, and what to do."""
    return f"{name!r} is the name of a tool of Toolcrib's own; give this one another name"


def _prefix(what: Capability | Entry | EntryTraits) -> str:
    if what.kind != "tool":
        return what.kind
    return what.source if what.source in ("mcp", "sdk") else ""


def allowed(name: str) -> str:
    """The name with `_` for every character that is not legal."""
    return _ILLEGAL.sub("_", name)


def _hashed(name: str, original: str) -> str:
    digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]
    return f"{name[:SHORTEST_CUT]}_{digest}"
