"""The shape of the code beside that of its peers: sizes, import cycles, `Any`.

    python scripts/shape.py            print the report
    python scripts/shape.py --check    print it, and exit with 1 where a target is missed

The peers were measured in the same way. A function runs from its `def` to its last line, less
its docstring; a file has all of its lines, and empty files are left out. `Any` is counted where
it is used, per 1000 lines of code: blank lines, comments and docstrings are none. An import
counts wherever it stands: at the top, in a function, under `TYPE_CHECKING`. It points at the
module it names, not at the packages that Python loads on the way there. Percentiles are
interpolated. Standard library only, so that it runs on any tree.

A splinter is a module under 40 lines that one other module imports, by itself or through the
front door of its package: it belongs into that importer, unless `REASONS` says why not.
"""

import argparse
import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, starmap
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent / "src" / "toolcrib"
LONGEST = 5
SPLINTER = 40
REASONS: Mapping[str, str] = {}
"""Splinters that stay, by path, each with what keeps it apart."""
NOT_CODE = (
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
)

Graph = Mapping[str, frozenset[str]]
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Span(NamedTuple):
    """A function or a file, and how many lines it takes."""

    lines: int
    where: str


class Row(NamedTuple):
    """One line of the table, as text."""

    name: str
    function_lines: str
    file_lines: str
    cycle: str
    any_per_1000: str


HEAD = Row("", "function p50 / p95", "file p50 / p95", "import cycle", "Any per 1000")
PEERS = (
    Row("structlog", "4 / 29", "245 / 1241", "11 of 21", "90"),
    Row("starlette", "5 / 38", "142 / 719", "14 of 34", "42"),
    Row("httpx", "6 / 39", "248 / 1213", "11 of 23", "12"),
    Row("trio", "6 / 38", "170 / 1057", "65 of 78", "2"),
    Row("vicinity", "4 / 26", "115 / 291", "12 of 15", "22"),
    Row("MCP python-sdk 2", "7 / 57", "116 / 838", "14 of 122", "33"),
    Row("fastmcp 4", "11 / 79", "218 / 829", "122 of 256", "25"),
    Row("pydantic-ai 2", "8 / 53", "170 / 1329", "218 of 284", "27"),
)


@dataclass(frozen=True, slots=True)
class Module:
    """One source file, read and parsed."""

    name: str
    path: Path
    source: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return len(self.source.splitlines())


@dataclass(frozen=True, slots=True)
class Shape:
    """What the report is about. `cycle` holds the modules of the largest one, in order."""

    functions: Sequence[Span]
    files: Sequence[Span]
    modules: int
    cycle: Sequence[str]
    any_per_1000: float
    splinters: Sequence[Span]


class Verdict(NamedTuple):
    """One figure beside the most, and the least, that it may be."""

    what: str
    figure: float
    most: int
    least: int = 0

    @property
    def kept(self) -> bool:
        return self.least <= self.figure <= self.most

    def __str__(self) -> str:
        word = "ok" if self.kept else "over" if self.figure > self.most else "under"
        bounds = f"{self.least} to {self.most}" if self.least else f"at most {self.most}"
        return f"{self.what:<20}{self.figure:>6g}   {bounds:<13}{word}"


def read(package: Path) -> list[Module]:
    """Every module of the package in the folder `package`, ordered by path."""
    return [module_at(path, package) for path in sorted(package.rglob("*.py"))]


def module_at(path: Path, package: Path) -> Module:
    source = path.read_text(encoding="utf-8")
    parts = path.relative_to(package.parent).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path.relative_to(package), source, ast.parse(source))


def measure(modules: Sequence[Module]) -> Shape:
    return Shape(
        functions=[span for module in modules for span in functions(module)],
        files=[Span(module.lines, str(module.path)) for module in modules if module.lines],
        modules=len(modules),
        cycle=sorted(largest_cycle(import_graph(modules))),
        any_per_1000=per_1000(sum(map(count_any, modules)), sum(map(count_code, modules))),
        splinters=list(splinters(modules)),
    )


def functions(module: Module) -> Iterator[Span]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = len(lines_of(node)) - len(docstring_lines(node))
            yield Span(lines, f"{module.path}:{node.lineno} {node.name}")


def lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def docstring_lines(node: Documented) -> range:
    match node.body:
        case [ast.Expr(ast.Constant(str())) as docstring, *_]:
            return lines_of(docstring)
        case _:
            return range(0)


