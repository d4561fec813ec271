"""What a server lists over stdio, and the one way to write it down.

The handshake and every page of `tools/list`, as plain JSON-RPC: a server that prints other things
to its output is read all the same.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Timer
from typing import IO, Any, TypeAlias

VERSION = "2025-06-18"
LONGEST_S = 120.0
READ = ("name", "title", "description", "inputSchema")
"""What a search reads of a tool; the rest (annotations, output schemas) is not written down."""

Tool: TypeAlias = Mapping[str, Any]


class NoListing(Exception):
    """The server ended, failed or stayed silent; the message says which."""


@dataclass(frozen=True, slots=True)
class _Talk:
    """A running server, spoken to in turns."""

    to: IO[str]
    of: IO[str]

    def say(self, message: Mapping[str, object]) -> None:
        self.to.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.to.flush()

    def ask(self, id: int, method: str, params: Mapping[str, object]) -> Mapping[str, Any]:
        """The result. Raises `NoListing` for an error, or when the server is gone."""
        self.say({"id": id, "method": method, "params": params})
        for line in self.of:
            with suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict) and answer.get("id") == id and "method" not in answer:
                    return _result(answer)
        raise NoListing(f"it ended before it answered {method}, or took over {LONGEST_S:g} s")


def _result(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if "result" not in answer:
        raise NoListing(f"it answered {answer.get('error')}")
    return answer["result"]


def list_tools(command: Sequence[str], env: Mapping[str, str], folder: Path) -> Sequence[Tool]:
    """Start a server in this folder, list its tools, and end it with all that it started."""
    with subprocess.Popen(  # noqa: S603 - a server that servers.json names
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        ending = Timer(LONGEST_S, _end, [process])
        ending.start()
        try:
            if process.stdin is None or process.stdout is None:
                raise NoListing("it has no pipes")
            return _all_pages(_Talk(process.stdin, process.stdout))
        except BrokenPipeError:
            raise NoListing("it ended at once") from None
        finally:
            ending.cancel()
            _end(process)


def _all_pages(server: _Talk) -> Sequence[Tool]:
    who = {"name": "dump", "version": "1"}
    hello = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": who}
    server.ask(1, "initialize", hello)
    server.say({"method": "notifications/initialized"})
    tools: list[Tool] = []
    cursor: str | None = None
    while True:
        page = server.ask(2 + len(tools), "tools/list", {"cursor": cursor} if cursor else {})
        tools += page["tools"]
        cursor = page.get("nextCursor")
        if not cursor:
            return tools


def _end(process: "subprocess.Popen[str]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def canonical(tools: Sequence[Tool]) -> str:
    """The tools by name, as a search reads them: the same text for the same tools."""
    read = [{key: each[key] for key in READ if each.get(key)} for each in tools]
    by_name = sorted(read, key=lambda each: each["name"])
    return json.dumps({"tools": by_name}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """Its SHA-256, as hexadecimal digits."""
    return sha256(text.encode()).hexdigest()
