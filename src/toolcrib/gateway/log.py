"""Where a daemon says what it does: standard error, or a file of its own when nobody is there.

Neither credentials nor arguments are ever logged.
"""

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

from toolcrib.sources.private_file import make_folder

MOST_BYTES = 1024 * 1024
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def log_file(state_folder: Path) -> Path:
    """The file of a daemon that nobody watches."""
    return state_folder / "gateway.log"


def log_to_stderr() -> None:
    """For a daemon in a terminal, and for every start."""
    _log_to(logging.StreamHandler())


def log_to_file(state_folder: Path) -> None:
    """From now on only there; of old lines, one more file is kept."""
    make_folder(state_folder)
    path = log_file(state_folder)
    path.touch(mode=0o600)
    _log_to(RotatingFileHandler(path, maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8"))


def _log_to(handler: logging.Handler) -> None:
    handler.setFormatter(logging.Formatter(_FORM))
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("toolcrib.gateway").setLevel(logging.INFO)
