"""The first replies of a gateway, kept for the next start, when it is still loading.

A client waits for `initialize` (or `server/discover`) and `tools/list` before it does anything
else. With fixed tools these replies are the same at every start, while loading the pool takes a
while. So the gateway keeps them (`gateway/surface_recorder.py`), and they are given from here until
it is there. They count only if all files are as they were then: settings, servers, and our own
code. The gateway gets the same requests and answers them too; that answer is not sent, and if it
lists other tools the client is told that the list has changed.
"""

import json
import os
import stat
from collections.abc import Mapping
from typing import cast

from toolcrib.connect.daemon_files import KEY_VARIABLE, DaemonFiles

FIRST_METHODS = frozenset({"initialize", "server/discover", "tools/list"})
MOST_BYTES = 4 * 1024 * 1024
SHARED_VARIABLE = "ENABLE_TOOL_SEARCH"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


class FirstRequests:
    """Names the first requests of one connection: requests of one name have the same reply."""

    def __init__(self) -> None:
        self._opened: tuple[object, object] | None = None

    def name(self, method: str, params: object) -> str:
        """Its name; empty for a request whose reply is not kept."""
        given = _object(params)
        version = _object(given.get("_meta")).get(VERSION_KEY)
        if method == "initialize":
            self._opened = (
                given.get("protocolVersion"),
                _object(given.get("clientInfo")).get("name"),
            )
            return json.dumps([method, *self._opened])
        if method not in FIRST_METHODS or given.get("cursor") is not None:
            return ""
        if version is not None:
            return json.dumps([method, version])
        return json.dumps([method, *self._opened]) if self._opened else ""


class FirstReplies:
    """What is kept for one client. There is nothing for one with a key: it may be removed by now.

    Nor where a variable says what is listed by which no daemon is found.

    `given` are the results that the client has of us, by the id of the request as JSON.
    """

    def __init__(self, files: DaemonFiles, profile: str, environ: Mapping[str, str]) -> None:
        self._files, self._profile = files, profile
        self._has_none = any(environ.get(each) for each in (KEY_VARIABLE, SHARED_VARIABLE))
        self._requests = FirstRequests()
        self._kept: dict[str, object] | None = None
        self.given: dict[str, object] = {}

    def reply(self, line: bytes) -> bytes:
        """The reply to a request on a line, with its end; empty where none is kept."""
        try:
            request = _object(json.loads(line))
        except (ValueError, RecursionError):
            return b""
        id, method = request.get("id"), request.get("method")
        if method not in FIRST_METHODS or not isinstance(id, int | str):
            return b""
        result = self._find(self._requests.name(str(method), request.get("params")))
        if result is None or json.dumps(id) in self.given:
            return b""
        self.given[json.dumps(id)] = result
        reply = {"jsonrpc": "2.0", "id": id, "result": result}
        return json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def lists_others(self, id: str, result: object) -> bool:
        """Whether the gateway's own result, which is not sent, lists other tools than ours."""
        given = self.given.pop(id, None)
        return _object(given).get("tools") != _object(result).get("tools")

    def _find(self, name: str) -> object:
        if self._kept is None:
            kept = {} if self._has_none else read_surface(self._files)
            self._kept = _object(_object(kept.get("replies")).get(self._profile))
        return self._kept.get(name) if name else None


def read_surface(files: DaemonFiles) -> dict[str, object]:
    """All that is kept for these settings; nothing if a file is another than it was."""
    try:
        descriptor = os.open(files.surface, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if facts.st_uid != os.getuid() or stat.S_IMODE(facts.st_mode) & 0o077:
                return {}
            kept = _object(json.loads(file.read(MOST_BYTES)))
    except (OSError, ValueError, RecursionError):
        return {}
    stamps = _object(kept.get("files"))
    if not stamps or any(file_stamp(path) != stamp for path, stamp in stamps.items()):
        return {}
    return kept


def file_stamp(path: str) -> list[int] | None:
    """What tells one content of a file from another; None if there is no file."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns]


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
