"""What a docstring says: one summary, one description a parameter.

Reads the three ways people write them: Google (`Args:`), numpy (`Parameters` underlined) and
Sphinx (`:param x:`). Not a general docstring parser: returns, raises and examples are left alone.
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

_SECTION = re.compile(r"[A-Z][A-Za-z ]*:|:\w[^:]*:.*")
_GOOGLE_HEADER = re.compile(r"(?:Args|Arguments|Parameters|Params):\s*")
_UNDERLINE = re.compile(r"-{3,}\s*")
_GOOGLE = re.compile(r"\*{0,2}(?P<names>\w+)\s*(?:\(.*?\))?:(?P<text>.*)")
_NUMPY = re.compile(r"(?P<names>[*\w]+(?:, *[*\w]+)*)\s*(?::.*)?(?P<text>)")
_SPHINX = re.compile(r":(?:param|arg|argument|keyword)\s(?:[^:]*\s)?(?P<names>\w+):(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Docstring:
    """`summary` is the first paragraph on one line; a parameter nobody described is not a key."""

    summary: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


def parse_docstring(text: str | None) -> Docstring:
    """No docstring reads as an empty one."""
    lines = inspect.cleandoc(text or "").splitlines()
    summary = takewhile(lambda line: line.strip() and not _SECTION.fullmatch(line), lines)
    return Docstring(_one_line(summary), dict(_parameters(lines)))


def _parameters(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield from _described(_SPHINX, lines)
    yield from _described(_NUMPY, _numpy_block(lines))
    yield from _described(_GOOGLE, _google_block(lines))


def _described(pattern: re.Pattern[str], block: Sequence[str]) -> Iterator[tuple[str, str]]:
    for head, below in _entries(block):
        if (found := pattern.fullmatch(head)) and (text := _one_line([found["text"], *below])):
            yield from ((name.strip(" *"), text) for name in found["names"].split(","))


def _google_block(lines: Sequence[str]) -> Sequence[str]:
    """Lines below the `Args:` header, down to the next one that is not indented."""
    for number, line in enumerate(lines, start=1):
        if _GOOGLE_HEADER.fullmatch(line):
            return list(takewhile(lambda line: not line or line[0].isspace(), lines[number:]))
    return []


def _numpy_block(lines: Sequence[str]) -> Sequence[str]:
    """Lines below the underlined `Parameters`, down to the next underlined header."""
    headers = [above for above, line in enumerate(lines[1:]) if _UNDERLINE.fullmatch(line)]
    for start, end in pairwise([*headers, len(lines)]):
        if lines[start].strip() == "Parameters":
            return lines[start + 2 : end]
    return []


def _entries(block: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Each line at the block's own indent, with the deeper lines below it."""
    written = [line for line in block if line.strip()]
    margin = min(map(_indent, written), default=0)
    heads = [at for at, line in enumerate(written) if _indent(line) == margin]
    for start, end in pairwise([*heads, len(written)]):
        yield written[start].strip(), written[start + 1 : end]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _one_line(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())
