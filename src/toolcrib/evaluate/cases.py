"""Catalogs and queries for an evaluation, from JSON lines.

A catalog line: {"id", "name", "description", "parameters"}, and `title`, `tags`, `search_hint` if
they are there. A query line: {"id", "query", "relevant": [ids]} and, if they apply:

    split         queries are reported by it
    equiv         {alternative id: id}: the same tool elsewhere, counted as that one
    relevance     "any": one of the relevant is enough
    grades        {id: 2 | 1 | 0}: how relevant, for nDCG
    candidates    an unanswerable query (relevant: []) is so among these alone
    instruction   the need, in the words of a model; measured beside the query

Every other key is reported as not used, never silently dropped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, ValidationError

from toolcrib.errors import EvalError
from toolcrib.model import ToolInfo
from toolcrib.system import read_plain_file


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    id: str

    @property
    def unused(self) -> Mapping[str, object]:
        """The keys that mean nothing here."""
        return self.model_extra or {}


class EvalTool(_Line):
    """One line of a catalog."""

    name: str
    description: str | None = None
    parameters: dict[str, JsonValue] | None = None
    title: str | None = None
    tags: list[str] = Field(default_factory=list[str])
    search_hint: str | None = None

    def info(self) -> ToolInfo:
        """The tool, under its id."""
        return ToolInfo(
            name=self.id,
            description=self.description or "",
            parameters=self.parameters or {},
            title=self.title or "",
            tags=tuple(self.tags),
            search_hint=self.search_hint or "",
        )


class EvalCase(_Line):
    """One query and what it should find. No `relevant` means that nothing fits."""

    query: str
    relevant: list[str]
    split: str = ""
    equiv: dict[str, str] = Field(default_factory=dict[str, str])
    relevance: Literal["all", "any"] = "all"
    grades: dict[str, NonNegativeInt] = Field(default_factory=dict[str, NonNegativeInt])
    candidates: list[str] = Field(default_factory=list[str])
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class EvalSuite:
    """The tools and the cases, and how often each key was found that is not used."""

    tools: Mapping[str, EvalTool]
    cases: Mapping[str, EvalCase]
    unused: Mapping[str, int]


L = TypeVar("L", EvalTool, EvalCase)

LARGEST_FILE = 1024 * 1024 * 1024


def load_suite(catalog: Path, queries: Path) -> EvalSuite:
    """Read both files. Raises `EvalError` that names file, line and key for anything amiss."""
    unused: Counter[str] = Counter()
    tools = dict(_read(catalog, EvalTool, unused))
    cases = dict(_read(queries, EvalCase, unused))
    for case in cases.values():
        if strangers := [id for id in (*case.relevant, *case.equiv) if id not in tools]:
            raise EvalError(
                f"{queries}: query {case.id!r} names the tool {strangers[0]!r}, "
                f"which is not in {catalog}; use the catalog that the queries are for"
            )
    return EvalSuite(tools, cases, unused)


def _read(path: Path, model: type[L], unused: Counter[str]) -> Iterator[tuple[str, L]]:
    """The lines of a file by their ids, in order; at least one, each id once."""
    ids: set[str] = set()
    for where, text in _lines(path):
        line = _parsed(text, model, where)
        if line.id in ids:
            raise EvalError(f"{where}: the id {line.id!r} is there already; ids have to be unique")
        ids.add(line.id)
        unused.update(f"{path.name}: {key}" for key in line.unused)
        yield line.id, line
    if not ids:
        raise EvalError(f"{path}: there is nothing in it to evaluate")


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        text = read_plain_file(path, LARGEST_FILE).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path}:{number}", line


def _parsed(line: str, model: type[L], where: str) -> L:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise EvalError(f"{where}: {key + ': ' if key else ''}{first['msg']}") from error
