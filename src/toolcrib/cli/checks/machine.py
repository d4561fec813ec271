"""Checks of what Toolcrib runs on.

- *machine*: the versions.
- *store*: the catalog file is sound and has room.
- *index*: the stored index is that of this pool, and there is an embedder.
- *files*: nobody else can read what is private.
"""

import os
import platform
import shutil
import stat
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from toolcrib.cli.checks.diagnosis import CheckContext, Diagnosis
from toolcrib.crib import stores_in
from toolcrib.errors import StoreError, ToolcribError
from toolcrib.settings import own_servers_file
from toolcrib.store import catalog_condition, sqlite_version
from toolcrib.wiring import embedder_of

MACHINE = "machine"
STORE = "store"
INDEX = "index"
FILES = "files"
OTHERS = 0o077
LITTLE_MB = 100
FEW = 500
"""So many capabilities are indexed at each start without anybody noticing."""


def check_machine(_context: CheckContext | None = None) -> Iterator[Diagnosis]:
    """The versions that matter."""
    system = f"{platform.system()} {platform.machine()}"
    python = platform.python_version()
    yield Diagnosis(MACHINE, "ok", f"toolcrib {version('toolcrib')}, Python {python}, {system}")
    sqlite = sqlite_version()
    if sqlite.is_reliable:
        yield Diagnosis(MACHINE, "ok", f"SQLite {sqlite.number}")
    else:
        message = f"SQLite {sqlite.number} may damage a catalog that several processes write"
        yield Diagnosis(MACHINE, "problem", message, "pip install --upgrade apsw")


def check_store(context: CheckContext) -> Iterator[Diagnosis]:
    """Whether the catalog file is sound and has room. The file is only read.

    A shared store that answers is up to date: otherwise there were no crib.
    """
    if shared := context.settings.database:
        fine = f"{shared}: answers, and is up to date; tenant {context.settings.tenant}"
        try:
            stores_in(context.crib).decisions.check_current()
            yield Diagnosis(STORE, "ok", fine)
        except StoreError as error:
            yield Diagnosis(STORE, "problem", str(error), "see that it is up and can be reached")
    path = context.settings.store_path
    if path == ":memory:":
        yield Diagnosis(STORE, "ok", "the catalog is in memory, and lasts as long as the process")
        return
    yield from _catalog_file(Path(path))
    folder = next(each for each in Path(path).absolute().parents if each.is_dir())
    free = shutil.disk_usage(folder).free // 1_000_000
    level = "ok" if free >= LITTLE_MB else "warning"
    remedy = "" if free >= LITTLE_MB else "free some, or set `store` elsewhere"
    yield Diagnosis(STORE, level, f"{free:,} MB are free at {folder}", remedy)


def _catalog_file(path: Path) -> Iterator[Diagnosis]:
    if not path.exists():
        yield Diagnosis(STORE, "ok", f"{path} is not there yet; it is made when it is needed")
        return
    try:
        condition = catalog_condition(path)
    except ToolcribError as error:
        yield Diagnosis(STORE, "problem", str(error), "repair it, or set another `store`")
        return
    if condition.damage:
        remedy = "remove it and run `toolcrib index`: it holds nothing that cannot be made again"
        yield Diagnosis(STORE, "problem", f"{path} is damaged: {condition.damage}", remedy)
    else:
        yield Diagnosis(
            STORE, "ok", f"{path}: sound, version {condition.version} of {condition.newest}"
        )


def check_index(context: CheckContext) -> Iterator[Diagnosis]:
    """Whether the stored index is that of this pool; if not, it is only not used.

    A damaged file is not opened, because opening it would replace it.
    """
    if any(each.level == "problem" for each in check_store(context)):
        return
    try:
        fits = context.crib.index.is_stored()
    except ToolcribError as error:
        yield Diagnosis(INDEX, "problem", str(error), "see what is said of the store")
        return
    count = len(context.crib.entries())
    if fits is False and count > FEW:
        message = f"the stored index is not of these {count} capabilities, so it is not used"
        yield Diagnosis(INDEX, "warning", message, "toolcrib index")
    else:
        where = "stored" if fits else "made in memory at each start"
        yield Diagnosis(INDEX, "ok", f"{count} capabilities, their index is {where}")


def check_embedder(context: CheckContext) -> Iterator[Diagnosis]:
    """Whether it is installed and configured; it is sent nothing."""
    name = context.settings.embed.embedder
    try:
        embedder_of(context.settings)
    except ToolcribError as error:
        yield Diagnosis(INDEX, "problem", str(error), "install it, or set `embed.embedder`")
        return
    words = "no embedder: search is by words alone" if name == "none" else f"embedder {name}"
    yield Diagnosis(INDEX, "ok", words)


def check_files(context: CheckContext) -> Iterator[Diagnosis]:
    """A problem for each file of ours that other users may read or write."""
    looked = 0
    for path in _private_files(context):
        try:
            facts = path.lstat()
        except OSError:
            continue
        looked += 1
        mode = stat.S_IMODE(facts.st_mode)
        if stat.S_ISREG(facts.st_mode) and os.name == "posix" and mode & OTHERS:
            message = f"{path} is open to others ({mode:o})"
            yield Diagnosis(FILES, "problem", message, f"chmod 600 {path}")
    yield Diagnosis(FILES, "ok", f"{looked} private files looked at")


def _private_files(context: CheckContext) -> Iterator[Path]:
    yield own_servers_file()
    folder = context.settings.state_folder
    if folder.is_dir():
        yield from sorted(path for path in folder.rglob("*") if not path.is_dir())
