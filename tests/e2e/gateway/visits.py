"""Clients of other people, each of which visits a server: it lists the tools and calls some.

A visit is the same for all: in an era of the protocol, through a door, with calls to make.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from scripts.install_test_clients import FOLDER, NODE, command
from scripts.npm import node
from tests.waiting import HANG_S

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
ERAS = (HANDSHAKE, MODERN)
TYPESCRIPT = Path(__file__).with_name("visit.mjs")


@dataclass(frozen=True, slots=True)
class Door:
    """How a client reaches a server: a command that it starts, or an address."""

    command: tuple[str, ...] = ()
    url: str = ""
    token: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


@dataclass(frozen=True, slots=True)
class Called:
    """A call to make."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Visit:
    """What a client saw. A result is as it stood on the wire."""

    tools: Sequence[str]
    results: Sequence[Mapping[str, Any]]
    version: str = ""

    @property
    def texts(self) -> list[str]:
        """The text of each result."""
        return [text_of(result) for result in self.results]


Visitor: TypeAlias = Callable[[Door, str, Sequence[Called]], Visit]


def text_of(result: Mapping[str, Any]) -> str:
    """All text of a result."""
    return "\n".join(each.get("text", "") for each in result["content"])


def by_python(door: Door, era: str, calls: Sequence[Called]) -> Visit:
    """The client of the Python SDK."""

    async def visit() -> Visit:
        async with python_client(door, era) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            said = [await client.call_tool(each.name, dict(each.arguments)) for each in calls]
            results = [each.model_dump(by_alias=True, mode="json") for each in said]
            return Visit(tools, results, client.protocol_version)

    return asyncio.run(visit())


@asynccontextmanager
async def python_client(door: Door, era: str, **options: Any) -> AsyncGenerator[Client]:
    """A client of the Python SDK, at a door."""
    options = {"mode": "legacy" if era < MODERN else era, "read_timeout_seconds": HANG_S} | options
    if door.url:
        async with httpx2.AsyncClient(headers=door.headers, timeout=HANG_S) as http:
            target = streamable_http_client(door.url, http_client=http)
            async with Client(target, **options) as client:
                yield client
    else:
        program, *arguments = door.command
        parameters = StdioServerParameters(command=program, args=arguments, env={**door.env})
        async with Client(parameters, **options) as client:
            yield client


def by_typescript(door: Door, era: str, calls: Sequence[Called]) -> Visit:
    """The client of the TypeScript SDK."""
    visit = {
        "era": era,
        "command": [*door.command] or [""],
        "url": door.url,
        "headers": door.headers,
        "env": _environment(door),
        "calls": [{"name": each.name, "arguments": each.arguments} for each in calls],
    }
    modules = str(FOLDER / "node_modules")
    said = _json(node(NODE), str(TYPESCRIPT), modules, json.dumps(visit))
    return Visit(said["tools"], said["results"], said["version"])


def by_inspector(door: Door, era: str, calls: Sequence[Called]) -> Visit:
    """The MCP inspector on its command line, which makes one request a run."""
    listed = _inspect(door, era, "--method", "tools/list")
    results = [
        _inspect(
            door,
            era,
            *("--method", "tools/call", "--tool-name", each.name),
            *(word for pair in each.arguments.items() for word in _argument(*pair)),
        )
        for each in calls
    ]
    return Visit([tool["name"] for tool in listed["tools"]], results)


def _argument(name: str, value: object) -> tuple[str, str]:
    said = value if isinstance(value, str) else json.dumps(value)
    return "--tool-arg", f"{name}={said}"


def _inspect(door: Door, era: str, *arguments: str) -> Any:
    options = ["--protocol-era", "legacy" if era < MODERN else "modern"]
    if door.url:
        headers = [f"{name}: {value}" for name, value in door.headers.items()]
        options += ["--transport", "http", "--server-url", door.url, "--header", *headers]
        target: list[str] = []
    else:
        variables = [f"{name}={value}" for name, value in _environment(door).items()]
        options += [word for each in variables for word in ("-e", each)]
        target = ["--", *door.command]
    return _json(*command("inspector"), "--cli", *options, *arguments, *target)


def _environment(door: Door) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    return kept | {**door.env}


def _json(*words: str) -> Any:
    """What a program prints as JSON. It has to end well, and soon."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=HANG_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


VISITORS: dict[str, Visitor] = {
    "inspector": by_inspector,
    "python": by_python,
    "typescript": by_typescript,
}
