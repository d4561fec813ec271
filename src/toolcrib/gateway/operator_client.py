"""The operator's end of the operator's socket: the command line asks a running daemon.

`ask_daemon` is for what only a daemon can do. `query_daemon` and `call_by_daemon` are for what a
command can do itself: they give up soon and quietly, and nothing is lost.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from toolcrib import errors
from toolcrib.connect import NEEDS_UNIX, DaemonFiles, DaemonInfo, can_have_daemon
from toolcrib.errors import ConfigError

if TYPE_CHECKING:
    from toolcrib.model import Json, JsonObject

ANSWER_S = 300.0
"""Longer than any handler is silent: a reload stops servers and reads settings."""
MOST_ANSWER = 256 * 1024 * 1024
CONNECT_S = 5.0
ALIVE_S = 1.0
"""How often a daemon that answers a command says that it is at it."""
SILENT_S = 5.0
"""A daemon that says nothing for so long is left alone, and the command does the work itself."""
LOST_S = 60.0
"""The same of a call: then nobody knows how it ended."""
MOST_S = 60.0
"""So long a command waits for an answer at most, whatever the daemon says meanwhile."""
AT_ONCE, AT_ONCE_S = frozenset({"status", "stop"}), 10.0
"""What a daemon answers at once, unless it hangs, or was stopped by a signal."""
DECLINED: "JsonObject" = {"declined": True}
SHARED_VARIABLES = ("ENABLE_TOOL_SEARCH",)
"""Variables that the settings read, and that no daemon is found by."""
LOST = (
    "the gateway ended, or fell silent, before it told how the call went; whether it took effect is"
    " not known: look before you call again"
)

OnProgress = Callable[[Any], None]
Approve = Callable[[Mapping[str, Any]], bool]
"""Asks a person about one call: its name, description, kind and arguments."""


def _ignore(_progress: object) -> None:
    return


class Environment(NamedTuple):
    """What of the environment decides what a command says.

    The values of `SHARED_VARIABLES`, and the names of all that are set: servers refer to some. The
    values of others stay where they are.
    """

    values: Mapping[str, str | None]
    names: tuple[str, ...]

    @classmethod
    def of_process(cls) -> Self:
        """That of this process."""
        values = {name: os.environ.get(name) for name in SHARED_VARIABLES}
        return cls(values, tuple(sorted(name for name, text in os.environ.items() if text)))

    @classmethod
    def of_json(cls, given: Any) -> Self:  # noqa: ANN401 - what a command sends
        """That of a command; one that is not described is like none."""
        match given:
            case {"values": dict(), "names": list()}:
                return cls(given["values"], tuple(map(str, given["names"])))
            case _:
                return cls({}, ())


def is_daemon_running(files: DaemonFiles) -> bool:
    """Whether there is a daemon to ask."""
    info = files.read_info()
    if info is None:
        return False
    with suppress(OSError), _connected(info, CONNECT_S):
        return True
    return False


def ask_daemon(
    files: DaemonFiles, do: str, on_progress: OnProgress = _ignore, /, **more: "Json"
) -> "Json":
    """Ask the running daemon. `on_progress` is called with what it reports meanwhile.

    Raises `ConfigError` if there is none, or if it refuses.
    """
    if not can_have_daemon():
        raise ConfigError(NEEDS_UNIX)
    info, patience_s = files.read_info(), AT_ONCE_S if do in AT_ONCE else ANSWER_S
    if info is None:
        raise ConfigError(
            "a gateway of these settings is starting; ask again in a moment"
            if _is_starting(files)
            else "no gateway of these settings runs; start it with `toolcrib serve`"
        )
    try:
        with _connected(info, patience_s) as connection:
            _send(connection, {"do": do, **more})
            with closing(_lines(connection)) as lines:
                answer = _answer(lines, on_progress)
    except TimeoutError as error:
        problem = f"the gateway (process {info.pid}) is not done with `{do}` after {patience_s:g} s"
        todo = f"was it stopped? Continue it, `kill -CONT {info.pid}`, or end it, `kill {info.pid}`"
        if do not in AT_ONCE:
            todo = "it goes on: see `toolcrib gateway status` and its log"
        raise ConfigError(f"{problem}; {todo}") from error
    except OSError as error:
        problem = f"the gateway (process {info.pid}) does not answer: {error}"
        raise ConfigError(f"{problem}; if it is gone, start it with `toolcrib serve`") from error
    match answer:
        case {"done": done}:
            return done
        case {"error": str(problem)}:
            raise ConfigError(problem)
        case _:
            problem = f"the gateway (process {info.pid}) hung up without an answer to `{do}`"
            raise ConfigError(f"{problem}; see its log, or restart it with `toolcrib gateway stop`")


def _is_starting(files: DaemonFiles) -> bool:
    """Whether a process has the lock that has not said yet where it is."""
    from fcntl import LOCK_NB, LOCK_SH, flock  # noqa: PLC0415 - there is Unix, as was seen before

    with suppress(FileNotFoundError), Path(files.lock).open("rb") as lock:
        try:
            flock(lock, LOCK_SH | LOCK_NB)
        except BlockingIOError:
            return True
    return False


def query_daemon(
    files: DaemonFiles, do: str, on_progress: OnProgress = _ignore, /, **more: "Json"
) -> "JsonObject | None":
    """What the running daemon answers a command; None if the command has to do the work itself.

    That is so if none runs, or one of another version, if it declines, hangs up or is silent.
    """
    with suppress(OSError), _of_our_version(files) as connection:
        if connection is not None:
            _send(connection, {"do": do, "environment": Environment.of_process()._asdict(), **more})
            with closing(_lines(connection)) as lines:
                answer = _answer(_until(MOST_S, lines), on_progress)
            match answer:
                case {"done": dict(done)} if done != DECLINED:
                    return done
                case _:
                    return None
    return None


def watch_daemon(files: DaemonFiles) -> Generator[Mapping[str, Any]]:
    """What happens at the running daemon, from now on: `events`, and how many were `skipped`.

    Something comes every `ALIVE_S`. It ends when the daemon does, at once if none runs, or one that
    knows no such request. Raises `OSError` if it falls silent.
    """
    info = files.read_info()
    if info is None:
        return
    with _connected(info, SILENT_S) as connection:
        _send(connection, {"do": "watch"})
        with closing(_lines(connection)) as lines:
            for line in lines:
                match line:
                    case {"told": dict(told)}:
                        yield told
                    case _:
                        return


def call_by_daemon(
    files: DaemonFiles,
    do: str,
    on_ready: Callable[[Mapping[str, Any]], None],
    approve: Approve | None,
    **more: "Json",
) -> "JsonObject | None":
    """The outcome of a call or a program at the running daemon; None if it makes none, for sure.

    `do` is "call" or "run". `on_ready` is called before a tool may be reached, with what there is
    to warn of; `approve` is asked where the rules want a person's leave. Once the daemon was told
    to go, there is an outcome: if it does not come, it is one that says so. Raises what a crib
    would raise.
    """
    with suppress(OSError), _of_our_version(files) as connection:
        if connection is not None:
            asks = approve is not None
            _send(
                connection,
                {
                    "do": do,
                    "environment": Environment.of_process()._asdict(),
                    "asks": asks,
                    **more,
                },
            )
            with closing(_lines(connection)) as lines:
                match next(lines, None):
                    case {"told": {"ready": dict(about)}}:
                        on_ready(about)
                        return _call_outcome(connection, lines, approve, do)
                    case _:
                        return None
    return None


def _call_outcome(
    connection: socket.socket, lines: Iterator["Json"], approve: Approve | None, do: str
) -> "JsonObject | None":
    """Let the call be made, and answer what is asked meanwhile."""
    with suppress(OSError):
        _send(connection, {"go": True})
        connection.settimeout(LOST_S)
        for line in lines:
            match line:
                case {"told": {"approve": dict(asked)}}:
                    _send(connection, {"approved": approve is not None and approve(asked)})
                case {"told": _}:
                    continue
                case {"done": {"outcome": dict(outcome)}}:
                    return outcome
                case {"done": {"error": str(problem), "error_kind": str(kind)}}:
                    raise getattr(errors, kind, errors.ToolcribError)(problem)
                case {"done": {"declined": True}}:
                    return None  # it was told too late, and has done nothing
                case _:
                    break
    return _lost(do)


def _lost(do: str) -> "JsonObject":
    """The outcome of a call, or of a program, that nobody knows the outcome of."""
    from toolcrib.model import CallError, Outcome  # noqa: PLC0415 - seldom, and no small thing
    from toolcrib.program import ProgramOutcome  # noqa: PLC0415 - the same

    made = ProgramOutcome if do == "run" else Outcome
    return asdict(made(error=CallError("connection_lost", "call", LOST, effect="unknown")))


def installed_version() -> str:
    """Our version, by the name of the folder with our metadata.

    `importlib.metadata` finds the same, and takes as long to load as all else that is done here.
    """
    for place in sys.path:
        for folder in Path(place).glob("toolcrib-*.dist-info"):
            return folder.stem.removeprefix("toolcrib-")
    return ""


@contextmanager
def _of_our_version(files: DaemonFiles) -> Generator[socket.socket | None]:
    """A connection to the running daemon; None if there is none, or one of another version."""
    info = files.read_info()
    if info is None or info.version != installed_version():
        yield None
        return
    with _connected(info, SILENT_S) as connection:
        yield connection


@contextmanager
def _connected(info: DaemonInfo, timeout_s: float) -> Generator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        connection.connect(info.operator)
        try:
            yield connection
        finally:
            with suppress(OSError):  # the other side hears of it, whoever still holds this one
                connection.shutdown(socket.SHUT_RDWR)


def _send(connection: socket.socket, message: Mapping[str, "Json"]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


def _lines(connection: socket.socket) -> Generator["Json"]:
    """What the other side says, until it hangs up; None for what cannot be read."""
    with connection.makefile("rb") as lines:
        while line := lines.readline(MOST_ANSWER):
            try:
                yield json.loads(line)
            except ValueError:
                yield None


def _until(most_s: float, lines: Iterator["Json"]) -> Iterator["Json"]:
    """The same, for so long at most."""
    end = time.monotonic() + most_s
    for line in lines:
        yield line
        if time.monotonic() > end:
            return


def _answer(lines: Iterator["Json"], on_progress: OnProgress) -> "Json":
    """The last line; all before it are progress. None if there is no last one."""
    for line in lines:
        match line:
            case {"told": progress}:
                on_progress(progress)
            case answer:
                return answer
    return None
