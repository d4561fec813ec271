"""What has to last between runs and cannot be had again: our key, and what was decided."""

from pathlib import Path
from typing import NamedTuple

from toolcrib.sources.mcp.fingerprint import install_key
from toolcrib.store import Decisions, prepare_decisions

KEY = "install.key"
DECISIONS = "decisions.db"


class State(NamedTuple):
    """The key of this installation, the decisions, and what is wrong with them."""

    key: bytes
    decisions: Decisions
    problems: tuple[str, ...] = ()


def open_state(folder: Path) -> State:
    """Open both, made at first need. Raises `SourceError` and `StoreError`.

    The file of decisions is made before the key. So a key without such a file, whoever looks and
    whenever, means that the file was lost.
    """
    key_path, path = folder / KEY, folder / DECISIONS
    lost = key_path.exists() and not path.exists()
    prepare_decisions(path)
    key = install_key(key_path)
    decisions = Decisions(path, key, lost=lost)
    if decisions.trusts_first_sight:
        return State(key, decisions)
    told = "was lost, damaged or altered, so that no new tool is trusted; run `toolcrib review`"
    return State(key, decisions, (f"{path}: what was decided about tools {told}",))
