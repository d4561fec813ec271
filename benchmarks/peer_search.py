"""The tool search of others, over the tools of one catalog: fastmcp's and pydantic-ai's.

Both know a tool of an MCP server by the server's name and its own: fastmcp puts the namespace of a
mounted server before the name, pydantic-ai the prefix of a toolset. Each ranks by its own function
and its own defaults, except that it is not cut at 5 or 10 tools: more of the ranking is scored.
Both are asked what was typed, as everything here is; a model would put some of it into keywords.
"""

# Where they are not installed, their types are unknown.
# pyright: reportUnknownParameterType=false, reportMissingImports=false

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

DEEP = 100
"""How much of the rankings of two baselines is fused."""

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")


class Baseline(Protocol):
    """Something that ranks ids."""

    def search(self, text: str, limit: int) -> Sequence[str]: ...


class CatalogTool(Protocol):
    """A tool of a catalog. Nothing of Toolcrib is imported here: its memory is not a peer's."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str | None: ...
    @property
    def parameters(self) -> Mapping[str, Any] | None: ...
    @property
    def server_name(self) -> str: ...


class FastmcpSearch:
    """The BM25 search transform of fastmcp."""

    def __init__(self, tools: Mapping[str, CatalogTool], depth: int = DEEP) -> None:
        from fastmcp.server.transforms.search import BM25SearchTransform  # noqa: PLC0415 - optional
        from fastmcp.tools.base import Tool  # noqa: PLC0415

        self._ids = prefixed_names(tools)
        self._transform = BM25SearchTransform(max_results=depth)
        self._tools = [
            Tool(
                name=name,
                description=tools[id].description,
                parameters=dict(tools[id].parameters or {}),
            )
            for name, id in self._ids.items()
        ]

    def search(self, text: str, limit: int = DEEP) -> Sequence[str]:
        """The ids of the best, best first."""
        found = asyncio.run(self._transform._search(self._tools, text))  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - what its search tool calls
        return [self._ids[tool.name] for tool in found][:limit]


class PydanticAiSearch:
    """The local search of pydantic-ai's `ToolSearch`, for models that have no search of their own.

    It reads names and descriptions. A query without a letter of the Latin alphabet or a digit is
    sent back to the model to be put otherwise: it finds nothing.
    """

    def __init__(self, tools: Mapping[str, CatalogTool], depth: int = DEEP) -> None:
        from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415 - optional
        from pydantic_ai.toolsets import FunctionToolset  # noqa: PLC0415
        from pydantic_ai.toolsets import _tool_search as theirs  # noqa: PLC0415 # pyright: ignore[reportPrivateUsage]

        self._ids = prefixed_names(tools)
        self._toolset = theirs.ToolSearchToolset(FunctionToolset[None](), max_results=depth)
        self._search_tool = theirs._SearchTool(  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
            toolset=self._toolset,
            tool_def=ToolDefinition(name="search_tools"),
            max_retries=1,
            args_validator=theirs._SEARCH_TOOL_VALIDATOR,  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
            corpus=[
                ToolDefinition(name=name, description=tools[id].description)
                for name, id in self._ids.items()
            ],
            discovered_tool_names=set(),
        )

    def search(self, text: str, limit: int = DEEP) -> Sequence[str]:
        """The ids of the best, best first."""
        from pydantic_ai.exceptions import ModelRetry  # noqa: PLC0415

        try:
            found = self._toolset._run_keywords_search([text], self._search_tool)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - what its search tool calls
        except ModelRetry:
            return []
        return [self._ids[each["name"]] for each in found["discovered_tools"]][:limit]

    def add(self, tool: CatalogTool) -> None:
        """One tool more, under its name and a number."""
        from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415

        corpus = self._search_tool.corpus
        name = f"{tool.name}_{len(corpus)}"
        self._ids = {**self._ids, name: tool.id}
        corpus.append(ToolDefinition(name=name, description=tool.description))


def prefixed_names(tools: Mapping[str, CatalogTool]) -> Mapping[str, str]:
    """The ids by names that begin with the server's; of equal ones the second gets a number."""
    names: dict[str, str] = {}
    for number, (id, tool) in enumerate(tools.items()):
        name = _ILLEGAL.sub(
            "_", f"{tool.server_name}_{tool.name}" if tool.server_name else tool.name
        )
        names[f"{name}_{number}" if name in names else name] = id
    return names


PEERS: Mapping[str, tuple[str, Callable[[Mapping[str, CatalogTool]], Baseline]]] = {
    "fastmcp, BM25 transform": ("fastmcp", FastmcpSearch),
    "pydantic-ai, tool search": ("pydantic_ai", PydanticAiSearch),
}


def peers(tools: Mapping[str, CatalogTool]) -> Mapping[str, Baseline | None]:
    """The peers by name and version; None for one that is not installed."""
    found: dict[str, Baseline | None] = {}
    for name, (package, opened) in PEERS.items():
        there = find_spec(package) is not None
        said = f"{name} {import_module(package).__version__}" if there else name
        found[said] = opened(tools) if there else None
    return found
