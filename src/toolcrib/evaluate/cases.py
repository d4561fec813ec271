"""Catalogs and cases for an evaluation: from JSON lines, and cases also from YAML.

A catalog line: {"id", "name", "description", "parameters"}, and `title`, `tags`, `search_hint`,
`server` if they are there; an id of the form `server::tool` names its server, too. A case:
{"id", "query", "relevant": [ids]} and, if they apply:

    split         queries are reported by it
    equiv         {alternative id: id}: the same tool elsewhere, counted as that one
    relevance     "any": one of the relevant is enough
    grades        {id: 2 | 1 | 0}: how relevant, for nDCG
    candidates    an unanswerable query (relevant: []) is so among these alone
    instruction   the need, in the words of a model; measured beside the query

Every other key is reported as not used, never silently dropped. A YAML file is a list of the same
cases, for people to write: a case without an `id` is known by its query, and one relevant tool may
stand without a list.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, ValidationError

from toolcrib.errors import DeclarationError, EvalError
from toolcrib.model import Entry, Json, ToolInfo
from toolcrib.sources import parse_yaml, read_text_file
from toolcrib.system import read_plain_file
from toolcrib.text import list_nearest


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
    server: str = ""

    @property
    def server_name(self) -> str:
        """The server that it is of: as it says, or as its id does; "" if neither says."""
        return self.server or self.id.rpartition("::")[0]

    def entry(self) -> Entry:
        """The tool in a pool, under its id; of an MCP server if it names one."""
        return Entry(self.id, self.name, self.info())

    def info(self) -> ToolInfo:
        """The tool, under its id."""
        return ToolInfo(
            name=self.id,
            source="mcp" if self.server_name else "builtin",
            source_id=self.server_name or None,
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
class EvalCases:
    """The cases of a file by their ids, and how often each key was found that is not used."""

    path: Path
    cases: Mapping[str, EvalCase]
    unused: Mapping[str, int]

    def check(self, known: Collection[str], catalog: str) -> None:
        """Raises `EvalError` if a case names a tool that is not in the catalog."""
        for case in self.cases.values():
            strangers = [id for id in (*case.relevant, *case.equiv) if id not in known]
            if strangers:
                raise EvalError(
                    f"{self.path}: query {case.id!r} names the tool {strangers[0]!r}, "
                    f"which is not in {catalog}; nearest: {list_nearest(strangers[0], list(known))}"
                )


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
    tools, unused = load_catalog(catalog)
    cases = load_cases(queries)
    cases.check(tools, str(catalog))
    return EvalSuite(tools, cases.cases, {**unused, **cases.unused})


def load_catalog(path: Path) -> tuple[Mapping[str, EvalTool], Mapping[str, int]]:
    """The tools of a file by their ids, and its keys that are not used. Raises as above."""
    unused: Counter[str] = Counter()
    return dict(_unique(path, _json_lines(path, EvalTool), unused)), unused


def load_cases(path: Path) -> EvalCases:
    """Read cases, from YAML by the ending of the file's name. Raises `EvalError` as above."""
    unused: Counter[str] = Counter()
    is_yaml = path.suffix.lower() in (".yaml", ".yml")
    lines = _yaml_cases(path) if is_yaml else _json_lines(path, EvalCase)
    return EvalCases(path, dict(_unique(path, lines, unused)), unused)


def _unique(
    path: Path, lines: Iterable[tuple[str, L]], unused: Counter[str]
) -> Iterator[tuple[str, L]]:
    """The lines by their ids, in order; at least one, each id once."""
    ids: set[str] = set()
    for where, line in lines:
        if line.id in ids:
            raise EvalError(f"{where}: the id {line.id!r} is there already; ids have to be unique")
        ids.add(line.id)
        unused.update(f"{path.name}: {key}" for key in line.unused)
        yield line.id, line
    if not ids:
        raise EvalError(f"{path}: there is nothing in it to evaluate")


def _json_lines(path: Path, model: type[L]) -> Iterator[tuple[str, L]]:
    """What stands on each line that is not empty, after the place of the line."""
    try:
        text = read_plain_file(path, LARGEST_FILE).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{path}:{number}"
            try:
                yield where, model.model_validate_json(line)
            except ValidationError as error:
                raise _amiss(where, error) from error


def _yaml_cases(path: Path) -> Iterator[tuple[str, EvalCase]]:
    """The cases of a YAML file, each after the place where it begins."""
    try:
        file = parse_yaml(read_text_file(path), path)
    except DeclarationError as error:
        raise EvalError(str(error)) from error
    if file.data is not None and not isinstance(file.data, list):
        raise EvalError(f"{file.where(())} this is no list; begin each case with `- query:`")
    for number, value in enumerate(file.data or ()):
        where = file.where((number,)).rsplit(" ", 1)[0].removesuffix(":")
        try:
            yield where, EvalCase.model_validate(_spelt_out(value))
        except ValidationError as error:
            raise _amiss(where, error) from error


def _amiss(where: str, error: ValidationError) -> EvalError:
    """What is wrong first, with its place and key."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    return EvalError(f"{where}: {key + ': ' if key else ''}{first['msg']}")


def _spelt_out(value: Json) -> Json:
    """A case with what YAML may leave out."""
    if not isinstance(value, Mapping):
        return value
    relevant = value.get("relevant")
    full = {**value, "relevant": [relevant]} if isinstance(relevant, str) else value
    return {"id": value["query"], **full} if "query" in value else full
