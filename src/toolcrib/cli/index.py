"""The command `toolcrib index`."""

from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.progress import progress
from toolcrib.cli.screen import AsJson, console, counts, print_json, safe
from toolcrib.crib import Crib


@dataclass(frozen=True, slots=True)
class IndexStats:
    """What an index holds and what it took."""

    capabilities: int
    kinds: dict[str, int]
    embedder: str
    store: str
    megabytes: float
    seconds: float


def index_command(context: typer.Context, as_json: AsJson = False) -> None:
    """Build the index anew and wait for all vectors, so that the next start has everything.

    Searches keep the index up to date by themselves: use this before a first search, or in an
    image. The new index takes the place of the current one in one step. Searches go on meanwhile,
    and an interrupted run leaves the current one as it was. Vectors are kept by text and model, so
    only new texts are embedded.
    """
    options: GlobalOptions = context.obj
    with options.crib() as crib:
        stats = build(crib, quiet=as_json)
    print_json(stats) if as_json else _show(stats)


def build(crib: Crib, *, quiet: bool) -> IndexStats:
    """Store the index of a crib, with progress on the screen unless `quiet`."""
    entries = crib.entries()
    started = perf_counter()
    with progress(quiet=quiet) as report:
        crib.index.store(
            embedding=partial(report, "embedding"),
            progress=lambda done: report("indexing", done, len(entries)),
        )
    files = [path for path in crib.index.files if path.exists()]
    return IndexStats(
        capabilities=len(entries),
        kinds=dict(Counter(entry.kind for entry in entries.values())),
        embedder=crib.settings.embed.embedder,
        store=str(files[0] if files else crib.settings.store_path),
        megabytes=round(sum(map(_size, files)) / 1e6, 2),
        seconds=round(perf_counter() - started, 2),
    )


def _show(stats: IndexStats) -> None:
    lines = asdict(stats) | {"kinds": counts(stats.kinds)}
    for name, value in lines.items():
        console().print(safe(f"{name:13}{value}"))


def _size(path: Path) -> int:
    return path.stat().st_size
