"""Whether the catalog file is sound, has room, and holds the index of just this pool."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from toolcrib.cli.checks.finding import Finding, Patient
from toolcrib.errors import ToolcribError
from toolcrib.store import catalog_condition
from toolcrib.wiring import embedder_of

AREA = "store"
INDEX = "index"
LITTLE_MB = 100
FEW = 500
"""So many capabilities are indexed at each start without anybody noticing."""


def check_store(patient: Patient) -> Iterator[Finding]:
    """The file is looked at as it is, and neither made nor brought up to date."""
    path = patient.settings.store_path
    if path == ":memory:":
        yield Finding(AREA, "ok", "the catalog is in memory, and gone with the process")
        return
    yield from _file(Path(path))
    folder = next(each for each in Path(path).absolute().parents if each.is_dir())
    free = shutil.disk_usage(folder).free // 1_000_000
    level = "ok" if free >= LITTLE_MB else "warning"
    remedy = "" if free >= LITTLE_MB else "free some, or set `store` elsewhere"
    yield Finding(AREA, level, f"{free:,} MB are free at {folder}", remedy)


def _file(path: Path) -> Iterator[Finding]:
    if not path.exists():
        yield Finding(AREA, "ok", f"{path} is not there yet; `toolcrib index` makes it")
        return
    try:
        found = catalog_condition(path)
    except ToolcribError as error:
        yield Finding(AREA, "problem", str(error), "repair it, or set another `store`")
        return
    if found.damage:
        remedy = "remove it and run `toolcrib index`: it holds nothing that cannot be made again"
        yield Finding(AREA, "problem", f"{path} is damaged: {found.damage}", remedy)
    else:
        yield Finding(AREA, "ok", f"{path}: sound, version {found.version} of {found.newest}")


def check_index(patient: Patient) -> Iterator[Finding]:
    """A stored index of another pool is no fault: it is only not used.

    A file that is not sound is not opened for it, for then it would be replaced.
    """
    if any(each.level == "problem" for each in check_store(patient)):
        return
    try:
        fits = patient.crib.stored_index_fits()
    except ToolcribError as error:
        yield Finding(INDEX, "problem", str(error), "see the finding about the store")
        return
    count = len(patient.crib.entries())
    if fits is False and count > FEW:
        message = f"the stored index is not of these {count} capabilities, so it is not used"
        yield Finding(INDEX, "warning", message, "toolcrib index")
    else:
        where = "stored" if fits else "made in memory at each start"
        yield Finding(INDEX, "ok", f"{count} capabilities, their index is {where}")


def check_embedder(patient: Patient) -> Iterator[Finding]:
    """Whether it is installed and configured; it is sent nothing."""
    name = patient.settings.embed.embedder
    try:
        embedder_of(patient.settings)
    except ToolcribError as error:
        yield Finding(INDEX, "problem", str(error), "install it, or set `embed.embedder`")
        return
    words = "no embedder: search is by words alone" if name == "none" else f"embedder {name}"
    yield Finding(INDEX, "ok", words)
