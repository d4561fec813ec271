"""The servers that gateways are measured in front of: real tools, listed by servers that are fake.

Tools are those of whole servers, drawn at random among the large ones until there are enough; one
small server more is there to be called. Every gateway gets the same `mcpServers` file.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.folder import SEED, NoBench

LARGE = 40
"""Servers with fewer tools are left out, so that not too many processes run."""
QUERIES = 40
CALLED = "bench"
TOOL, ARGUMENTS = "echo", {"text": "hello"}
ROOT = Path(__file__).parents[1]
DUMP_SERVER = ROOT / "benchmarks" / "dump_server.py"
FAKE_SERVER = ROOT / "tests" / "sources" / "mcp" / "fake_server.py"


@dataclass(frozen=True, slots=True)
class Pool:
    """The servers, how many tools they list, and what to ask for."""

    servers: Mapping[str, Mapping[str, Any]]
    tools: int
    queries: Sequence[str]


def read_pool(catalogs: Path, folder: Path, least: int) -> Pool:
    """At least so many tools, of the servers in a folder with one JSON file each.

    Their lists are copied into the other folder. Raises `NoBench` where there are too few.
    """
    servers: dict[str, Mapping[str, Any]] = {}
    tools: list[Mapping[str, Any]] = []
    for listed in _drawn(catalogs):
        if len(tools) >= least:
            break
        file = folder / f"s{len(servers)}.json"
        file.write_text(json.dumps({"tools": listed}), encoding="utf-8")
        servers[file.stem] = _python(DUMP_SERVER, str(file))
        tools += listed
    if len(tools) < least:
        raise NoBench(f"{catalogs} has only {len(tools)} tools in servers of {LARGE} and more")
    called = {CALLED: _python(FAKE_SERVER)}
    return Pool({**servers, **called}, len(tools), _queries(tools))


def _drawn(catalogs: Path) -> list[list[Any]]:
    files = sorted(catalogs.glob("[!_]*.json"))
    lists = [json.loads(file.read_text(encoding="utf-8"))["tools"] for file in files]
    large = [listed for listed in lists if len(listed) >= LARGE]
    Random(SEED).shuffle(large)
    return large


def _python(program: Path, *arguments: str) -> Mapping[str, Any]:
    return {"command": sys.executable, "args": ["-S", str(program), *arguments]}


def _queries(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """What people might ask for: the first words that some tools say of themselves."""
    said = [str(tool.get("description") or tool["name"]) for tool in tools]
    some = Random(SEED).sample(said, min(QUERIES, len(said)))
    return [" ".join(text.split()[:9]) for text in some]
