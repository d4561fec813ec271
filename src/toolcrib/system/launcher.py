"""Starts one command and sees to it that nothing of it outlives whoever asked for it.

    python -I -S launcher.py FD [FINISH_S OUTPUT ERRORS] -- COMMAND [ARGUMENT...]

FD is the reading end of a pipe whose other end the asker holds: when the asker closes it, or dies,
the command and all that it started are ended, first politely. The same happens to what the command
leaves behind when it exits by itself. The command has our standard streams; we keep none of them,
so that they end when it ends. The exit status is the command's.

A command that installs something first must not be ended in the middle of that: what it leaves half
unpacked stays broken. With FINISH_S it has that many seconds to end by itself when the asker is
gone, unless the asker has written to FD by then: that says the install is over. OUTPUT and ERRORS
are the reading ends of its streams, so that it can go on writing meanwhile.

    asker ──> guardian ──> parent ──> command ──> whatever it starts

There are two of us, for a command may kill its own parent. Both adopt what is orphaned below them,
both hold the pipe, and each ends everything when the other is gone. Each is in a process group of
its own, and so is the command: a signal to the command's group reaches neither.

A program of its own, with nothing but the standard library: it starts for every server.
"""

import array
import fcntl
import os
import select
import signal
import sys
import termios
import time

GRACE_S = 1.0
KILL_S = 2.0
LOOK_S = 1.0
NOT_STARTED = 127
_PR_SET_CHILD_SUBREAPER = 36


def main(arguments: list[str]) -> int:
    """Run until the command or its asker is gone; the status to exit with."""
    at = arguments.index("--")
    options, command = arguments[:at], arguments[at + 1 :]
    ours, *finishing = options
    finish_s, streams = float(*finishing[:1] or [0]), [*map(int, finishing[1:])]
    pipe = int(ours)
    for descriptor in (pipe, *streams):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - that is its signature
    asker, guardian = os.getppid(), os.getpid()
    woken = _prepared()
    parent = os.fork()
    if parent:
        _let_go_of_streams()
        return _guard(parent, _Asker(pipe, asker, finish_s, streams), woken)
    os.setsid()
    woken = _prepared()
    try:
        child = os.posix_spawnp(command[0], command, os.environ, setpgroup=0)
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]!r}: {error.strerror}\n")
        return NOT_STARTED
    _let_go_of_streams()
    return _guard(child, _Asker(pipe, guardian, finish_s, streams), woken)


def _prepared() -> int:
    """Be ready for orphans and for signals, before there can be any; see `_wake_on`."""
    _adopt_orphans()
    return _wake_on(signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class _Asker:
    """Whoever asked: the pipe to them, their process, and what they want finished all the same."""

    def __init__(self, pipe: int, pid: int, finish_s: float, streams: list[int]) -> None:
        self.pipe = pipe
        self.pid = pid
        self.finish_s = finish_s
        self.streams = streams

    def left_work(self) -> bool:
        """Whether they went before they said that the install is over; nobody reads the word."""
        unread = array.array("i", [0])
        fcntl.ioctl(self.pipe, termios.FIONREAD, unread)
        return self.finish_s > 0 and not unread[0]


def _guard(child: int, asker: _Asker, woken: int) -> int:
    """Wait for the end of the child or of the asker, then end all below us."""
    status = _wait(child, asker, woken)
    _end_all(child)
    return status


def _wait(child: int, asker: _Asker, woken: int) -> int:
    """Until the child exits (its status), the asker is gone, or a signal says so (128)."""
    poll = select.poll()
    poll.register(asker.pipe, select.POLLHUP)
    poll.register(woken, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll(LOOK_S * 1000)}
        signals = os.read(woken, 4096) if woken in ready else b""
        status = _reap(child)
        if status is not None:
            return status
        if set(signals) - {signal.SIGCHLD}:
            return 128
        if asker.pipe in ready:
            return _finish(child, asker, woken) if asker.left_work() else 128
        if os.getppid() != asker.pid:
            return 128


def _finish(child: int, asker: _Asker, woken: int) -> int:
    """Until the child exits (its status), its time is over, or a signal says so (128)."""
    until = time.monotonic() + asker.finish_s
    poll = select.poll()
    for descriptor in (woken, *asker.streams):
        os.set_blocking(descriptor, False)
        poll.register(descriptor, select.POLLIN)
    while (left := until - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(min(left, LOOK_S) * 1000):
            if descriptor == woken:
                if set(os.read(woken, 4096)) - {signal.SIGCHLD}:
                    return 128
            elif not _drained(descriptor):
                poll.unregister(descriptor)
        status = _reap(child)
        if status is not None:
            return status
    return 128


def _drained(stream: int) -> bool:
    """Read what there is, for nobody; whether there may be more."""
    try:
        return bool(os.read(stream, 65536))
    except BlockingIOError:
        return True  # the other one of us has read it
    except OSError:
        return False


def _reap(child: int) -> int | None:
    """Collect all that have exited; the child's status if it is among them."""
    status = None
    while True:
        try:
            pid, raw = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == child:
            code = os.waitstatus_to_exitcode(raw)
            status = code if code >= 0 else 128 - code


def _end_all(child: int) -> None:
    """End everything that is still below us: asked first, then made to."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for number, patience in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, KILL_S)):
        until = time.monotonic() + patience
        while _children_left():
            _send(number, child)
            if time.monotonic() > until:
                break
            time.sleep(0.01 if number == signal.SIGKILL else 0.05)


def _children_left() -> bool:
    """Whether anything runs below us; what has exited is collected on the way."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _send(number: int, child: int) -> None:
    """Signal all that is below us; the child's group where the system does not list it."""
    below = _descendants()
    for pid in below:
        try:
            os.kill(pid, number)
        except OSError:
            continue
    if not below:
        try:
            os.killpg(child, number)
        except OSError:
            return


def _descendants() -> list[int]:
    """Every process below us, by /proc; empty where there is none."""
    parents: dict[int, int] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - pathlib is slow to import, and this starts often
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - the same
                    parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
    return [pid for pid in parents if _is_below(pid, parents)]


def _is_below(pid: int, parents: dict[int, int]) -> bool:
    us = os.getpid()
    while (pid := parents.get(pid, 0)) > 1:
        if pid == us:
            return True
    return False


def _adopt_orphans() -> None:
    """Become the parent of what the command leaves behind, even of what left its group (Linux)."""
    try:
        import ctypes  # noqa: PLC0415 - not there on every system

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def _wake_on(*signals: int) -> int:
    """A descriptor to read the numbers of these signals from, as they come."""
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    for number in signals:
        signal.signal(number, lambda _number, _frame: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    return woken


def _let_go_of_streams() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
