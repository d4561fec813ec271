"""What is compared: each takes the same tools in and answers the same questions.

Opening a system is all that it does before it can be asked; some put work off until they are.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, Protocol

from benchmarks.plain_fts5 import PlainFts5
from toolcrib.crib import Crib, inventory_of
from toolcrib.errors import UnknownTool
from toolcrib.evaluate.cases import EvalTool
from toolcrib.model import Call, CallContext, Outcome, SourceKind, State, ToolInfo
from toolcrib.settings import EmbedSettings, Settings

LIMIT = 5
NEWCOMERS = "newcomers"
WORDS = EmbedSettings(embedder="none")


class System(Protocol):
    """Something that finds tools."""

    async def search(self, text: str) -> object:
        """The best few tools. It is async because a client is; the others never wait."""
        ...

    def add(self, tool: EvalTool) -> None:
        """Take one more tool in, for the next search to find."""
        ...

    def database_bytes(self) -> int:
        """What it keeps in SQLite, if it does."""
        ...


Opening = Callable[[Mapping[str, EvalTool]], AbstractAsyncContextManager[System]]


class Server:
    """A source that lists what it is given, as an MCP server would."""

    kind: SourceKind = "mcp"
    problems: tuple[str, ...] = ()

    def __init__(self, id: str, tools: Iterable[EvalTool] = ()) -> None:
        self.id = id
        self._tools: dict[str, ToolInfo] = {}
        for tool in tools:
            self.put(tool)

    def put(self, tool: EvalTool) -> None:
        own_name = _origin(tool.id)[1]
        self._tools[own_name] = replace(tool.info(), name=own_name, source="mcp", source_id=self.id)

    def capabilities(self) -> Sequence[ToolInfo]:
        return tuple(self._tools.values())

    def state(self, name: str) -> State:
        if name not in self._tools:
            raise UnknownTool(f"no tool {name!r} here")
        return "ready"

    async def call(self, call: Call, context: CallContext) -> Outcome:  # noqa: ARG002 - nothing runs
        raise UnknownTool(f"{call.name!r} is here to be found, not to be called")


@dataclass(frozen=True, slots=True)
class InCrib:
    """Toolcrib as its users have it: `Crib.search` over a pool of servers."""

    crib: Crib
    newcomers: Server
    file: Path | None

    async def search(self, text: str) -> object:
        return self.crib.search(text, limit=LIMIT)

    def add(self, tool: EvalTool) -> None:
        self.newcomers.put(tool)
        inventory_of(self.crib).pool.refresh(self.newcomers)

    def database_bytes(self) -> int:
        if not self.file:
            return 0
        return sum(part.stat().st_size for part in self.file.parent.glob(f"{self.file.name}*"))


@dataclass(frozen=True, slots=True)
class InFts5:
    """The baseline: one lookup in one table."""

    table: PlainFts5

    async def search(self, text: str) -> object:
        return self.table.search(text, LIMIT)

    def add(self, tool: EvalTool) -> None:
        self.table.add(tool)

    def database_bytes(self) -> int:
        return self.table.bytes()


def opening_crib(engine: Literal["memory", "sqlite"]) -> Opening:
    """Toolcrib with one engine, without an embedder."""
    return partial(_open_crib, engine)


@asynccontextmanager
async def open_fts5(tools: Mapping[str, EvalTool]) -> AsyncGenerator[System]:
    """Plain FTS5."""
    yield InFts5(PlainFts5(tools))


@asynccontextmanager
async def _open_crib(
    engine: Literal["memory", "sqlite"], tools: Mapping[str, EvalTool]
) -> AsyncGenerator[System]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "catalog.db")
        newcomers = Server(NEWCOMERS)
        with Crib(Settings(store=str(file), index=engine, embed=WORDS)) as crib:
            crib.add_source(*servers(tools), newcomers)
            yield InCrib(crib, newcomers, file if engine == "sqlite" else None)


def servers(tools: Mapping[str, EvalTool]) -> list[Server]:
    """The servers that the tools are from."""
    by_server: dict[str, list[EvalTool]] = {}
    for id, tool in tools.items():
        by_server.setdefault(_origin(id)[0], []).append(tool)
    return [Server(id, listed) for id, listed in by_server.items()]


def _origin(id: str) -> tuple[str, str]:
    """The server and its own name for a tool; ids are written server::tool."""
    server, _, own_name = id.rpartition("::")
    return server or "server", own_name
