"""A streamable HTTP server of the SDK on the loopback, its old SSE one, and ones that misbehave.

python http_server.py PORT-FILE [token]
"""

import asyncio
import gzip
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

STREAM = "text/event-stream"
server = MCPServer("far", instructions="Far away.")


@server.tool()
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
def large(size: int) -> str:
    """Say a lot."""
    return "x" * size


_there: list[asyncio.Event] = []


@server.tool()
async def meet(count: int) -> str:
    """Wait until so many calls are here at once."""
    all_here = asyncio.Event()
    _there.append(all_here)
    if len(_there) >= count:
        for each in _there:
            each.set()
    await all_here.wait()
    return "met"


class Name(BaseModel):
    """What a person is asked for."""

    name: str


@server.tool()
async def who(words: str, context: Context) -> str:
    """Ask, and say what the reply is, with what was asked."""
    reply = await context.elicit(words, Name)
    return f"{words}: {reply.data.name if reply.action == 'accept' else reply.action}"


class Guard:
    """Lets in who has the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", []))
        wanted = f"Bearer {self._token}".encode()
        if scope["type"] == "http" and self._token and headers.get(b"authorization") != wanted:
            await JSONResponse({"error": "who are you"}, 401)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def bomb(request: Request) -> Response:
    message = await request.json()
    body = {"jsonrpc": "2.0", "id": message.get("id"), "result": {"x": "x" * 50_000_000}}
    packed = gzip.compress(json.dumps(body).encode())
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    return Response(packed, headers=headers)


async def flood(request: Request) -> Response:
    message = await request.json()
    body = {"jsonrpc": "2.0", "id": message.get("id"), "result": {"x": "x" * 50_000_000}}
    return Response(json.dumps(body), media_type="application/json")


async def elsewhere(request: Request) -> Response:
    """A stream that wants the messages sent to another machine."""
    return Response("event: endpoint\ndata: http://127.0.0.2:9/x\n\n", media_type=STREAM)


async def forgets(request: Request) -> Response:
    """A stream that goes on, of a server that takes nothing."""

    async def events() -> AsyncIterator[str]:
        yield "event: endpoint\ndata: /gone\n\n"
        await asyncio.sleep(3600)

    return StreamingResponse(events(), media_type=STREAM)


async def moved(request: Request) -> Response:
    """What is at /sse, within the origin; from /moved-away, beyond it."""
    host = "127.0.0.2" if "away" in request.url.path else request.url.hostname
    return RedirectResponse(str(request.url.replace(path="/sse", hostname=host)))


def main(port_file: Path, token: str) -> None:
    app = server.streamable_http_app()
    app.router.routes += server.sse_app().routes
    app.router.routes += [
        Route("/elsewhere/sse", elsewhere),
        Route("/forgets/sse", forgets),
        Route("/moved", moved),
        Route("/moved-away", moved),
        Route("/bomb", bomb, methods=["POST"]),
        Route("/flood", flood, methods=["POST"]),
    ]
    config = uvicorn.Config(Guard(app, token), port=0, log_level="error")
    running = uvicorn.Server(config)

    original = running.startup

    async def startup(sockets: Any = None) -> None:
        await original(sockets)
        port = running.servers[0].sockets[0].getsockname()[1]
        port_file.with_suffix(".tmp").write_text(str(port))
        port_file.with_suffix(".tmp").rename(port_file)

    running.startup = startup
    running.run()


if __name__ == "__main__":
    main(Path(sys.argv[1]), "".join(sys.argv[2:]))
