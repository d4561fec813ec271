"""Run as a program: `toolcrib` on a system without what only Unix has, as far as ours can tell.

The standard library of this system needs `fcntl` itself, so it is hidden from our own modules, and
from the package that locks files for us; names that others do not need are gone for everybody.
"""

import builtins
import os
import sys
from typing import Any

HIDDEN = frozenset({"fcntl", "grp", "pwd", "resource", "termios"})
FROM = ("toolcrib", "filelock")
GONE = ("fork", "getuid", "killpg", "posix_spawnp", "setsid")

_import = builtins.__import__


def _importing(name: str, *others: Any, **named: Any) -> object:
    scope = others[0] if others else named.get("globals")
    importer = str((scope or {}).get("__name__", ""))
    if name in HIDDEN and importer.partition(".")[0] in FROM:
        raise ImportError(f"there is no {name} here")
    return _import(name, *others, **named)


def hide() -> None:
    """From now on."""
    builtins.__import__ = _importing
    for name in GONE:
        delattr(os, name)


if __name__ == "__main__":
    import asyncio
    import subprocess

    assert asyncio
    assert subprocess
    hide()
    from toolcrib.cli import main

    sys.argv[0] = "toolcrib"
    main()
