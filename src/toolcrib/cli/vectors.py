"""Waiting for vectors, where a command would end before they are made."""

from toolcrib.cli.screen import console, warn
from toolcrib.crib import Crib

PATIENCE_S = 30.0


def await_vectors(crib: Crib) -> None:
    """Wait for the vectors of what is new in the catalog; say so, and what to do if it is much."""
    if crib.embedded(0):
        return
    with console(to_stderr=True).status("Reading new tools (kept for the next time)"):
        ready = crib.embedded(PATIENCE_S)
    if not ready:
        warn("ranked by words alone, for many tools are new: run `toolcrib index` once")
