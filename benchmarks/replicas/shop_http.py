"""The server of `shop_server` over streamable HTTP: one process that several gateways call.

    python -m benchmarks.replicas.shop_http TOOLS SPENT PORT

Each request is answered at once and by itself, as one JSON message. There are no sessions, and
nothing is sent unasked, as the protocol allows.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import uvicorn

from benchmarks.dump_server import CallTool, ListTools, answer_to
from benchmarks.observe_world import made_up_tools
from benchmarks.replicas.cluster import ROOT, SHOP_TOOLS, free_port, until_open
from benchmarks.replicas.shop_server import shop

Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[None]]


def main() -> None:
    tools, call = shop(*map(Path, sys.argv[1:3]))
    uvicorn.run(
        HttpServer(tools, call),
        port=int(sys.argv[3]),
        log_level="error",
        lifespan="off",
        access_log=False,
    )


class Shop(NamedTuple):
    """One that runs."""

    url: str
    pid: int


@asynccontextmanager
async def running_shop(folder: Path, count: int = SHOP_TOOLS) -> AsyncGenerator[Shop]:
    """It runs meanwhile, with so many tools beside its own. Raises `Unusable`."""
    tools, port = _write_tools(folder, count), free_port()
    words = ("-m", __spec__.name, str(tools), str(folder / "spent"), str(port))
    process = await asyncio.create_subprocess_exec(sys.executable, *words, cwd=ROOT)
    try:
        await until_open("the shop", port, process)
        yield Shop(f"http://127.0.0.1:{port}/mcp", process.pid)
    finally:
        process.kill()
        await process.wait()


def _write_tools(folder: Path, count: int) -> Path:
    folder.mkdir()
    file = folder / "tools.json"
    file.write_text(json.dumps({"tools": made_up_tools(count)}), encoding="utf-8")
    return file


class HttpServer:
    """An ASGI application that answers messages."""

    def __init__(self, tools: ListTools, call: CallTool) -> None:
        self._tools, self._call = tools, call

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        status, body = 405, b""
        if scope["method"] == "POST":
            answer = answer_to(json.loads(await _read(receive)), self._tools, self._call)
            status, body = (200, json.dumps(answer).encode()) if answer else (202, b"")
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _read(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        part = await receive()
        body += part.get("body", b"")
        more = part.get("more_body", False)
    return body


if __name__ == "__main__":
    main()
