"""Whether servers of other people are the same behind the gateway as they are without it.

    python -m benchmarks.servers [NAME ...] [--large] [--markdown docs/servers.md]

Each server is listed and called by the MCP SDK's own client: directly, then through the daemon in
both eras of the protocol, by `tool_call_read` or `tool_call` and by the tool's own name. No setting
lets anything through, and the servers stand where `toolcrib import` puts them. They are installed
first; `--large` adds those that take hundreds of megabytes. Exit code 1: some are not the same.
"""

import asyncio
import json
import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple, TextIO

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, ListRootsResult

from benchmarks.home import Home
from benchmarks.markdown import NoMarks, put, table
from benchmarks.playground import playground, repository, web_page
from benchmarks.real_servers import Ask, Ground, RealServer, filled, real_servers
from benchmarks.sameness import PAGED, Seen, Wire, of_answers, of_lists, text_of
from scripts import install_more_servers, install_test_servers

NAME = "servers"
PATIENCE_S = 120
"""A start or a call that takes longer hangs."""
FEW = 5
"""So many differences of a server are told: the others are mostly of their kind."""
ERAS = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
HANDLE, PAGES = "toolcrib/handle", "toolcrib/pages"
SEARCH, EVERY = "search", "every"
SETTINGS = f"""\
[embed]
embedder = "none"

[gateway.profiles.{SEARCH}]
mode = "search"

[gateway.profiles.{EVERY}]
mode = "passthrough"
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """A client whose turn it is: in an era, before a profile of the gateway."""

    name: str
    era: str
    profile: str

    def __str__(self) -> str:
        return f"{self.era}, {'by tool_call' if self.profile == SEARCH else 'by its name'}"


class Door(NamedTuple):
    """The address of a profile, and a key to it."""

    url: str
    key: str


@dataclass(frozen=True, slots=True)
class Row:
    """A server, and wherein it was another behind the gateway; nothing, if all is well."""

    server: RealServer
    direct: Seen
    differences: Sequence[str]

    @property
    def same(self) -> bool:
        return not self.differences


TURNS = [
    Turn(f"turn{number}", era, profile)
    for number, (era, profile) in enumerate(
        [(era, profile) for era in ERAS for profile in (SEARCH, EVERY)], start=1
    )
]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(prog=f"python -m benchmarks.{NAME}", description=__doc__)
    parser.add_argument("name", nargs="*", help="of these servers alone")
    parser.add_argument("--large", action="store_true", help="those too that take much room")
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    rows = compared(said.name, large=said.large)
    text = report(rows)
    print(text)
    for row in rows:
        for difference in row.differences[:FEW]:
            print(f"{row.server.name}: {difference}", file=sys.stderr)
    try:
        if said.markdown:
            put(said.markdown, NAME, text)
    except NoMarks as error:
        parser.error(str(error))
    return int(not all(row.same for row in rows))


def compared(names: Sequence[str] = (), *, large: bool = False) -> list[Row]:
    """A row for each of these servers, or for all. Installs them where they are not."""
    install_test_servers.install()
    install_more_servers.install(large=large)
    with (
        tempfile.TemporaryDirectory() as folder,
        web_page() as page,
        Path(os.devnull).open("w") as nowhere,
    ):
        ground = Ground(playground(Path(folder)), repository(Path(folder)), page)
        every = real_servers(ground, large=large)
        servers = [each for each in every if not names or each.name in names]
        return asyncio.run(_compared(servers, Home(Path(folder)), nowhere))


async def _compared(servers: Sequence[RealServer], home: Home, nowhere: TextIO) -> list[Row]:
    home.configure(SETTINGS, {each.name: each.entry for each in servers})
    direct = await _side_by_side([_directly(each, home, nowhere) for each in servers])
    async with home.daemon() as daemon:
        home.run("refresh")  # the daemon lists them already; this waits for it
        doors = {name: _door(name, home, daemon) for name in (SEARCH, EVERY)}
        turns = [await _turn(turn, doors[turn.profile], servers, direct) for turn in TURNS]
    seen = zip(*turns, strict=True)
    return [
        Row(server, alone, [*_differences(server, alone, each)])
        for server, alone, each in zip(servers, direct, seen, strict=True)
    ]


async def _side_by_side(each: Sequence[Any]) -> list[Any]:
    """As many at once as the machine has cores."""
    places = asyncio.Semaphore(os.cpu_count() or 1)

    async def one(work: Any) -> Any:  # noqa: ANN401 - whatever it gives
        async with places:
            return await asyncio.wait_for(work, PATIENCE_S)

    return await asyncio.gather(*map(one, each))


async def _directly(server: RealServer, home: Home, nowhere: TextIO) -> Seen:
    entry = server.entry
    parameters = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={**home.env, **entry.get("env", {})},
        cwd=entry.get("cwd"),
    )

    _tell(f"{server.name}: directly")
    target = stdio_client(parameters, errlog=nowhere)
    async with Client(target, list_roots_callback=_roots, elicitation_callback=_elicit) as client:
        tools = await _listed(client)
        calls = [(ask.tool, filled(ask.arguments, "turn0")) for ask in server.asks]
        return Seen(tools, [await _answer(client, *call) for call in calls])


async def _roots(context: object) -> ListRootsResult:  # noqa: ARG001 - the SDK's names
    return ListRootsResult(roots=[])


async def _elicit(context: object, params: object) -> ElicitResult:  # noqa: ARG001
    return ElicitResult(action="cancel")


async def _turn(
    turn: Turn, door: Door, servers: Sequence[RealServer], direct: Sequence[Seen]
) -> list[Seen]:
    """What a client of the gateway sees of each server."""
    _tell(f"through the gateway, {turn}")
    async with _at(door, turn.era) as client:
        tools = await _listed(client)

        async def one(server: RealServer, alone: Seen) -> Seen:
            prefix = f"mcp_{server.name}_"
            own = {
                name.removeprefix(prefix): tools[name] for name in tools if name.startswith(prefix)
            }
            calls = [_call(turn, prefix, ask, reads=_reads(alone, ask)) for ask in server.asks]
            return Seen(own, [await _whole(client, await _answer(client, *call)) for call in calls])

        return await _side_by_side([one(*each) for each in zip(servers, direct, strict=True)])


def _call(turn: Turn, prefix: str, ask: Ask, *, reads: bool) -> tuple[str, Mapping[str, Any]]:
    """What a client of the gateway calls, and with which arguments."""
    name, arguments = f"{prefix}{ask.tool}", filled(ask.arguments, turn.name)
    if turn.profile == EVERY:
        return name, arguments
    door = "tool_call_read" if reads else "tool_call"
    return door, {"name": name, "arguments": arguments}


def _reads(alone: Seen, ask: Ask) -> bool:
    """Whether the server says that the tool only reads."""
    return alone.tools[ask.tool].get("annotations", {}).get("readOnlyHint", False)


def _door(profile: str, home: Home, daemon: Mapping[str, Any]) -> Door:
    key = json.loads(home.run("keys", "add", profile, "--profile", profile, "--json"))["key"]
    return Door(f"http://127.0.0.1:{daemon['port']}/mcp/{profile}", key)


@asynccontextmanager
async def _at(door: Door, era: str) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {door.key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http:
        transport = streamable_http_client(door.url, http_client=http)
        async with Client(transport, mode=ERAS[era], cache=None) as client:
            yield client


async def _listed(client: Client) -> dict[str, Wire]:
    """All tools by name, as they stand on the wire."""
    tools, cursor = list[Any](), None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        if not (cursor := page.next_cursor):
            return {tool.name: _wire(tool) for tool in tools}


async def _answer(client: Client, name: str, arguments: Mapping[str, Any]) -> Wire:
    try:
        said = await client.call_tool(name, dict(arguments), read_timeout_seconds=PATIENCE_S)
    except MCPError as error:
        return {"refused": str(error)}
    return _wire(said)


async def _whole(client: Client, answer: Wire) -> Wire:
    """An answer with all of its pages: the text behind the line that tells of them, in one."""
    meta = answer.get("_meta", {})
    if HANDLE not in meta:
        return answer
    texts = [text_of(answer["content"][1:])]
    for number in range(2, meta[PAGES] + 1):
        page = await _answer(client, "tool_result", {"handle": meta[HANDLE], "page": number})
        texts.append(text_of(page["content"][1:]))
    return {PAGED: "".join(texts)}


def _wire(model: Any) -> Wire:  # noqa: ANN401 - a model of the SDK
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def _differences(server: RealServer, alone: Seen, turns: Sequence[Seen]) -> Iterator[str]:
    for turn, seen in zip(TURNS, turns, strict=True):
        lists = of_lists(alone.tools, seen.tools) if turn.profile == EVERY else ()
        for each in (*lists, *of_answers(server.asks, alone.answers, seen.answers)):
            yield f"{turn}: {each}"


def report(rows: Sequence[Row]) -> str:
    """The table, and what it was made with."""
    called = sum(len(row.server.asks) for row in rows)
    head = f"{datetime.now(UTC):%Y-%m-%d}, Python {python_version()}: {len(rows)} servers with "
    head += f"{sum(len(row.direct.tools) for row in rows)} tools, {called} calls, each made "
    head += f"directly and in {len(TURNS)} ways through the gateway."
    names = ["server", "version", ">tools listed", "called", "same as direct"]
    return f"{head}\n\n{table(names, [_cells(row) for row in rows])}"


def _cells(row: Row) -> list[str]:
    called = [
        f"`{ask.tool}`{' (fails)' if answer.get('isError') or 'refused' in answer else ''}"
        for ask, answer in zip(row.server.asks, row.direct.answers, strict=True)
    ]
    package, version = row.server.package, row.server.version
    return [
        package,
        version,
        str(len(row.direct.tools)),
        ", ".join(dict.fromkeys(called)),
        "yes" if row.same else "**no**",
    ]


def _tell(what: str) -> None:
    print(what, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
