"""The operator's end of the operator's socket: what the command line asks a running daemon."""

import json
import socket

from toolcrib.connect.place import NEEDS_UNIX, Place, can_have_daemon, read_runtime
from toolcrib.errors import ConfigError
from toolcrib.model import Json

ANSWER_S = 60.0
MOST_ANSWER = 16 * 1024 * 1024


def ask(place: Place, do: str, **more: Json) -> Json:
    """Ask the running daemon. Raises `ConfigError`: there is none, or it said no."""
    if not can_have_daemon():
        raise ConfigError(NEEDS_UNIX)
    runtime = read_runtime(place)
    if runtime is None:
        raise ConfigError("no gateway of these settings runs; start it with `toolcrib serve`")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_S)
            connection.connect(runtime.operator)
            connection.sendall(json.dumps({"do": do, **more}).encode() + b"\n")
            with connection.makefile("rb") as answers:
                answer = json.loads(answers.readline(MOST_ANSWER))
    except (OSError, ValueError) as error:
        told = f"the gateway (process {runtime.pid}) does not answer: {error or 'it hung up'}"
        raise ConfigError(f"{told}; if it is gone, start it with `toolcrib serve`") from error
    match answer:
        case {"done": done}:
            return done
        case {"error": str(problem)}:
            raise ConfigError(problem)
        case _:
            raise ConfigError("the gateway gave no answer; restart it with `toolcrib gateway stop`")
