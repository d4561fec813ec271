"""Whether what is private is for our eyes alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from toolcrib.cli.checks.finding import Finding, Patient
from toolcrib.settings import own_servers_file

AREA = "files"
OTHERS = 0o077


def check_files(patient: Patient) -> Iterator[Finding]:
    """A problem for each file of ours that somebody else may read or write."""
    looked = 0
    for path in _private(patient):
        try:
            facts = path.lstat()
        except OSError:
            continue
        looked += 1
        mode = stat.S_IMODE(facts.st_mode)
        if stat.S_ISREG(facts.st_mode) and os.name == "posix" and mode & OTHERS:
            message = f"{path} is open to others ({mode:o})"
            yield Finding(AREA, "problem", message, f"chmod 600 {path}")
    yield Finding(AREA, "ok", f"{looked} private files looked at")


def _private(patient: Patient) -> Iterator[Path]:
    yield own_servers_file()
    folder = patient.settings.state_folder
    if folder.is_dir():
        yield from sorted(path for path in folder.rglob("*") if not path.is_dir())