def count_code(module: Module) -> int:
    """How many lines hold code: not blank, not only a comment, not a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(module.source).readline)
    code = (token for token in tokens if token.type not in NOT_CODE)
    taken = (range(token.start[0], token.end[0] + 1) for token in code)
    documented = (node for node in ast.walk(module.tree) if isinstance(node, Documented))
    return len({*chain(*taken)} - {*chain(*map(docstring_lines, documented))})


def count_any(module: Module) -> int:
    """How often `Any` is used; its import, comments and strings do not count."""
    return sum(is_any(node) for node in ast.walk(module.tree))


def is_any(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="Any") | ast.Attribute(attr="Any"):
            return True
        case _:
            return False


def import_graph(modules: Sequence[Module]) -> Graph:
    """Module → the modules of the same package that it names in an import."""
    known = frozenset(module.name for module in modules)
    return {module.name: frozenset(imports(module, known)) for module in modules}


def imports(module: Module, known: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, module)
            named = (f"{base}.{alias.name}" for alias in node.names)
            yield from {name if name in known else base for name in named} & known


def splinters(modules: Sequence[Module]) -> Iterator[Span]:
    """The small modules with a single importer that have no reason to stand alone."""
    importers = Counter(chain.from_iterable(importing(modules).values()))
    for module in modules:
        small = 0 < module.lines < SPLINTER and module.path.name != "__init__.py"
        if small and importers[module.name] == 1 and module.path.as_posix() not in REASONS:
            yield Span(module.lines, str(module.path))


def importing(modules: Sequence[Module]) -> Graph:
    """Module → the modules it takes names from; a front door is looked through, and is none."""
    known = frozenset(module.name for module in modules)
    doors = {module.name: module for module in modules if module.path.name == "__init__.py"}
    homes = {name: home for door in doors.values() for name, home in exports(door, known)}
    return {
        module.name: frozenset(sources(module, known, homes)) - {module.name}
        for module in modules
        if module.name not in doors
    }


def exports(door: Module, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """(full name at the door, the module that defines it)."""
    for node in ast.walk(door.tree):
        if isinstance(node, ast.ImportFrom) and (base := absolute(node, door)) in known:
            yield from ((f"{door.name}.{alias.name}", base) for alias in node.names)


def sources(module: Module, known: frozenset[str], homes: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            base = absolute(node, module)
            named = (f"{base}.{alias.name}" for alias in node.names)
            yield from (homes.get(name, name if name in known else base) for name in named)


def absolute(node: ast.ImportFrom, module: Module) -> str:
    """The full name of what a `from ... import` imports from, its leading dots resolved."""
    if not node.level:
        return node.module or ""
    dropped = node.level - (module.path.name == "__init__.py")
    parts = module.name.split(".")
    return ".".join([*parts[: len(parts) - dropped], *filter(None, [node.module])])


def largest_cycle(graph: Graph) -> frozenset[str]:
    """The most modules that all reach each other by imports; empty where none do."""
    reach = {module: reachable(graph, module) for module in graph}
    cycles = (
        frozenset(other for other in reach[module] if module in reach[other]) for module in graph
    )
    return max(cycles, key=len, default=frozenset[str]())


def reachable(graph: Graph, start: str) -> frozenset[str]:
    """Every module at the end of one import or more; `start` itself only through a cycle."""
    seen: set[str] = set()
    ahead = set(graph[start])
    while ahead:
        seen |= ahead
        ahead = {further for module in ahead for further in graph[module]} - seen
    return frozenset(seen)


def per_1000(count: int, lines: int) -> float:
    return 1000 * count / lines if lines else 0.0


def percentile(spans: Sequence[Span], percent: int) -> int:
    """The size that `percent` % of the spans do not exceed, interpolated; 0 of none."""
    sizes = [span.lines for span in spans]
    if len(sizes) < 2:
        return sum(sizes)
    return round(quantiles(sizes, n=100, method="inclusive")[percent - 1])


def verdicts(shape: Shape) -> list[Verdict]:
    """The targets, and how this shape stands to each."""
    return [
        Verdict("function lines p50", percentile(shape.functions, 50), 6),
        Verdict("function lines p95", percentile(shape.functions, 95), 25),
        Verdict("file lines p50", percentile(shape.files, 50), 150, least=110),
        Verdict("file lines p95", percentile(shape.files, 95), 350),
        Verdict("splinters", len(shape.splinters), 0),
        Verdict("modules in a cycle", len(shape.cycle), 0),
        Verdict("Any per 1000 lines", round(shape.any_per_1000, 1), 10),
    ]


def ours(shape: Shape, name: str) -> Row:
    return Row(
        name,
        f"{percentile(shape.functions, 50)} / {percentile(shape.functions, 95)}",
        f"{percentile(shape.files, 50)} / {percentile(shape.files, 95)}",
        f"{len(shape.cycle)} of {shape.modules}" if shape.cycle else "none",
        f"{shape.any_per_1000:.0f}",
    )


def table(rows: Iterable[Row]) -> Iterator[str]:
    return starmap("{:<18}{:>20}{:>17}{:>15}{:>15}".format, rows)


def longest(spans: Iterable[Span]) -> Iterator[str]:
    ordered = sorted(spans, key=lambda span: (-span.lines, span.where))
    return starmap("{:>6}  {}".format, ordered[:LONGEST])


def report(shape: Shape, name: str) -> Iterator[str]:
    yield from table([HEAD, *PEERS, ours(shape, name)])
    yield ""
    yield from map(str, verdicts(shape))
    if shape.cycle:
        yield from ("", "largest import cycle", *(f"        {name}" for name in shape.cycle))
    if shape.splinters:
        yield from ("", f"under {SPLINTER} lines with one importer", *longest(shape.splinters))
    yield from ("", "longest functions", *longest(shape.functions))
    yield from ("", "longest files", *longest(shape.files))


def main(arguments: Sequence[str]) -> int:
    """Print the report. 1 when `--check` is given and a target is missed, else 0."""
    parser = argparse.ArgumentParser(description="The shape of the code beside that of its peers.")
    parser.add_argument("package", nargs="?", type=Path, default=PACKAGE, help="a package's folder")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a target is missed")
    options = parser.parse_args(arguments)
    modules = read(options.package)
    if not modules:
        parser.error(f"no Python files under {options.package}")
    shape = measure(modules)
    print("\n".join(report(shape, options.package.name)))
    return int(options.check and not all(verdict.kept for verdict in verdicts(shape)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
