"""The command `toolcrib lint`."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, counts, print_json, safe, table
from toolcrib.errors import DeclarationError
from toolcrib.lint import LintFinding, findings_by_source, lint
from toolcrib.model import Entry
from toolcrib.pool import Pool
from toolcrib.sources import FunctionSource, add_module, declare_tools


def lint_command(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE", help="tools.yaml files to look at; without one, the whole catalog."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 if there is an error or a warning.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find tools that searchers will miss or confuse.

    Says what to correct: empty, repeated and overlong descriptions, tools that are almost the same,
    parameters without a description, names that say nothing. `toolcrib help lint` describes
    the rules.

        toolcrib lint tools.yaml --strict
    """
    options: GlobalOptions = context.obj
    findings = lint(_declared(files, options.tools) if files else _catalog(options))
    print_json(findings) if as_json else _show(findings)
    if strict and any(finding.severity != "note" for finding in findings):
        raise typer.Exit(1)


def _catalog(options: GlobalOptions) -> Iterable[Entry]:
    with options.crib() as crib:
        return crib.entries().values()


def _declared(files: Sequence[Path], modules: Sequence[str]) -> Iterable[Entry]:
    """The tools of these files. Raises `DeclarationError` and `SourceError`."""
    pool, source = Pool(), FunctionSource()
    for path in files:
        declare_tools(source, path)
    for module in modules:
        add_module(source, module)
    if source.problems:
        raise DeclarationError("\n".join(source.problems))
    pool.add(source)
    return pool.entries.values()


def _show(findings: Sequence[LintFinding]) -> None:
    screen = console()
    for source, some in findings_by_source(findings).items():
        rows = [(each.name, each.severity, each.rule, each.message) for each in some]
        screen.print(safe(f"\n{source}"), style="bold")
        screen.print(table("", ["name", "severity", "rule", "//what to correct"], rows))
    found = counts(Counter(each.severity for each in findings))
    screen.print(safe(f"{len(findings)} findings: {found}." if findings else "No findings."))
