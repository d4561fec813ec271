"""A text in the editor of the person at the terminal, again until it can be used."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import typer

from toolcrib.cli.screen import warn
from toolcrib.errors import ConfigError

USUAL = "notepad" if sys.platform == "win32" else "vi"


def edited(
    text: str, name: str, take: Callable[[str], None], *, ending: str = ".json"
) -> str | None:
    """The text as the person leaves it; None if it is as it was. `ending` is that of the file.

    `take` does something with it, and raises `ConfigError` where it cannot: that is shown, and the
    text is there to be mended. Raises `ConfigError` where the person gives up, with the place where
    the text is kept.
    """
    handle, place = tempfile.mkstemp(prefix="toolcrib-", suffix=f"-{_plain(name)}{ending}")
    path = Path(place)  # for us alone
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    try:
        after = _until_usable(path, text, take)
    except ConfigError as error:
        if path.read_text(encoding="utf-8", errors="replace") == text:
            path.unlink()
            raise
        raise ConfigError(
            f"{error}; nothing was changed, what you wrote is kept in {path}"
        ) from None
    path.unlink()
    return None if after == text else after


def _until_usable(path: Path, before: str, take: Callable[[str], None]) -> str:
    while True:
        _open(path)
        try:
            after = path.read_text(encoding="utf-8")
            if after != before:
                take(after)
        except ValueError as error:
            problem = ConfigError(f"not UTF-8: {error}")
        except ConfigError as error:
            problem = error
        else:
            return after
        warn(str(problem))
        if not typer.confirm("Edit it again?", default=True):
            raise problem


def _plain(name: str) -> str:
    return "".join(c for c in name if c.isalnum())[:32]


def _open(path: Path) -> None:
    """Raises `ConfigError` where there is no editor, or where it fails."""
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or USUAL)
    todo = "set EDITOR, or say the change by options: `toolcrib edit --help`"
    try:
        status = subprocess.run([*words, str(path)], check=False).returncode  # noqa: S603 - theirs
    except OSError as error:
        raise ConfigError(f"the editor {words[0]!r} cannot be started; {todo}") from error
    if status:
        raise ConfigError(
            f"the editor {words[0]!r} ended with status {status}; nothing was changed"
        )
