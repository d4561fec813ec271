"""The log of a daemon: standard error, or a file of its own when nobody is there.

Neither credentials nor arguments are ever logged.
"""

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import TypeAlias

from toolcrib.system import make_private_folder
from toolcrib.text import printable

MOST_BYTES = 1024 * 1024
_Raised: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def log_file(state_folder: Path) -> Path:
    """The file of a daemon that nobody watches."""
    return state_folder / "gateway.log"


def log_to_stderr() -> None:
    """For a daemon in a terminal, and for every start."""
    _log_to(logging.StreamHandler())


def log_to_file(state_folder: Path) -> None:
    """From now on only there. One more file keeps old lines."""
    make_private_folder(state_folder)
    path = log_file(state_folder)
    _log_to(_PrivateFile(path, maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8"))


class _OneLine(logging.Formatter):
    """Each message is one line: no text of a server can make up lines of its own.

    The lines of a traceback are indented, so that none of them can be taken for such a line.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        record.message = printable(record.message).replace("\n", " ⏎ ")
        return super().formatMessage(record)

    def formatException(self, ei: _Raised) -> str:  # noqa: N802
        return indent(printable(super().formatException(ei)), "  ")

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        return indent(printable(super().formatStack(stack_info)), "  ")


class _PrivateFile(RotatingFileHandler):
    """Every file that it makes is ours alone, also after a rotation."""

    def _open(self) -> TextIOWrapper:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags, 0o600)

        return open(self.baseFilename, "a", encoding="utf-8", opener=private)


def _log_to(handler: logging.Handler) -> None:
    handler.setFormatter(_OneLine(_FORM))
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for name in ("toolcrib.gateway", "toolcrib.sources.mcp.server_log"):
        logging.getLogger(name).setLevel(logging.INFO)
