"""The commands `toolcrib eval run` and `toolcrib eval init`."""

import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer

from toolcrib.cli.eval_output import eval_json, show_changes, show_results
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.progress import progress, tracked
from toolcrib.cli.screen import AsJson, console, number, print_json, print_remedy, safe, warn
from toolcrib.crib import Crib, inventory_of, use_history_of
from toolcrib.errors import ConfigError, EvalError, StoreError
from toolcrib.evaluate import (
    DraftEvidence,
    EvalCases,
    EvalResult,
    Report,
    ReportSide,
    catalog_texts,
    compare,
    draft_cases,
    load_cases,
    load_catalog,
    open_search_of,
    write_cases,
)
from toolcrib.evaluate import evaluate as run_suite
from toolcrib.model import Entry
from toolcrib.settings import Settings, documented
from toolcrib.store import EventFilter, SqliteStore, VectorCache
from toolcrib.text import list_nearest
from toolcrib.uses import words_that_led
from toolcrib.wiring import opened_events

FIRST_FILE = Path("cases.yaml")
MOST_CALLS = 10_000
"""Of the log of calls, so many of the last are counted."""
AS_THEY_ARE = "your settings"
LONGEST_DESCRIPTION = 120


@dataclass(frozen=True, slots=True)
class EvalCatalog:
    """The entries that are searched, what to call them, and where their vectors are kept."""

    entries: Mapping[str, Entry]
    name: str
    vectors: VectorCache
    unused: Mapping[str, int] = field(default_factory=dict[str, int])


