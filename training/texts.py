"""Texts in one folder of plain files: tools, and what is asked for.

tools.tsv    server, name, description, parameter names
asked.tsv    kind, the numbers of the right tools, text

A kind is one of `requests.KINDS` for what we wrote, the source of a pair of `train_pool`, or:
`product` and `wrong` name a server, the right one or another; `task` is two requests in one;
`part`, `name` and `sentence` are what search makes of requests, and names and sentences of tools,
for which no tool is said to be right. A `miss` and a `wrong` only sound like their tool; `none` is
for no tool. What a language model wrote begins with `made_`.
"""

import lzma
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from training.requests import Asked

UNSAID = frozenset({"part", "name", "sentence"})
"""Kinds that say nothing of what is right."""
WRONG = frozenset({"miss", "wrong"})
"""Kinds whose tool is a wrong one."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Tool(NamedTuple):
    """A tool as the model reads it: `server` is its server's name in words."""

    server: str
    name: str
    description: str
    parameters: str


class Texts(NamedTuple):
    """What is asked for, and the tools."""

    tools: Sequence[Tool]
    asked: Sequence[Asked]


def says_right(kind: str) -> bool:
    """Whether a person has said which tools are right for requests of a kind."""
    return kind not in UNSAID | WRONG | {"none"} and not kind.startswith("made_")


def write(texts: Texts, folder: Path) -> None:
    """The texts as files, one line a thing."""
    folder.mkdir(parents=True, exist_ok=True)
    _lines(folder / "tools.tsv.xz", texts.tools)
    rows = ((kind, " ".join(map(str, tools)), text) for kind, tools, text in texts.asked)
    _lines(folder / "asked.tsv.xz", rows)


def load(folder: Path) -> Texts:
    """The texts of a folder."""
    tools = [Tool(*cells) for cells in lines(folder / "tools.tsv.xz")]
    rows = lines(folder / "asked.tsv.xz")
    return Texts(tools, [Asked(k, [*map(int, at.split())], text) for k, at, text in rows])


def lines(file: Path) -> list[list[str]]:
    """The cells of a packed file."""
    with lzma.open(file, "rt", encoding="utf-8") as text:
        return [line.rstrip("\n").split("\t") for line in text]


def document(tool: Tool, *, server: bool = True) -> str:
    """A tool as the shipped model reads it, with its server or as of a catalog without."""
    parts = (tool.server if server else "", tool.name, tool.description, tool.parameters)
    return "\n".join(filter(None, parts))


def described(tool: Tool, *, server: bool = True) -> str:
    """A tool as the language model reads it."""
    name = " ".join(_HUMP.sub(" ", tool.name).replace("_", " ").replace("-", " ").split())
    owner = f"{tool.server} | " if tool.server and server else ""
    names = f" ({', '.join(tool.parameters.split())})" if tool.parameters else ""
    return f"{owner}{name}: {' '.join(tool.description.split())}{names}"


def _lines(file: Path, rows: Iterable[Sequence[str]]) -> None:
    with lzma.open(file, "wt", encoding="utf-8") as out:
        out.writelines("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)
