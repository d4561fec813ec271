"""The folder of the daemon's runtime files. Standard library alone: the shim reads it too."""

import os
from collections.abc import Mapping

RUN_FOLDER_VARIABLE = "TOOLCRIB_RUN_FOLDER"


def run_folder(environ: Mapping[str, str]) -> str:
    """The user's folder for files that last as long as the machine is up.

    XDG_RUNTIME_DIR is not asked: clients hide it from what they launch, so the shim and the daemon
    would look in different folders.
    """
    named = environ.get(RUN_FOLDER_VARIABLE)
    return os.path.abspath(named) if named else _usual()[0]


def run_folders(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every folder that a daemon of this user may have its files in, whoever started it."""
    return tuple(dict.fromkeys((run_folder(environ), *_usual())))


def _usual() -> tuple[str, ...]:
    """The folders that are used when the environment names none, the best first."""
    if not hasattr(os, "getuid"):  # no Unix, and so no daemon
        return (os.path.join(os.path.expanduser("~"), ".toolcrib-run"),)
    owner = os.getuid()
    of_system = f"/run/user/{owner}"
    temporary = f"/tmp/toolcrib-{owner}"  # noqa: S108 - made 0700, and refused if it is not ours
    is_there = os.path.isdir(of_system) and os.stat(of_system).st_uid == owner
    return (os.path.join(of_system, "toolcrib"), temporary) if is_there else (temporary,)
