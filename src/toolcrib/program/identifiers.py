"""The Python names of servers, tools and parameters: `github.create_issue(title=...)`.

A name comes from its own text alone, with `_` for each character that is not allowed in a name. So
a tool has the same name whatever else is in the pool, unless another of the same place would have
it too. Then the one that is written so letter by letter keeps it, and the others get a hash.
"""

import builtins
import hashlib
import keyword
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeVar

LONGEST = 64
HASH_LENGTH = 6

FUNCTIONS: Final = "tools"
"""The group of everything that no server and no app has: functions, and tools of Toolcrib's own."""

_MODULES = """
    abc array ast asyncio base64 binascii bisect calendar collections copy csv dataclasses datetime
    decimal difflib enum fractions functools hashlib heapq html io itertools json math operator os
    pathlib random re secrets statistics string struct sys textwrap time tomllib types typing
    unicodedata urllib uuid zoneinfo
""".split()
_TAKEN: Final = frozenset(
    [FUNCTIONS, *_MODULES, *(name for name in dir(builtins) if not name.startswith("_"))]
)
"""What means something else in a program. Its imports are named here, so that none is hidden."""

K = TypeVar("K", bound=Hashable)

_ILLEGAL = re.compile(r"[^A-Za-z0-9_]")


@lru_cache(maxsize=65_536)
def identifier(text: str) -> str:
    """A legal name for this text. It begins with a letter, and is no keyword.

    Where other characters than punctuation are lost, or it is too long, it ends in a hash.
    """
    plain = _ILLEGAL.sub("_", text).lstrip("_")
    if not plain or plain[0].isdigit():
        plain = f"n{plain}"
    is_cut = len(plain) > LONGEST or not text.isascii()
    name = _hashed(plain, text) if is_cut else plain
    return f"{name}_" if keyword.iskeyword(name) else name


def is_taken(name: str) -> bool:
    """Whether a name means something else in programs: a builtin, a module, `tools`."""
    return name in _TAKEN


def group_name(source_id: str) -> str:
    """The name of a server or an app in programs; `time_` where a module has the plain one."""
    name = identifier(source_id)
    return f"{name}_" if name in _TAKEN else name


def distinct(named: Mapping[K, tuple[str, str]]) -> Mapping[K, str]:
    """A name for each thing, none of them twice; each comes with its own text and a plain name."""
    counts = Counter(name for _, name in named.values())
    exact = Counter(name for text, name in named.values() if text == name)
    return {
        key: name
        if counts[name] == 1 or (text == name and exact[name] == 1)
        else _hashed(name, repr(key))
        for key, (text, name) in named.items()
    }


def identifiers(texts: Iterable[str]) -> Mapping[str, str]:
    """The names of things that stand beside each other, by their own texts."""
    return distinct({text: (text, identifier(text)) for text in texts})


def _hashed(name: str, text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]
    return f"{name[: LONGEST - HASH_LENGTH - 1]}_{digest}"
