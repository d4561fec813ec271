"""Where the daemon of some settings is: one place for each set of settings, found without them.

The key of a place is a hash of what the settings come from, so that whoever asks for the same
settings finds the same daemon. What a client may strip from the environment of what it launches
(all but HOME, PATH and the like) has no part in it, unless the settings are elsewhere for it.
"""

import hashlib
import json
import os
import socket
import stat
from collections.abc import Mapping
from typing import NamedTuple

from toolcrib.connect.arguments import ConnectOptions
from toolcrib.system import RUN_FOLDER_VARIABLE, run_folder

KEY_VARIABLE = "TOOLCRIB_KEY"
"""The variable that holds a client's key. It is a secret: no hash of it, and no argument."""
PREFIX = "TOOLCRIB_"
HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
MOST_BYTES = 16 * 1024


NEEDS_UNIX = (
    "the daemon needs Unix sockets and locks, which this system does not have; use WSL, or"
    " `toolcrib serve --stdio`: one process for one client"
)


class NoDaemon(Exception):
    """There is none, or it cannot be reached. The message names cause and remedy."""


class DaemonInfo(NamedTuple):
    """What a running daemon writes down about itself: where it is, and no secret."""

    pid: int
    socket: str
    operator: str
    port: int
    version: str


class DaemonFiles(NamedTuple):
    """The folder and the names of one daemon's files."""

    folder: str
    key: str

    @property
    def file(self) -> str:
        """What the daemon writes down about itself."""
        return self._named("json")

    @property
    def socket(self) -> str:
        """Where shims connect."""
        return self._named("sock")

    @property
    def operator(self) -> str:
        """Where the operator connects."""
        return self._named("op")

    @property
    def held(self) -> str:
        """The lock of the daemon itself, for as long as it lives."""
        return self._named("held")

    @property
    def starting(self) -> str:
        """The lock of whoever starts it."""
        return self._named("starting")

    @property
    def started(self) -> str:
        """What it said when it was started, before it had a log."""
        return self._named("started")

    def _named(self, ending: str) -> str:
        return os.path.join(self.folder, f"{self.key}.{ending}")


def locate_daemon(asked: ConnectOptions, environ: Mapping[str, str]) -> DaemonFiles:
    """The place of the daemon that serves these settings."""
    config = asked.config or environ.get("TOOLCRIB_CONFIG", "")
    set_by = {
        name: value
        for name, value in environ.items()
        if name.startswith(PREFIX)
        and name not in {KEY_VARIABLE, RUN_FOLDER_VARIABLE, "TOOLCRIB_CONFIG"}
    }
    homes = {name: environ[name] for name in HOMES if environ.get(name)}
    files = [os.path.abspath(path) for path in asked.mcp_config]
    told = [os.path.abspath(config) if config else "", files, set_by, homes]
    text = json.dumps(told, sort_keys=True).encode()
    return DaemonFiles(run_folder(environ), hashlib.sha256(text).hexdigest()[:16])


def can_have_daemon() -> bool:
    """Whether this system has what a daemon needs."""
    try:
        import fcntl  # noqa: PLC0415 - not there on every system
        import resource  # noqa: PLC0415
    except ImportError:
        return False
    needed = ((os, "getuid"), (socket, "AF_UNIX"), (fcntl, "flock"), (resource, "getrlimit"))
    return all(hasattr(module, name) for module, name in needed)


def make_daemon_folder(place: DaemonFiles) -> None:
    """Make the folder, for nobody else to look into. Raises `NoDaemon` if it is not ours alone."""
    if not can_have_daemon():
        raise NoDaemon(NEEDS_UNIX)
    try:
        os.makedirs(place.folder, mode=0o700, exist_ok=True)
        facts = os.lstat(place.folder)
    except OSError as error:
        told = f"{place.folder} cannot be made ({error.strerror}); set {RUN_FOLDER_VARIABLE}"
        told += " to a folder of yours"
        raise NoDaemon(told) from error
    ours = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid()
    if not ours or stat.S_IMODE(facts.st_mode) & 0o077:
        told = f"{place.folder} is not yours alone; remove it, or set {RUN_FOLDER_VARIABLE}"
        told += " to a folder that is"
        raise NoDaemon(told)


def read_daemon_info(place: DaemonFiles) -> DaemonInfo | None:
    """What the daemon wrote down; None if there is none. It may be gone since."""
    if not can_have_daemon():
        return None
    try:
        descriptor = os.open(place.file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_uid != os.getuid():
            return None
        content = file.read(MOST_BYTES)
    try:
        told = json.loads(content)  # a daemon of another version may say more
        return DaemonInfo(**{name: told[name] for name in DaemonInfo._fields})
    except (ValueError, TypeError, KeyError):
        return None
