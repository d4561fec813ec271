"""The files of a daemon: one set for each set of settings, found without reading the settings.

Their names have a hash of what the settings come from, so that all who ask for the same settings
find the same daemon. Variables that a client may strip from the environment of what it launches
(all but HOME, PATH and the like) are no part of it, unless they say where the settings are.
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
    """What a running daemon writes about itself: where it is, and no secret.

    `address` is where it serves HTTP, and `protection` what keeps strangers out there.
    """

    pid: int
    socket: str
    operator: str
    port: int
    version: str
    address: str = ""
    protection: str = ""


class DaemonFiles(NamedTuple):
    """The folder and the names of one daemon's files."""

    folder: str
    key: str

    @property
    def info(self) -> str:
        """What the daemon writes about itself: `DaemonInfo`."""
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
    def lock(self) -> str:
        """The lock of the daemon itself, for as long as it lives."""
        return self._named("held")

    @property
    def start_lock(self) -> str:
        """The lock of the shim that starts it."""
        return self._named("starting")

    @property
    def start_log(self) -> str:
        """What it printed when it was started, before it had a log."""
        return self._named("started")

    @property
    def surface(self) -> str:
        """The first replies that are kept for the next start: see `first_replies`."""
        return self._named("surface")

    def make_folder(self) -> None:
        """Make it, for nobody else to look into. Raises `NoDaemon` if it is not ours alone."""
        if not can_have_daemon():
            raise NoDaemon(NEEDS_UNIX)
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            facts = os.lstat(self.folder)
        except OSError as error:
            problem = f"{self.folder} cannot be made ({error.strerror})"
            raise NoDaemon(f"{problem}; set {RUN_FOLDER_VARIABLE} to a folder of yours") from error
        is_ours = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid()
        if not is_ours or stat.S_IMODE(facts.st_mode) & 0o077:
            remedy = f"remove it, or set {RUN_FOLDER_VARIABLE} to a folder that is"
            raise NoDaemon(f"{self.folder} is not yours alone; {remedy}")

    def read_info(self) -> DaemonInfo | None:
        """What the daemon wrote about itself; None if there is none. It may be gone since."""
        if not can_have_daemon():
            return None
        try:
            descriptor = os.open(self.info, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_uid != os.getuid():
                return None
            content = file.read(MOST_BYTES)
        try:
            fields = json.loads(content)  # a daemon of another version may have more, or less
            return DaemonInfo(
                **{name: fields[name] for name in DaemonInfo._fields if name in fields}
            )
        except (ValueError, TypeError, KeyError):
            return None

    def _named(self, ending: str) -> str:
        return os.path.join(self.folder, f"{self.key}.{ending}")


def locate_daemon(options: ConnectOptions, environ: Mapping[str, str]) -> DaemonFiles:
    """The files of the daemon that serves these settings."""
    config = options.config or environ.get("TOOLCRIB_CONFIG", "")
    variables = {
        name: value
        for name, value in environ.items()
        if name.startswith(PREFIX)
        and name not in {KEY_VARIABLE, RUN_FOLDER_VARIABLE, "TOOLCRIB_CONFIG"}
    }
    homes = {name: environ[name] for name in HOMES if environ.get(name)}
    files = [os.path.abspath(path) for path in options.mcp_config]
    origin = [os.path.abspath(config) if config else "", files, variables, homes]
    text = json.dumps(origin, sort_keys=True).encode()
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
