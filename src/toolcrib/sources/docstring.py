"""What a docstring says: the description of a tool, and that of each parameter.

Reads the three ways people write parameters: Google (`Args:`), numpy (`Parameters` underlined) and
Sphinx (`:param x:`). Not a general docstring parser: all else is the description, also what is
returned, raised or shown in examples.
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise, takewhile
from typing import TypeAlias

_GOOGLE_HEADER = re.compile(r"(?:Keyword |Other )?(?:Args|Arguments|Parameters|Params):\s*")
_NUMPY_HEADER = re.compile(r"(?:Other )?Parameters\s*")
_UNDERLINE = re.compile(r"-{3,}\s*")
_GOOGLE = re.compile(r"\*{0,2}(?P<names>\w+)\s*(?:\(.*?\))?:(?P<text>.*)")
_NUMPY = re.compile(r"(?P<names>[*\w]+(?:, *[*\w]+)*)\s*(?::.*)?(?P<text>)")
_SPHINX = re.compile(r":(?:param|arg|argument|keyword)\s(?:[^:]*\s)?(?P<names>\w+):(?P<text>.*)")
_SPHINX_TYPE = re.compile(r":type\s+\w+:.*")
_AS_WRITTEN = re.compile(r"\s|[-*+>|]\s|\d+[.)]\s|```")
"""How a line begins that is no part of running text: deeper, in a list, in a table."""


_Section: TypeAlias = tuple[re.Pattern[str], int, int, int]
"""Lines about parameters: how each is written, where they begin, their first, where they end."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """`description` is all but the parameters; a parameter nobody described is not a key.

    In it a paragraph of running text is one line.
    """

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


def parse_docstring(text: str | None) -> Docstring:
    """No docstring reads as an empty one."""
    lines = inspect.cleandoc(text or "").splitlines()
    rest, parameters = [*lines], dict[str, str]()
    for pattern, start, body, end in _sections(lines):
        parameters |= _described(pattern, lines[body:end])
        rest[start:end] = [""] * (end - start)
    return Docstring(_paragraphs(rest), parameters)


def _sections(lines: Sequence[str]) -> Iterator[_Section]:
    headers = [above for above, line in enumerate(lines[1:]) if _UNDERLINE.fullmatch(line)]
    for start, end in pairwise([*headers, len(lines)]):
        if _NUMPY_HEADER.fullmatch(lines[start]):
            yield _NUMPY, start, start + 2, end
    for at, line in enumerate(lines):
        if _GOOGLE_HEADER.fullmatch(line):
            yield _GOOGLE, at, at + 1, at + 1 + _deeper(lines[at + 1 :], 0, blank=True)
        elif _SPHINX.fullmatch(line.strip()) or _SPHINX_TYPE.fullmatch(line.strip()):
            yield _SPHINX, at, at, at + 1 + _deeper(lines[at + 1 :], _indent(line))


def _deeper(lines: Iterable[str], margin: int, *, blank: bool = False) -> int:
    """How many lines are indented by more than this; blank ones count too, or end them."""
    below = takewhile(lambda it: _indent(it) > margin if it.strip() else blank, lines)
    return sum(1 for _ in below)


def _described(pattern: re.Pattern[str], block: Sequence[str]) -> dict[str, str]:
    return {
        name.strip(" *"): text
        for head, below in _entries(block)
        if (found := pattern.fullmatch(head)) and (text := _one_line([found["text"], *below]))
        for name in found["names"].split(",")
    }


def _entries(block: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Each line at the block's own indent, with the deeper lines below it."""
    written = [line for line in block if line.strip()]
    margin = min(map(_indent, written), default=0)
    heads = [at for at, line in enumerate(written) if _indent(line) == margin]
    for start, end in pairwise([*heads, len(written)]):
        yield written[start].strip(), written[start + 1 : end]


def _paragraphs(lines: Iterable[str]) -> str:
    """The text by paragraphs: running text on one line, lists and examples as they are written."""
    blocks = [
        list(block) for is_text, block in groupby(lines, lambda it: bool(it.strip())) if is_text
    ]
    return "\n\n".join(
        "\n".join(map(str.rstrip, block))
        if any(map(_AS_WRITTEN.match, block))
        else _one_line(block)
        for block in blocks
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _one_line(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())
