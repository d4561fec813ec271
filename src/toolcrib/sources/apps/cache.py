"""SDKToolsCache: what each app registered, one JSON file each, so that none has to be running.

A file that is damaged or too large is moved aside, for whoever wants to know why. That is one
problem, and the other apps are read all the same.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from toolcrib.errors import SourceError
from toolcrib.model import JsonObject
from toolcrib.sources.apps.json_rpc import is_object
from toolcrib.system import (
    make_private_folder,
    read_private_file,
    sweep_temporary_files,
    write_private_file,
)

MOST_BYTES = 16 * 1024 * 1024
FORMAT = 1
_FILE = re.compile(rb'\{"checksum":"(?P<checksum>[0-9a-f]{64})","app":(?P<app>.*)\}\n', re.DOTALL)


@dataclass(frozen=True, slots=True)
class KnownApp:
    """An app as it was when it last registered. An empty `launch` means it starts by hand only."""

    name: str
    version: str = ""
    launch: tuple[str, ...] = ()
    tools: tuple[JsonObject, ...] = ()


class SDKToolsCache:
    """One folder. Several processes may use it at once: each file is replaced in one step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        sweep_temporary_files(folder)

    def path(self, app: str) -> Path:
        """The file of an app: a name that nothing in the app's own name can bend."""
        return self._folder / f"{hashlib.sha256(app.encode()).hexdigest()}.json"

    def read_all(self) -> tuple[tuple[KnownApp, ...], tuple[str, ...]]:
        """Every app that can be read, by name, and what is wrong with the others."""
        read = [self._read(path) for path in sorted(self._folder.glob("*.json"))]
        apps = sorted((one for one in read if isinstance(one, KnownApp)), key=lambda it: it.name)
        return tuple(apps), tuple(one for one in read if isinstance(one, str))

    def write(self, app: KnownApp) -> None:
        """Remember an app. Raises `SourceError`, and then what was remembered before stays."""
        content = _file_of(app)
        if len(content) > MOST_BYTES:
            raise SourceError(f"app {app.name!r} has more than {MOST_BYTES} bytes of tools")
        try:
            make_private_folder(self._folder)
            write_private_file(self.path(app.name), content)
        except OSError as error:
            message = (
                f"{self._folder}: cannot be written ({error.strerror}); check space and permissions"
            )
            raise SourceError(message) from error

    def forget(self, app: str) -> None:
        """Let go of an app. Raises `SourceError`."""
        try:
            self.path(app).unlink(missing_ok=True)
        except OSError as error:
            raise SourceError(f"{self.path(app)} cannot be removed: {error.strerror}") from error

    def _read(self, path: Path) -> KnownApp | str:
        try:
            return self._checked(path, _parsed(read_private_file(path, MOST_BYTES)))
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            return _set_aside(path, error)

    def _checked(self, path: Path, app: KnownApp) -> KnownApp:
        if path != self.path(app.name):
            raise ValueError("it is of another app")
        return app


def _set_aside(path: Path, error: Exception) -> str:
    aside = path.with_suffix(".bad")
    with suppress(OSError):
        path.replace(aside)
    cause = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "is damaged"
    return f"what was known of an app {cause}, and was moved to {aside}; start the app once"


def _file_of(app: KnownApp) -> bytes:
    content = json.dumps({"format": FORMAT} | asdict(app), allow_nan=False).encode()
    checksum = hashlib.sha256(content).hexdigest().encode()
    return b'{"checksum":"%s","app":%s}\n' % (checksum, content)


def _parsed(content: bytes) -> KnownApp:
    """Raises what the parser raises, `LookupError` or `TypeError` for what is none of ours."""
    file = _FILE.fullmatch(content)
    if not file or hashlib.sha256(file["app"]).hexdigest().encode() != file["checksum"]:
        raise ValueError("the checksum does not fit")
    match json.loads(file["app"]):
        case {"format": 1, "name": str(name), "version": str(version), **rest}:
            return KnownApp(
                name, version, tuple(_texts(rest["launch"])), tuple(_tools(rest["tools"]))
            )
        case _:
            raise ValueError("it is of another format")


def _texts(value: object) -> Iterator[str]:
    for each in _list(value):
        if not isinstance(each, str):
            raise TypeError("a launch command is a list of texts")
        yield each


def _tools(value: object) -> Iterator[JsonObject]:
    for each in _list(value):
        if not is_object(each):
            raise TypeError("a tool is an object")
        yield each


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value  # pyright: ignore[reportUnknownVariableType]
