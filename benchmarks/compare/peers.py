"""The others, each set up as its own documentation shows. Toolcrib is not imported here.

A tool has its server's name in front of its own, as their users have it. Where one asks for an
embedder it gets MiniLM, all the same one.
"""

# The peers are installed by `make compare` alone.
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false, reportPrivateUsage=false
# pyright: reportMissingImports=false
# ruff: noqa: PLC0415, SLF001, ANN401

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from benchmarks.compare.catalog import LIMIT, Embed, Tools, echo
from benchmarks.peer_search import FastmcpSearch, PydanticAiSearch, prefixed_names

SHAPE: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}


class FastmcpPeer(FastmcpSearch):
    """The BM25 transform of fastmcp."""

    def __init__(self, tools: Tools) -> None:
        from fastmcp import FastMCP
        from fastmcp.server.transforms.search import BM25SearchTransform

        super().__init__(tools, LIMIT)
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

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools, LIMIT)

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
        self._retrieve: Any = get_default_retrieval_tool(("tools",), limit=LIMIT)[0]
        self._shown: Any = StructuredTool.from_function(func=self._retrieve)
        self._echo = StructuredTool.from_function(echo)

    def search(self, text: str) -> Sequence[str]:
        return [self._ids[key] for key in self._retrieve(text, store=self._store)]

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
        self._retriever: Any = index.as_retriever(similarity_top_k=LIMIT)
        self._echo = FunctionTool.from_defaults(echo)

    def search(self, text: str) -> Sequence[str]:
        return [self._ids[tool.metadata.name] for tool in self._retriever.retrieve(text)]

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

    def search(self, text: str) -> Sequence[str]:
        found = self._set._document_store.bm25_retrieval(query=text, top_k=LIMIT)
        return [self._ids[each.meta["tool_name"]] for each in found]

    async def call(self) -> object:
        return self._echo.invoke(text="hello")

    def surface(self) -> Sequence[str]:
        return [_definition(t.name, t.description, t.parameters) for t in self._set]


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
