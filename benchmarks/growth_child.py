"""What one checkout of Toolcrib does with the tools of one home, in a process of its own.

    .venv/bin/python .../benchmarks/growth_child.py < request.json

It imports nothing of `benchmarks`, so that the Python of any checkout can run it. Of the checkout
it takes what users have, but for one thing: what a server lists is put where its answer would be
put (`_answer`), so that no server has to run. Prints an object of figures a line, as soon as it has
them: seconds of CPU, MB.
"""

import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

BEGAN = process_time()

import numpy as np  # noqa: E402 - from here on imports are counted
from numpy.typing import NDArray  # noqa: E402

from toolcrib.access import Scope  # noqa: E402
from toolcrib.crib import Crib, inventory_of  # noqa: E402
from toolcrib.settings import Settings, load_settings  # noqa: E402

if TYPE_CHECKING:
    from toolcrib.sources.mcp import McpSource

IMPORTED = process_time()

WIDTH, LAYER = 256, 64
FUNCTIONS = ("crane", "frog", "boat", "fox", "swan")
LISTED = ("whale", "tulip", "kite", "drum", "lantern")
PURPOSE = "Fold a paper {figure} out of a square of washi"

Request = Mapping[str, Any]
Figures = Mapping[str, float]


class MadeUpEmbedder:
    """Vectors that cost next to nothing: noise, but the same for the same text."""

    model = "made-up-256"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        digests = [blake2b(text.encode("utf-8", "replace")).digest() for text in texts]
        noise = np.frombuffer(b"".join(digests), np.int8).reshape(len(texts), LAYER)
        rows = np.hstack([np.roll(noise, turn, axis=1) * noise for turn in range(WIDTH // LAYER)])
        rows = rows.astype(np.float32) + np.float32(0.5)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class MadeUpCrib(Crib):
    """A crib whose vectors are made up."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings, embedder=MadeUpEmbedder())


def list_tools(request: Request) -> Iterator[Figures]:
    """What some servers list, as if they had just been reached for the first time."""
    from toolcrib.sources.mcp import McpServers  # noqa: PLC0415 - no part of a start

    listings = {each["name"]: each["tools"] for each in request["listings"]}
    entries = {name: request["servers"][name] for name in listings}
    folder = load_settings({}).state_folder
    servers = McpServers.open_added({"mcpServers": entries}, {}, _kept_in(folder))
    for source in servers.sources:
        _answer(source, listings[source.server])
    servers.close()
    yield {"tools": sum(map(len, listings.values()))}


def _kept_in(folder: Path) -> Any:  # noqa: ANN401 - a checkout of before takes the folder itself
    """Where the servers of this checkout keep what they list."""
    try:
        from toolcrib.store import FileStores, StorePlaces  # noqa: PLC0415 - no part of a start
    except ImportError:
        return folder
    return FileStores(StorePlaces(folder))


def settle(request: Request) -> Iterator[Figures]:
    """The first start of all: what it leaves behind is what a warm start finds."""
    with _opened(request) as crib:
        crib.search(request["queries"][0])
        crib.index.embedded(None)
        yield {"first_start": process_time() - IMPORTED}


def start(request: Request) -> Iterator[Figures]:
    """From nothing to the first answer, what the process holds then, and what searches cost."""
    yield {"imports": IMPORTED - BEGAN}
    queries = request["queries"]
    began = process_time()
    with _opened(request) as crib:
        crib.search(queries[0])
        yield {"start": process_time() - began, **_memory()}
        for query in request["warm_up"]:
            crib.search(query)
        yield {"search": _median(_costs(crib.search, queries[1:]))}
        yield from _scoped(crib, request)


def change(request: Request) -> Iterator[Figures]:
    """One tool more, until search finds it: a function of the program; a tool of a server."""
    with _opened(request) as crib:
        crib.search(request["queries"][0])
        yield {"function": _median(_add_function(crib, figure) for figure in FUNCTIONS)}
        pairs = zip(request["changed"], LISTED, strict=False)
        yield {"listed": _median(_list_one_more(crib, *pair) for pair in pairs)}


def answer(request: Request) -> Iterator[Mapping[str, Sequence[str]]]:
    """What is found for each query: by everybody, and within the scope."""
    scope = Scope(sources=frozenset(request["scope"]))
    with _opened(request) as crib:
        crib.index.embedded(None)
        for query in request["queries"]:
            yield {query: [hit.name for hit in crib.search(query).hits]}
            yield {f"{query} (scoped)": [hit.name for hit in crib.search(query, scope=scope).hits]}


def _add_function(crib: Crib, figure: str) -> float:
    def function(sheets: int) -> int:
        return sheets

    function.__name__ = f"fold_paper_{figure}"
    began = process_time()
    crib.add(function, description=PURPOSE.format(figure=figure))
    _find(crib, figure)
    return process_time() - began


def _list_one_more(crib: Crib, server: Mapping[str, Any], figure: str) -> float:
    """Of a server that runs: it was listed as it started. Afterwards it lists what it did then."""
    source, before = inventory_of(crib).servers[server["name"]], server["tools"]
    _answer(source, before)
    inventory_of(crib).relist(source)
    crib.search("anything")
    schema = {"type": "object", "properties": {"sheets": {"type": "integer"}}}
    more = {
        "name": f"fold_paper_{figure}",
        "description": PURPOSE.format(figure=figure),
        "inputSchema": schema,
    }
    answer = json.loads(json.dumps([*before, more]))
    began = process_time()
    _answer(source, answer, again=True)
    inventory_of(crib).relist(source)
    _find(crib, figure)
    took = process_time() - began
    _answer(source, before, again=True)
    inventory_of(crib).relist(source)
    crib.search("anything")
    return took


def _find(crib: Crib, figure: str) -> None:
    hits = crib.search(PURPOSE.format(figure=figure), limit=8).hits
    if not any(hit.name.endswith(figure) for hit in hits):
        raise LookupError(f"no paper {figure} among {[hit.name for hit in hits]}")


def _scoped(crib: Crib, request: Request) -> Iterator[Figures]:
    """Searches of a caller who may see the tools of some servers alone."""
    scope = Scope(sources=frozenset(request["scope"]))

    def search(query: str) -> object:
        return crib.search(query, scope=scope)

    yield {"scoped_first": _median(_costs(search, request["queries"][:1]))}
    yield {"scoped": _median(_costs(search, request["queries"][1:]))}


def _costs(search: Callable[[str], object], queries: Iterable[str]) -> Iterator[float]:
    for query in queries:
        began = process_time()
        search(query)
        yield process_time() - began


def _median(costs: Iterable[float]) -> float:
    ordered = sorted(costs)
    return ordered[len(ordered) // 2]


def _memory() -> Figures:
    """All that is resident, and what no file is behind: mapped files are shared by processes."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines}
    return {"rss": sizes["Rss"], "anonymous": sizes["Anonymous"]}


@contextmanager
def _opened(request: Request) -> Generator[Crib]:
    kind = MadeUpCrib if request["made_up"] else Crib
    with kind.from_settings(load_settings({})) as crib:
        yield crib


def _answer(
    source: "McpSource", tools: Sequence[Mapping[str, Any]], *, again: bool = False
) -> None:
    """As if the server had just listed these tools."""
    from toolcrib.sources.mcp.listing import (  # noqa: PLC0415 - no part of a start
        ServerFacts,
        ServerIntroduction,
        ServerListing,
    )

    memory, listing = source._memory, ServerListing(tuple(tools))  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - its answer goes there
    if again:
        memory.keep_listing(listing)
    else:
        memory.keep(ServerIntroduction(ServerFacts("2025-11-25"), listing), 0.1)


TASKS: Mapping[str, Callable[[Request], Iterator[Mapping[str, object]]]] = {
    "answer": answer,
    "list": list_tools,
    "settle": settle,
    "start": start,
    "change": change,
}

if __name__ == "__main__":
    asked: Request = json.loads(sys.stdin.read())
    for figures in TASKS[asked["task"]](asked):
        print(json.dumps(figures), flush=True)
