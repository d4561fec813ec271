"""The operator's end of the operator's socket: the command line asks a running daemon."""

import json
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from toolcrib.connect import NEEDS_UNIX, DaemonFiles, can_have_daemon
from toolcrib.errors import ConfigError
from toolcrib.model import Json

ANSWER_S = 300.0
"""Longer than any handler is silent: a reload stops servers and reads settings."""
MOST_ANSWER = 16 * 1024 * 1024
CONNECT_S = 5.0


def _ignore(_progress: Json) -> None:
    return


def is_daemon_running(files: DaemonFiles) -> bool:
    """Whether there is a daemon to ask."""
    info = files.read_info()
    if info is None:
        return False
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(CONNECT_S)
        connection.connect(info.operator)
        return True
    return False


def ask_daemon(
    files: DaemonFiles, do: str, on_progress: Callable[[Json], None] = _ignore, /, **more: Json
) -> Json:
    """Ask the running daemon. `on_progress` is called with what it reports meanwhile.

    Raises `ConfigError` if there is none, or if it refuses.
    """
    if not can_have_daemon():
        raise ConfigError(NEEDS_UNIX)
    info = files.read_info()
    if info is None:
        raise ConfigError("no gateway of these settings runs; start it with `toolcrib serve`")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_S)
            connection.connect(info.operator)
            connection.sendall(json.dumps({"do": do, **more}).encode() + b"\n")
            with connection.makefile("rb") as answers:
                answer = _answer(answers, on_progress)
    except TimeoutError as error:
        problem = f"the gateway (process {info.pid}) is not done with `{do}` after {ANSWER_S:.0f} s"
        raise ConfigError(
            f"{problem}; it goes on: see `toolcrib gateway status` and its log"
        ) from error
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


def _answer(lines: BinaryIO, on_progress: Callable[[Json], None]) -> Json:
    """The last line; all before it are progress."""
    while True:
        match _read(lines.readline(MOST_ANSWER)):
            case {"told": progress}:
                on_progress(progress)
            case answer:
                return answer


def _read(line: bytes) -> Json:
    """The answer on a line; None where there is none."""
    try:
        return json.loads(line)
    except ValueError:
        return None
