"""The operator's end of the operator's socket: what the command line asks a running daemon."""

import json
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from toolcrib.connect import NEEDS_UNIX, DaemonFiles, can_have_daemon, read_daemon_info
from toolcrib.errors import ConfigError
from toolcrib.model import Json

ANSWER_S = 300.0
"""Longer than any deed is silent: to reload, servers are stopped and settings are read."""
MOST_ANSWER = 16 * 1024 * 1024
CONNECT_S = 5.0


def _ignore(_news: Json) -> None:
    return


def is_daemon_running(place: DaemonFiles) -> bool:
    """Whether there is a daemon to ask."""
    runtime = read_daemon_info(place)
    if runtime is None:
        return False
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(CONNECT_S)
        connection.connect(runtime.operator)
        return True
    return False


def ask_operator(
    place: DaemonFiles, do: str, hear: Callable[[Json], None] = _ignore, /, **more: Json
) -> Json:
    """Ask the running daemon; `hear` is called with what it says on the way.

    Raises `ConfigError`: there is none, or it said no.
    """
    if not can_have_daemon():
        raise ConfigError(NEEDS_UNIX)
    runtime = read_daemon_info(place)
    if runtime is None:
        raise ConfigError("no gateway of these settings runs; start it with `toolcrib serve`")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_S)
            connection.connect(runtime.operator)
            connection.sendall(json.dumps({"do": do, **more}).encode() + b"\n")
            with connection.makefile("rb") as answers:
                answer = _answer(answers, hear)
    except TimeoutError as error:
        told = f"the gateway (process {runtime.pid}) is not done with `{do}` after {ANSWER_S:.0f} s"
        raise ConfigError(
            f"{told}; it goes on: see `toolcrib gateway status` and its log"
        ) from error
    except OSError as error:
        told = f"the gateway (process {runtime.pid}) does not answer: {error}"
        raise ConfigError(f"{told}; if it is gone, start it with `toolcrib serve`") from error
    match answer:
        case {"done": done}:
            return done
        case {"error": str(problem)}:
            raise ConfigError(problem)
        case _:
            told = f"the gateway (process {runtime.pid}) hung up without an answer to `{do}`"
            raise ConfigError(f"{told}; see its log, or restart it with `toolcrib gateway stop`")


def _answer(lines: BinaryIO, hear: Callable[[Json], None]) -> Json:
    """The last line, once all others are told."""
    while True:
        match _read(lines.readline(MOST_ANSWER)):
            case {"told": news}:
                hear(news)
            case answer:
                return answer


def _read(line: bytes) -> Json:
    """The answer on a line; None where there is none."""
    try:
        return json.loads(line)
    except ValueError:
        return None
