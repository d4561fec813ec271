"""What is compared, behind one protocol. Each is set up as its own documentation shows.

A tool has its server's name in front of its own, as users of the peers have it; Toolcrib has the
server as the tool's source. Where a peer asks for an embedder it gets MiniLM, all the same one.
"""

# The peers are installed by `make compare` alone.
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false, reportPrivateUsage=false
# ruff: noqa: PLC0415, SLF001, ANN401

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np

from benchmarks.peer_search import FastmcpSearch, PydanticAiSearch, prefixed_names
from benchmarks.rankings import DEPTH
from benchmarks.systems import servers
from toolcrib import Crib, Settings
from toolcrib.evaluate.cases import EvalTool
from toolcrib.model import JsonObject
from toolcrib.settings import ApprovalRule, ApprovalSettings, EmbedSettings
from toolcrib.text import tool_definition

Tools = Mapping[str, EvalTool]
Embed = Callable[[Sequence[str]], Any]
LIMIT = 5
SHAPE: JsonObject = {"type": "object", "properties": {"text": {"type": "string"}}}


def echo(text: str) -> str:
    """Give a text back."""
    return text


class Peer(Protocol):
    """Something that finds and calls tools."""

    def search(self, text: str, limit: int) -> Sequence[str]:
        """The ids of the best, best first."""
        ...

    async def call(self) -> object:
        """Have `echo` called, by the way that a model's call takes."""
        ...

    def surface(self) -> Sequence[str]:
        """What a model is sent before it has searched. Empty where it has no search tool."""
        ...


class ToolcribPeer:
    """A crib with the bundled model, or with words alone."""

    def __init__(self, tools: Tools, embedder: str = "bundled") -> None:
        allowing = ApprovalSettings(rules=(ApprovalRule(verdict="allow"),))
        embed = EmbedSettings.model_validate({"embedder": embedder})
        self._crib = Crib(Settings(store=":memory:", embed=embed, approval=allowing))
        self._crib.add(echo)
        self._crib.add_source(*servers(tools))
        self._crib.search("hello")
        self._crib.index.embedded()

    def search(self, text: str, limit: int) -> Sequence[str]:
        return [hit.name for hit in self._crib.search(text, limit=limit)]

    async def call(self) -> object:
        return await self._crib.call("echo", {"text": "hello"})

    def surface(self) -> Sequence[str]:
        session = self._crib.session(tool_search="on")
        return [*map(tool_definition, session.active_tools()), session.system_note()]


class FastmcpPeer(FastmcpSearch):
    """The BM25 transform of fastmcp."""

    def __init__(self, tools: Tools) -> None:
        from fastmcp import FastMCP
        from fastmcp.server.transforms.search import BM25SearchTransform

        super().__init__(tools)
        self._server: Any = FastMCP("peer")
        self._server.tool(echo)
        for tool in self._tools:
            self._server.add_tool(tool)
        self._server.add_transform(BM25SearchTransform(max_results=LIMIT))

    async def call(self) -> object:
        return await self._server.call_tool("call_tool", _named("echo"))

    def surface(self) -> Sequence[str]:
        listed = asyncio.run(self._server.list_tools())
        return [_definition(each.name, each.description, each.parameters) for each in listed]


class PydanticAiPeer(PydanticAiSearch):
    """The local tool search of pydantic-ai."""

    async def call(self) -> object:
        from pydantic_ai import RunContext
        from pydantic_ai.models.test import TestModel
        from pydantic_ai.toolsets import FunctionToolset
        from pydantic_ai.usage import RunUsage

        if not hasattr(self, "_ready"):
            toolset: Any = FunctionToolset[None]([echo])
            context: Any = RunContext(deps=None, model=TestModel(), usage=RunUsage())
            self._ready = toolset, context, (await toolset.get_tools(context))["echo"]
        toolset, context, tool = self._ready
        given = tool.args_validator.validate_python({"text": "hello"})
        return await toolset.call_tool("echo", given, context, tool)

    def surface(self) -> Sequence[str]:
        from pydantic_ai.toolsets import _tool_search as theirs

        said = theirs._DEFAULT_TOOL_DESCRIPTION
        return [_definition("search_tools", said, theirs._SEARCH_TOOL_SCHEMA)]


class BigtoolPeer:
    """langgraph-bigtool: LangGraph's store in memory, `name: description` as in its README."""

    def __init__(self, tools: Tools, embed: Embed) -> None:
        from langchain_core.tools import StructuredTool
        from langgraph.store.memory import InMemoryStore
        from langgraph_bigtool.tools import get_default_retrieval_tool

        def lists(texts: Sequence[str]) -> list[list[float]]:
            return embed(texts).tolist()

        index: Any = {"embed": lists, "dims": 384, "fields": ["description"]}
        self._store = InMemoryStore(index=index)
        self._ids = prefixed_names(tools)
        texts = [f"{name}: {tools[id].description}" for name, id in self._ids.items()]
        _put_all(self._store, list(self._ids), texts)
        self._retrieve: Any = get_default_retrieval_tool(("tools",), limit=DEPTH)[0]
        self._shown: Any = StructuredTool.from_function(func=self._retrieve)
        self._echo = StructuredTool.from_function(echo)

    def search(self, text: str, limit: int) -> Sequence[str]:
        return [self._ids[key] for key in self._retrieve(text, store=self._store)][:limit]

    async def call(self) -> object:
        return await self._echo.ainvoke({"text": "hello"})

    def surface(self) -> Sequence[str]:
        schema = self._shown.tool_call_schema.model_json_schema()
        return [_definition(self._shown.name, self._shown.description, schema)]


