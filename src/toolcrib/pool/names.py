"""The names that models see: legal for every provider, the same whatever was loaded first.

builtin stays bare, MCP is mcp_{server_id}_{tool}, apps are sdk_{app_name}_{tool}; skills and
agents say what they are. A name that had to lose something (characters, length) ends in a hash of
what it was, so that two that differ never become one. Names are looked up and never taken apart.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolcrib.model import Capability

LONGEST_NAME = 64
HASH_LENGTH = 8

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


class Origin(NamedTuple):
    """Where a capability is from and what it is called there: what makes it the one it is."""

    prefix: str
    source_id: str
    own_name: str

    @classmethod
    def of(cls, capability: Capability) -> "Origin":
        """The origin of a capability as its source lists it."""
        prefix = _prefix(capability)
        return cls(prefix, capability.source_id or "", capability.name)

    def wanted(self) -> str:
        """The name by the rules, if nobody else wants it."""
        parts = (
            self.prefix,
            self.source_id if self.prefix in ("mcp", "sdk") else "",
            self.own_name,
        )
        return legal("_".join(filter(None, parts)))

    def distinct(self) -> str:
        """The name when somebody else wants the same one."""
        return _hashed(self.wanted(), "\n".join(self))


def legal(name: str) -> str:
    """The name with only letters, digits, _ and -, at most 64 long; hashed if that changed it."""
    allowed = _ILLEGAL.sub("_", name)
    return name if name == allowed and 0 < len(name) <= LONGEST_NAME else _hashed(allowed, name)


def name_all(origins: Sequence[Origin]) -> Mapping[Origin, str]:
    """A name for each origin, no two alike. Where several want one name, none gets it plain.

    Nor does whoever wants a name that another has got that way.
    """
    names = {origin: origin.wanted() for origin in origins}
    while rivals := _rivals(names):
        names |= {origin: origin.distinct() for origin in rivals}
    return names


def _rivals(names: Mapping[Origin, str]) -> Sequence[Origin]:
    """Those that share a name and still have it plain."""
    holders = Counter(names.values())
    shared = (origin for origin, name in names.items() if holders[name] > 1)
    return [origin for origin in shared if names[origin] != origin.distinct()]


def _prefix(capability: Capability) -> str:
    if capability.kind != "tool":
        return capability.kind
    return capability.source if capability.source in ("mcp", "sdk") else ""


def _hashed(name: str, original: str) -> str:
    digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]
    return f"{name[: LONGEST_NAME - HASH_LENGTH - 1]}_{digest}"
