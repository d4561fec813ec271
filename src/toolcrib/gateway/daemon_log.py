"""The log of a daemon: standard error, or a file of its own when nobody is there.

Lines are for people, or JSON for programs. Neither credentials nor arguments are ever logged.
"""

import json
import logging
import os
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import Any, Final, TypeAlias, cast

from toolcrib.settings import ObserveSettings
from toolcrib.system import make_private_folder
from toolcrib.text import printable

MOST_BYTES = 1024 * 1024
_Raised: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_TALKATIVE: Final = ("toolcrib.gateway", "toolcrib.sources.mcp.server_log")
"""Who tells of what goes well, too."""


def log_file(state_folder: Path) -> Path:
    """The file of a daemon that nobody watches."""
    return state_folder / "gateway.log"


def log_to_stderr() -> None:
    """For a daemon in a terminal, and for every start."""
    _log_to(logging.StreamHandler(), ObserveSettings())


def log_to_file(state_folder: Path, settings: ObserveSettings | None = None) -> None:
    """From now on only there. One more file keeps old lines."""
    make_private_folder(state_folder)
    path = log_file(state_folder)
    file = _PrivateFile(path, maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8")
    _log_to(file, settings or ObserveSettings())


def apply_log_settings(settings: ObserveSettings) -> None:
    """Write as these settings say, from now on."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_JsonLine() if settings.log_format == "json" else _OneLine(_FORM))
    _set_level(level)


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


class _JsonLine(logging.Formatter):
    """Each message is an object on a line of its own, with the `fields` that its record has."""

    def format(self, record: logging.LogRecord) -> str:
        written: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": printable(record.getMessage()),
            **_fields(record),
        }
        if record.exc_info:
            written["error"] = printable(self.formatException(record.exc_info))
        return json.dumps(written)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: object = getattr(record, "fields", None)
    return cast("dict[str, Any]", fields) if isinstance(fields, dict) else {}


class _PrivateFile(RotatingFileHandler):
    """Every file that it makes is ours alone, also after a rotation."""

    def _open(self) -> TextIOWrapper:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags, 0o600)

        return open(self.baseFilename, "a", encoding="utf-8", opener=private)


def _log_to(handler: logging.Handler, settings: ObserveSettings) -> None:
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    apply_log_settings(settings)


def _set_level(level: int) -> None:
    """Others than ours, and most of ours, tell only what goes wrong."""
    logging.getLogger().setLevel(max(level, logging.WARNING))
    logging.getLogger("toolcrib").setLevel(level if level < logging.INFO else logging.NOTSET)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(level)
