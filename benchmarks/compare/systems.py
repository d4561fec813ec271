"""What is compared, by name: the packages, and what opens it in the process that measures it."""

# ruff: noqa: PLC0415 - each process imports the one that it measures, for imports take memory

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Literal, NamedTuple

from benchmarks.compare.catalog import Embed, Peer, Tools

Kind = Literal["words", "meaning", "ours"]


class System(NamedTuple):
    """A system. One that asks for an embedder searches by `meaning` alone."""

    package: str
    kind: Kind


BUNDLED, WORDS = "Toolcrib", "Toolcrib, words alone"
FASTMCP, PYDANTIC_AI = "fastmcp, BM25 transform", "pydantic-ai, ToolSearch"
BIGTOOL, LLAMA_INDEX = "langgraph-bigtool", "LlamaIndex, ObjectIndex"
HAYSTACK = "Haystack, SearchableToolset"
SYSTEMS: Mapping[str, System] = {
    BUNDLED: System("toolcrib", "ours"),
    WORDS: System("toolcrib", "ours"),
    FASTMCP: System("fastmcp", "words"),
    PYDANTIC_AI: System("pydantic-ai-slim", "words"),
    BIGTOOL: System("langgraph-bigtool", "meaning"),
    LLAMA_INDEX: System("llama-index-core", "meaning"),
    HAYSTACK: System("haystack-ai", "words"),
}


def opened(name: str, tools: Tools, embed: Embed) -> Peer:
    """The system with these tools."""
    if SYSTEMS[name].kind == "ours":
        from benchmarks.compare.ours import ToolcribPeer

        return ToolcribPeer(tools, "bundled" if name == BUNDLED else "none")
    from benchmarks.compare import peers

    openings: Mapping[str, Callable[[], Peer]] = {
        FASTMCP: lambda: peers.FastmcpPeer(tools),
        PYDANTIC_AI: lambda: peers.PydanticAiPeer(tools),
        BIGTOOL: lambda: peers.BigtoolPeer(tools, embed),
        LLAMA_INDEX: lambda: peers.LlamaIndexPeer(tools, embed),
        HAYSTACK: lambda: peers.HaystackPeer(tools),
    }
    return openings[name]()


def versions() -> Mapping[str, str]:
    """The versions by package, as they are installed."""
    return {each.package: version(each.package) for each in SYSTEMS.values()}
