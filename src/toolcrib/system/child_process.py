"""A child process behind the launcher: started without a shell, ended with all that it started.

The launcher ends what it has started by its place in the tree of processes. A command that kills
the launcher is in no such place any more. So a mark goes into the environment of what is launched,
and on to whatever that starts: by the mark it is found when all else is lost.

The launcher needs Unix. Elsewhere the command is started by itself, and the tree below it is ended.
"""

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolcrib.system.process_tree import LAUNCHER, PROC, descendants, kill_all, whole_tree

END_S = 5.0  # for the launcher to end it, politely and then not
POLL_S = 0.01
LAUNCH_VARIABLE = "TOOLCRIB_LAUNCHED"
MOST_LOOKS = 100


class ChildProcess:
    """A running process. Our ends of its pipes are at `popen`. Whoever holds it ends it.

    `finish_s` is for a process that installs something first, and must not be ended in the middle
    of that. Until `settle` is called, `end` leaves it to finish by itself, for that long at most.
    """

    def __init__(  # noqa: PLR0913 - what a process is started with, the last three by name
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        *,
        stdin: int = subprocess.DEVNULL,
        stderr: int = subprocess.STDOUT,
        finish_s: float = 0.0,
    ) -> None:
        """Start it. Raises `OSError`, also where there is no such command."""
        by_path, self._mark = _by_path(command, env, cwd), secrets.token_hex(16)
        self._settled = not (finish_s and _has_launcher())
        watched, self._leash = os.pipe()
        pipes = _Pipes(stderr, shared=not self._settled)
        try:
            before, options = (
                _behind_launcher(watched, finish_s, pipes.shared) if _has_launcher() else ((), {})
            )
            self.popen = _popen()(  # what the operator configured, no shell
                [*before, *by_path],
                stdin=stdin,
                stdout=pipes.stdout,
                stderr=pipes.stderr,
                bufsize=0,
                env={**env, LAUNCH_VARIABLE: self._mark},
                cwd=cwd,
                **options,
            )
            pipes.hand_to(self.popen)
        except BaseException:
            self._drop_leash()
            raise
        finally:
            pipes.close()
            os.close(watched)

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self.popen.poll()

    def settle(self) -> None:
        """The install is over: from now on `end` ends the process at once."""
        if not self._settled:
            self._settled = True
            with suppress(OSError):
                os.write(self._leash, b".")

    async def exits(self, within_s: float) -> bool:
        """Wait for it to exit by itself; whether it has."""
        until = asyncio.get_running_loop().time() + within_s
        while self.status is None:
            if asyncio.get_running_loop().time() > until:
                return False
            await asyncio.sleep(POLL_S)
        return True

    async def end(self, *, patience_s: float = 0.0) -> None:
        """End it and all below it. It has `patience_s` to exit by itself first. Leaves no zombie.

        A process that is still installing is left to the launcher, and reaped when it ends.
        """
        if not self._settled and self.status is None:
            if self._leash >= 0:
                self._drop_leash()
                threading.Thread(target=self.popen.wait, daemon=True).start()
            return
        below = descendants(self.popen.pid)
        if not await self.exits(patience_s):
            below = descendants(self.popen.pid)
            self._drop_leash()
            if not await self.exits(END_S if _has_launcher() else 0.0):
                self._kill()
                await self.exits(END_S)
        if (self.status or 0) < 0:
            self._kill()  # somebody killed the launcher: what was below it may still be there
        kill_all(below)
        self._drop_leash()

    def _kill(self) -> None:
        if not _has_launcher():
            kill_all(whole_tree(self.popen.pid))
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        _end_marked(self._mark)

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


class _Pipes:
    """The output and the errors of a process that is about to start.

    Shared ones have reading ends that the launcher keeps as well, in `shared`: a process that
    finishes without us can then go on writing.
    """

    def __init__(self, stderr: int, *, shared: bool) -> None:
        self.stdout: int = subprocess.PIPE
        self.stderr = stderr
        self.shared: tuple[int, ...] = ()
        self._written: tuple[int, ...] = ()
        if shared:
            out, self.stdout = os.pipe()
            self.shared, self._written = (out,), (self.stdout,)
            if stderr == subprocess.PIPE:
                errors, self.stderr = os.pipe()
                self.shared, self._written = (out, errors), (self.stdout, self.stderr)

    def hand_to(self, popen: "subprocess.Popen[bytes]") -> None:
        """Let the process have its reading ends, as if it had made them itself."""
        ends = [open(each, "rb", buffering=0) for each in self.shared]  # noqa: PTH123, SIM115 - descriptors
        self.shared = ()
        if ends:
            popen.stdout = ends[0]
        if len(ends) > 1:
            popen.stderr = ends[1]

    def close(self) -> None:
        """Close all that nobody has taken."""
        for each in (*self.shared, *self._written):
            os.close(each)


def _behind_launcher(
    watched: int, finish_s: float, streams: Sequence[int]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The words before a command that make the launcher start it, and the options of `Popen`."""
    finishing = (str(finish_s), *map(str, streams)) if streams else ()
    words = (sys.executable, "-I", "-S", str(LAUNCHER), str(watched), *finishing, "--")
    return words, {"pass_fds": (watched, *streams), "start_new_session": True}


def _by_path(command: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Sequence[str]:
    """The command with the full path of its program, found by its own PATH and folder."""
    name = command[0]
    placed = str(Path(cwd or ".", name)) if os.sep in name else name
    path = shutil.which(placed, path=env.get("PATH", os.defpath))
    if path is None:
        raise FileNotFoundError(2, "there is no such command", name)
    return (str(Path(path).absolute()), *command[1:])


def _end_marked(mark: str) -> None:
    """Kill all that have the mark, and what they start meanwhile."""
    for _ in range(MOST_LOOKS):
        pids = list(_marked(f"{LAUNCH_VARIABLE}={mark}".encode()))
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not pids:
            return


def _marked(mark: bytes) -> Iterator[int]:
    """The processes with this in their environment. One that has ended has no environment."""
    if not PROC.is_dir():
        yield from _marked_elsewhere(mark.decode())
        return
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):  # another user's, or it has ended meanwhile
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)


def _marked_elsewhere(mark: str) -> Iterator[int]:
    import psutil  # noqa: PLC0415 - few systems need it

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            name, _, value = mark.partition("=")
            if process.environ().get(name) == value:
                yield process.pid