class LlamaIndexPeer:
    """LlamaIndex's `ObjectIndex` over function tools; the schema is not part of the text."""

    def __init__(self, tools: Tools, embed: Embed) -> None:
        from llama_index.core import VectorStoreIndex
        from llama_index.core.objects import ObjectIndex
        from llama_index.core.tools import FunctionTool, ToolMetadata

        self._ids = prefixed_names(tools)
        made = [
            FunctionTool(echo, ToolMetadata(tools[id].description or "", name, fn_schema=None))
            for name, id in self._ids.items()
        ]
        index = ObjectIndex.from_objects(
            made, index_cls=VectorStoreIndex, embed_model=_llama_embedder(embed)
        )
        self._retriever: Any = index.as_retriever(similarity_top_k=DEPTH)
        self._echo = FunctionTool.from_defaults(echo)

    def search(self, text: str, limit: int) -> Sequence[str]:
        return [self._ids[tool.metadata.name] for tool in self._retriever.retrieve(text)][:limit]

    async def call(self) -> object:
        return await self._echo.acall(text="hello")

    def surface(self) -> Sequence[str]:
        return []


class HaystackPeer:
    """Haystack's `SearchableToolset`, which searches by BM25."""

    def __init__(self, tools: Tools) -> None:
        from haystack.tools import SearchableToolset, Tool, create_tool_from_function

        self._ids = prefixed_names(tools)
        made = [
            Tool(
                name=name, description=tools[id].description or "", parameters=SHAPE, function=echo
            )
            for name, id in self._ids.items()
        ]
        self._set: Any = SearchableToolset(catalog=made, top_k=LIMIT, search_threshold=1)
        self._set.warm_up()
        self._echo: Any = create_tool_from_function(echo)

    def search(self, text: str, limit: int) -> Sequence[str]:
        found = self._set._document_store.bm25_retrieval(query=text, top_k=limit)
        return [self._ids[each.meta["tool_name"]] for each in found]

    async def call(self) -> object:
        return self._echo.invoke(text="hello")

    def surface(self) -> Sequence[str]:
        return [_definition(t.name, t.description, t.parameters) for t in self._set]


Opening = Callable[[Tools, Embed], Any]
SYSTEMS: Mapping[str, tuple[str, Opening]] = {
    "Toolcrib": ("toolcrib", lambda tools, _: ToolcribPeer(tools)),
    "Toolcrib, words alone": ("toolcrib", lambda tools, _: ToolcribPeer(tools, "none")),
    "fastmcp, BM25 transform": ("fastmcp", lambda tools, _: FastmcpPeer(tools)),
    "pydantic-ai, ToolSearch": ("pydantic-ai-slim", lambda tools, _: PydanticAiPeer(tools)),
    "langgraph-bigtool": ("langgraph-bigtool", BigtoolPeer),
    "LlamaIndex, ObjectIndex": ("llama-index-core", LlamaIndexPeer),
    "Haystack, SearchableToolset": ("haystack-ai", lambda tools, _: HaystackPeer(tools)),
}


def versions() -> Mapping[str, str]:
    """The versions by package."""
    return {package: version(package) for package, _ in SYSTEMS.values()}


def made_up(texts: Sequence[str]) -> Any:
    """Unit vectors of chance, by a seed: what a search costs does not depend on their values."""
    rows = np.random.default_rng(len(texts)).normal(size=(len(texts), 384)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _put_all(store: Any, keys: Sequence[str], texts: Sequence[str]) -> None:
    from langgraph.store.base import PutOp

    ops = [
        PutOp(namespace=("tools",), key=key, value={"description": text})
        for key, text in zip(keys, texts, strict=True)
    ]
    store.batch(ops)


def _llama_embedder(embed: Embed) -> Any:
    from llama_index.core.embeddings import BaseEmbedding

    class _Embedder(BaseEmbedding):  # pyright: ignore[reportUntypedBaseClass] - a peer, untyped here
        def _get_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0].tolist()

        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0].tolist()

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return embed(texts).tolist()

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    return _Embedder(embed_batch_size=2048)


def _named(name: str) -> dict[str, Any]:
    return {"name": name, "arguments": {"text": "hello"}}


def _definition(name: str, description: str | None, parameters: Any) -> str:
    said = {"name": name, "description": description or "", "parameters": parameters}
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))