def eval_run_command(
    context: typer.Context,
    cases: Annotated[
        Path | None,
        typer.Argument(
            metavar="CASES",
            help="What is asked and what each should find: YAML, or one JSON object a line. "
            "Without one, `cases.yaml` in this folder.",
        ),
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Search these tools, one JSON object a line, instead of your own.",
        ),
    ] = None,
    queries: Annotated[Path | None, typer.Option(metavar="FILE", hidden=True)] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHANGE",
            help="Compare with other settings: `KEY=VALUE`, or a settings file. May be given more "
            "than once for several changes at a time.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write all of it as a page to look at; of two settings, what differs first.",
        ),
    ] = None,
    run_file: Annotated[
        Path | None,
        typer.Option("--run", metavar="FILE", help="Write the ranked ids of every query here."),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=10, help="How many ids to rank for each query.")
    ] = 50,
    min_recall5: Annotated[
        float | None,
        typer.Option(
            metavar="PER_CENT",
            min=0,
            max=100,
            help="Fail if R@5 over all queries is below this per cent.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure search on queries with known answers, and compare settings.

    Searches your own catalog, or that of `--catalog`. Prints recall at 1, 5 and 10, nDCG at 10 and
    MRR in per cent over the answerable queries, the share of unanswerable queries that got no
    answer, and how many answerable ones got none by mistake. Rankings are not cut. `--against`
    shows both settings side by side, then every case that differs. Exit code 1: R@5 is below
    `--min-recall5`; 2: the files cannot be used. `toolcrib help eval` is the
    guide.

        toolcrib eval run cases.yaml --html report.html
        toolcrib eval run cases.yaml --against search.fusion=rrf
        toolcrib eval run cases.yaml --min-recall5 80
    """
    options: GlobalOptions = context.obj
    file = _read_cases(cases or queries or FIRST_FILE)
    others = _other_settings(options, against or ())
    with _catalog(options, catalog) as searched:
        file.check(searched.entries, searched.name)
        results = dict(_results(searched, options.settings(), file, limit=limit, quiet=as_json))
        other = (
            dict(_results(searched, others, file, limit=limit, quiet=as_json)) if others else None
        )
    sides = _sides(results["query"], other["query"] if other else None, against or ())
    if run_file:
        _write(run_file, _run_lines(results["query"]), "rankings")
    if html:
        _write(html, _report(file, searched, sides), "page")
    changes = compare(file.cases.values(), *(each.result for each in sides)) if other else ()
    unused = {**searched.unused, **file.unused}
    if as_json:
        print_json(eval_json(unused, results, other, changes))
    else:
        show_results(unused, results)
        show_changes(changes, sides)
        _tell_page(html)
    _hold_to(min_recall5, results["query"])


def eval_init_command(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Where to write the cases: a YAML file."),
    ] = FIRST_FILE,
    count: Annotated[
        int, typer.Option(metavar="N", min=1, max=2_000, help="How many cases to write at most.")
    ] = 50,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the file if it is there already.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a first set of cases for your own catalog, for you to correct.

    Begins with recorded use, where `search.learn` has kept some: words of searches after which a
    tool was called. The rest are guesses from what the tools say of themselves, spread over all
    servers, the tools that are called most first; and some requests that none of your tools serves.
    Nothing is sent anywhere. A file that is there stays, unless `--force` is given.

        toolcrib eval init cases.yaml
        toolcrib eval run cases.yaml
    """
    options: GlobalOptions = context.obj
    if file.suffix.lower() not in (".yaml", ".yml"):
        raise EvalError(f"{file}: cases are written as YAML; name a file that ends in .yaml")
    with options.crib() as crib:
        entries = _visible(crib)
        drafts = draft_cases(entries, _evidence(crib, entries), count=count)
    if not drafts:
        raise EvalError(
            "there are no tools to write cases for; add a server with `toolcrib add`, "
            "or take those of your clients with `toolcrib import`"
        )
    write_cases(file, drafts, force=force)
    splits = Counter(each.split for each in drafts)
    if as_json:
        print_json({"file": str(file), "cases": len(drafts), "splits": splits})
        return
    origins = (
        f"{splits['use']} from recorded use, {splits['guess']} guessed, "
        f"{splits['none']} that nothing should fit"
    )
    console().print(safe(f"Wrote {number(len(drafts), 'case')} to {file}: {origins}."))
    print_remedy(f"correct them, then: toolcrib eval run {file}", indent=2)


EVAL = CommandGroup(
    """Measure how well search finds your tools: write cases, run them, compare settings.

A case is what somebody asks, and the tools that should be found for it.

    toolcrib eval init cases.yaml
    toolcrib eval run cases.yaml --html report.html
    toolcrib eval run cases.yaml --against search.fusion=rrf
""",
    {"run": eval_run_command, "init": eval_init_command},
    hidden={"cases": eval_run_command},
)


def _read_cases(path: Path) -> EvalCases:
    if not path.exists():
        raise EvalError(
            f"{path}: there is no such file of cases; `toolcrib eval init` writes a first one"
        )
    return load_cases(path)


def _other_settings(options: GlobalOptions, against: Sequence[str]) -> Settings | None:
    """The settings to compare with; None without any change. Raises `ConfigError`."""
    if not against:
        return None
    files = [Path(each) for each in against if "=" not in each]
    pairs = [each.partition("=") for each in against if "=" in each]
    if len(files) > 1:
        raise ConfigError(f"--against: {files[0]} and {files[1]} are two settings files; name one")
    keys = [each.key for each in documented()]
    for key, _, _ in pairs:
        if key not in keys:
            near = list_nearest(key, keys)
            raise ConfigError(f"--against: there is no setting {key!r}; nearest: {near}")
    changes = {f"TOOLCRIB_{key.replace('.', '__').upper()}": value for key, _, value in pairs}
    try:
        return replace(options, config=files[0] if files else options.config).settings(
            changes=changes
        )
    except ConfigError as error:
        raise ConfigError(f"--against: {error}") from error


def _sides(
    result: EvalResult, other: EvalResult | None, against: Sequence[str]
) -> Sequence[ReportSide]:
    label = ", ".join(
        "embed.api_key=…" if each.startswith("embed.api_key=") else each for each in against
    )
    sides = [ReportSide(AS_THEY_ARE, result)]
    return [*sides, ReportSide(label, other)] if other else sides


@contextmanager
def _catalog(options: GlobalOptions, file: Path | None) -> Generator[EvalCatalog]:
    """What is searched: the tools of a file, or else the user's own."""
    if file:
        tools, unused = load_catalog(file)
        entries = {id: tool.entry() for id, tool in tools.items()}
        with SqliteStore.open(":memory:") as vectors:  # for both settings, if there are two
            yield EvalCatalog(entries, str(file), vectors, unused)
        return
    with options.crib() as crib:
        entries, place = _visible(crib), crib.settings.store_path
    with _kept_vectors(place) as vectors:
        yield EvalCatalog(entries, "your catalog", vectors)


def _kept_vectors(place: str) -> SqliteStore:
    """The catalog file, if there is one that can be used: searching needs none."""
    if place != ":memory:" and Path(place).exists():
        try:
            return SqliteStore.open(Path(place))
        except StoreError as error:
            warn(f"{error}; all vectors are made anew")
    return SqliteStore.open(":memory:")


def _visible(crib: Crib) -> Mapping[str, Entry]:
    """What a search of this crib can find."""
    inventory, entries = inventory_of(crib), crib.entries()
    hidden = inventory.hidden_from(inventory.scope_of(None), frozenset(), entries)
    return {name: entry for name, entry in entries.items() if name not in hidden}


def _evidence(crib: Crib, entries: Mapping[str, Entry]) -> DraftEvidence:
    """What recorded use tells about these entries."""
    record = use_history_of(crib).record()
    led = words_that_led(record, catalog_texts(entries.values()))
    return DraftEvidence(led, _calls(crib.settings))


def _calls(settings: Settings) -> Mapping[str, int]:
    """How often each tool was called and went well, as far as the log goes back."""
    with opened_events(settings) as log:
        calls = log.newest(MOST_CALLS, EventFilter(kinds=("call",))).values() if log else ()
        return Counter(call.name for call in calls if not call.code)


def _results(
    searched: EvalCatalog, settings: Settings, file: EvalCases, *, limit: int, quiet: bool
) -> Iterator[tuple[str, EvalResult]]:
    """The result by query and, where queries have one, by instruction."""
    every = list(file.cases.values())
    instructed = [case for case in every if case.instruction]
    with (
        open_search_of(searched.entries, settings, searched.vectors) as search,
        progress(quiet=quiet) as report,
    ):
        for name, cases in (("query", every), ("instruction", instructed)):
            text = attrgetter(name)
            if cases:
                used = tracked(cases, f"by {name}", report)
                yield name, run_suite(search, used, limit=limit, text=text)


def _report(file: EvalCases, searched: EvalCatalog, sides: Sequence[ReportSide]) -> str:
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    about = (
        f"{number(len(file.cases), 'case')} of {file.path.name} over "
        f"{number(len(searched.entries), 'tool')} of {Path(searched.name).name}, {day}."
    )
    return Report(about, file.cases, lambda id: _one_line(searched.entries[id]), *sides).html()


def _one_line(entry: Entry) -> str:
    """The beginning of a description."""
    return shorten(entry.description, LONGEST_DESCRIPTION, placeholder=" …")


def _run_lines(result: EvalResult) -> str:
    lines = ({"id": id, "ranked": ranked} for id, ranked in result.ranked.items())
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _write(path: Path, text: str, what: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise EvalError(f"{path}: the {what} cannot be written: {error}") from error


def _tell_page(page: Path | None) -> None:
    if page:
        console().print(safe(f"\nThe page is {page}: open it in a browser."))


def _hold_to(bar: float | None, result: EvalResult) -> None:
    recall = result.total.recall_5
    if bar is not None and 100 * (recall or 0.0) < bar:
        shown = "-" if recall is None else f"{100 * recall:.1f}"
        warn(f"R@5 is {shown}, below the bar of {bar:g}")
        raise typer.Exit(1)
