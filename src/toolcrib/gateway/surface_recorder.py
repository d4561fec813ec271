"""Keeps the first replies of the gateway for its next start: see `toolcrib.connect.first_replies`.

Only those that depend on the pool by no more than a summary: of clients that are listed the fixed
tools alone, and of the operator's own user. Where tools are listed by name, clients wait for the
pool.
"""

import json
import logging
from collections.abc import Callable, Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, TypeAlias, cast

import toolcrib
from toolcrib.connect import (
    FIRST_METHODS,
    DaemonFiles,
    FirstRequests,
    NoDaemon,
    file_stamp,
    read_surface,
)
from toolcrib.gateway import sdk
from toolcrib.gateway.code_tool_definitions import CODE_TOOLS
from toolcrib.gateway.file_watcher import FileStamps
from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS
from toolcrib.gateway.message_streams import MessageGate
from toolcrib.gateway.server import GatewayServer
from toolcrib.system import write_private_file

MOST_REPLIES = 64
_PACKAGES = ("toolcrib", "mcp")
_OUR_CODE = (
    "__init__.py",
    "gateway/code_tool_definitions.py",
    "gateway/fixed_tool_definitions.py",
    "gateway/instructions.py",
    "session/code_tools.py",
    "session/search_tool.py",
)
_LIST = "tools/list"
_FIXED = frozenset({*FIXED_TOOLS, *CODE_TOOLS})

Stamps: TypeAlias = Mapping[str, list[int] | None]

_log = logging.getLogger(__name__)


def _code_stamps() -> Stamps:
    """Those of the code that we are: another version may reply otherwise."""
    folder = Path(toolcrib.__file__).parent
    ours = [str(folder / name) for name in _OUR_CODE]
    for package in _PACKAGES:
        found = distribution(package)
        ours.append(str(found.locate_file(f"{package}-{found.version}.dist-info")))
    return {path: file_stamp(path) for path in ours}


class SurfaceFile:
    """The file of the replies. One that cannot be written is no error: the next start takes longer.

    `read` gives the files that everything was read from, as they were then.
    """

    def __init__(self, files: DaemonFiles, read: Callable[[], FileStamps]) -> None:
        self._files, self._read = files, read
        self._code = _code_stamps()

    def keep(self, profile: str, name: str, result: Mapping[str, Any] | None) -> None:
        """Keep this result of a request; None: keep none, for it depends on the pool."""
        kept, stamps = cast("dict[str, Any]", read_surface(self._files)), self._stamps()
        now: dict[str, Any] = kept["replies"] if kept.get("files") == stamps else {}
        replies: dict[str, Any] = dict(now.get(profile, {}))
        if replies.pop(name, None) == result:
            return
        if result is not None:
            replies[name] = result
        newest = dict(list(replies.items())[-MOST_REPLIES:])
        self._write({"files": stamps, "replies": now | {profile: newest}})

    def _stamps(self) -> Stamps:
        read = self._read().items()
        return {str(path): None if stamp is None else list(stamp) for path, stamp in read} | {
            **self._code
        }

    def _write(self, kept: Mapping[str, Any]) -> None:
        try:
            self._files.make_folder()
            write_private_file(Path(self._files.surface), json.dumps(kept).encode())
        except (OSError, NoDaemon) as error:
            _log.debug("the first replies are not kept: %s", error)


class SurfaceRecorder:
    """A gate around another: sees the first requests of a connection, and the answers to them."""

    def __init__(self, gate: MessageGate, server: GatewayServer, file: SurfaceFile | None) -> None:
        self._gate, self._server = gate, server
        self._file = file if server.principal.is_local else None
        self._requests = FirstRequests()
        self._open: dict[int | str, tuple[str, str]] = {}
        self._client = ""

    def refusal(self, message: sdk.JSONRPCMessage) -> sdk.ErrorData | None:
        """As the other gate has it."""
        problem = self._gate.refusal(message)
        if problem is None and isinstance(message, sdk.JSONRPCRequest) and self._file:
            self._note(message, message.params or {})
        return problem

    def outgoing(self, message: sdk.JSONRPCMessage) -> sdk.JSONRPCMessage | None:
        """As the other gate has it."""
        if self._open and isinstance(message, sdk.JSONRPCResponse) and message.id in self._open:
            self._keep(*self._open.pop(message.id), message.result)
        return self._gate.outgoing(message)

    def answered(self, id: int | str) -> None:
        """As the other gate has it."""
        self._gate.answered(id)

    def _note(self, request: sdk.JSONRPCRequest, params: Mapping[str, Any]) -> None:
        if request.method not in FIRST_METHODS:
            return
        match params:
            case {"clientInfo": {"name": str(name)}}:
                self._client = name
            case _:
                pass
        name = self._requests.name(request.method, params)
        if name:
            self._open[request.id] = request.method, name

    def _keep(self, method: str, name: str, result: Mapping[str, Any]) -> None:
        mode = self._server.mode(self._client, modern="resultType" in result)
        is_fixed = mode in {"search", "code"} or (mode == "reveal" and method != _LIST)
        is_fixed &= all(tool["name"] in _FIXED for tool in result.get("tools", ()))
        if self._file:
            profile = self._server.principal.profile.name
            self._file.keep(profile, name, result if is_fixed else None)
