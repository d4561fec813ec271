"""The first line of a shim, and the answer: who comes, for which profile, and whether that is fine.

After them both sides speak what the client speaks on stdio, line by line.
"""

import json
import os
import socket
from collections.abc import Mapping

from toolcrib.connect.place import KEY, NoDaemon, Place, read_runtime

PROTOCOL = 1
MOST_BYTES = 8 * 1024
ANSWER_S = 15.0


class Refused(NoDaemon):
    """The daemon is there and does not serve us. Starting another would not help."""


def said_hello(place: Place, profile: str, environ: Mapping[str, str]) -> socket.socket | None:
    """A connection that the daemon has welcomed; None if no daemon is there. Raises `Refused`."""
    runtime = read_runtime(place)
    if runtime is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(ANSWER_S)
    try:
        connection.connect(runtime.socket)
        hello = {"toolcrib": PROTOCOL, "profile": profile, "pid": os.getpid()}
        if environ.get(KEY):
            hello["key"] = environ[KEY]
        connection.sendall(json.dumps(hello).encode() + b"\n")
        problem = _answer(connection)
    except OSError:
        connection.close()
        return None
    if problem:
        connection.close()
        raise Refused(problem)
    connection.settimeout(None)
    return connection


def _answer(connection: socket.socket) -> str:
    """Why it was refused; empty if it was not. Raises `OSError` if there was no answer."""
    line = b""
    while not line.endswith(b"\n"):
        # Byte by byte past the first few would be slow; the daemon says nothing more unasked.
        more = connection.recv(MOST_BYTES)
        if not more or len(line) > MOST_BYTES:
            raise OSError("the daemon hung up")
        line += more
    match json.loads(line):
        case {"toolcrib": 1, "error": str(problem)}:
            return problem
        case {"toolcrib": 1}:
            return ""
        case _:
            return "another version of the daemon runs; stop it: `toolcrib gateway stop`"
