"""The command `toolcrib doctor`."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby
from typing import Annotated

import typer

from toolcrib.cli.checks.clients import check_clients
from toolcrib.cli.checks.diagnosis import Check, CheckContext, Diagnosis
from toolcrib.cli.checks.machine import (
    check_embedder,
    check_files,
    check_index,
    check_machine,
    check_store,
)
from toolcrib.cli.checks.people import check_people
from toolcrib.cli.checks.servers import check_apps, check_servers
from toolcrib.cli.checks.settings import (
    check_gateway,
    check_loads,
    check_names,
    check_profiles,
    check_sources,
)
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, print_json, print_remedy, print_text, safe
from toolcrib.crib import Crib, stores_in
from toolcrib.errors import ConfigError, StoreError
from toolcrib.sources.mcp import McpServers

MOST_WELL = 8
"""Lines of an area about what is well: more would hide what is not."""
STYLES = {"ok": "green", "warning": "yellow", "problem": "red"}

CHECKS: tuple[Check, ...] = (
    check_sources,
    check_servers,
    check_names,
    check_loads,
    check_profiles,
    check_gateway,
    check_people,
    check_store,
    check_index,
    check_embedder,
    check_apps,
    check_clients,
    check_files,
    check_machine,
)


def doctor_command(
    context: typer.Context,
    start: Annotated[
        bool, typer.Option("--start", help="Start every MCP server once, to see that it does.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look for what may keep Toolcrib from working; say what to do.

    Looks at the settings, servers, names, loads, profiles, gateway, keys, store, index, apps, MCP
    clients, files and versions. Changes nothing, and starts no server without `--start`. Exit code
    1: there are problems. Warnings alone are no problem.
    """
    options: GlobalOptions = context.obj
    diagnoses = list(_run_checks(options, start=start))
    print_json(diagnoses) if as_json else _show(diagnoses)
    if any(each.level == "problem" for each in diagnoses):
        raise typer.Exit(1)


def _run_checks(options: GlobalOptions, *, start: bool) -> Iterator[Diagnosis]:
    try:
        settings = options.settings()
    except ConfigError as error:
        yield Diagnosis("config", "problem", str(error), "correct it; the other checks need it")
        yield from check_machine()
        return
    try:
        crib = Crib.from_settings(settings)
    except StoreError as error:
        yield Diagnosis("store", "problem", str(error), "the other checks need it")
        yield from check_machine()
        return
    with crib, closing(McpServers.open(settings.mcp_config, stores_in(crib))) as servers:
        checked = CheckContext(settings, crib, servers, start)
        for check in CHECKS:
            yield from check(checked)


def _show(diagnoses: Sequence[Diagnosis]) -> None:
    for area, some in groupby(diagnoses, lambda each: each.area):
        in_area = list(some)
        well = [each for each in in_area if each.level == "ok"]
        for each in (each for each in in_area if each not in well[MOST_WELL:]):
            _show_one(each)
        if len(well) > MOST_WELL:
            _show_one(Diagnosis(area, "ok", f"{len(well) - MOST_WELL} more are well"))
    wrong = sum(each.level == "problem" for each in diagnoses)
    doubtful = sum(each.level == "warning" for each in diagnoses)
    console().print(safe(f"{wrong} problems, {doubtful} warnings."))


def _show_one(diagnosis: Diagnosis) -> None:
    level = diagnosis.level
    print_text(f"{diagnosis.area}: {diagnosis.message}", label=level, indent=8, style=STYLES[level])
    print_remedy(diagnosis.remedy, indent=8)
