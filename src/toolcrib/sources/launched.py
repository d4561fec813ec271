"""A process behind the launcher: started without a shell, and ended with all that it started.

The launcher needs Unix. Elsewhere the command is started by itself, and the tree below it is ended.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolcrib.sources import process_tree
from toolcrib.sources.launch_mark import VARIABLE, end_marked, new_mark

LAUNCHER = Path(__file__).with_name("launcher.py")
END_S = 5.0  # for the launcher to end it, politely and then not
POLL_S = 0.01


class Launched:
    """A running process, whose end of the pipes is at `popen`. Whoever holds it ends it."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        *,
        stdin: int = subprocess.DEVNULL,
        stderr: int = subprocess.STDOUT,
    ) -> None:
        """Start it. Raises `OSError`, also where there is no such command."""
        found, self._mark = _found(command, env, cwd), new_mark()
        watched, self._leash = os.pipe()
        try:
            before, how = _behind_launcher(watched) if _has_launcher() else ((), {})
            self.popen = _popen()(  # what the operator configured, no shell
                [*before, *found],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
                env={**env, VARIABLE: self._mark},
                cwd=cwd,
                **how,
            )
        except BaseException:
            self._drop_leash()
            raise
        finally:
            os.close(watched)

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self.popen.poll()

    async def exits(self, within_s: float) -> bool:
        """Whether it has exited by itself when the time is up, or before."""
        until = asyncio.get_running_loop().time() + within_s
        while self.status is None:
            if asyncio.get_running_loop().time() > until:
                return False
            await asyncio.sleep(POLL_S)
        return True

    async def end(self, *, patience_s: float = 0.0) -> None:
        """End it and all below it, unless it exits in that time. Leaves no zombie."""
        below = process_tree.below(self.popen.pid)
        if not await self.exits(patience_s):
            below = process_tree.below(self.popen.pid)
            self._drop_leash()
            if not await self.exits(END_S if _has_launcher() else 0.0):
                self._kill()
                await self.exits(END_S)
        if (self.status or 0) < 0:
            self._kill()  # somebody killed the launcher: what was below it may still be there
        process_tree.end(below)
        self._drop_leash()

    def _kill(self) -> None:
        if not _has_launcher():
            process_tree.end(process_tree.tree(self.popen.pid))
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        end_marked(self._mark)

    def _drop_leash(self) -> None:
        leash, self._leash = self._leash, -1
        if leash >= 0:
            os.close(leash)


def _popen() -> "type[subprocess.Popen[bytes]]":
    """The kind whose pipes an event loop can read."""
    if sys.platform == "win32":
        from asyncio.windows_utils import Popen  # noqa: PLC0415 - there alone

        return Popen
    return subprocess.Popen


def _has_launcher() -> bool:
    """Whether this system has sessions, and signals to all of a session."""
    return hasattr(os, "killpg")


def _behind_launcher(watched: int) -> tuple[tuple[str, ...], dict[str, Any]]:
    """What stands before a command for the launcher to start it, and how the launcher starts."""
    words = (sys.executable, "-I", "-S", str(LAUNCHER), str(watched), "--")
    return words, {"pass_fds": (watched,), "start_new_session": True}


def _found(command: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Sequence[str]:
    """The command by its path, looked up as its own environment and its own folder say."""
    name = command[0]
    placed = str(Path(cwd or ".", name)) if os.sep in name else name
    path = shutil.which(placed, path=env.get("PATH", os.defpath))
    if path is None:
        raise FileNotFoundError(2, "there is no such command", name)
    return (str(Path(path).absolute()), *command[1:])
