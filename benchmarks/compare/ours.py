"""Toolcrib, as it is compared: a crib with its own settings, in memory as the others are."""

from collections.abc import Sequence

from benchmarks.compare.catalog import LIMIT, CompareTool, Tools, echo
from benchmarks.systems import servers
from toolcrib import Crib, Settings
from toolcrib.evaluate.cases import EvalTool
from toolcrib.settings import ApprovalRule, ApprovalSettings, EmbedSettings
from toolcrib.text import tool_definition

ALONE = "server"
"""The server of a tool that names none."""


class ToolcribPeer:
    """A crib with the bundled model, or with words alone. Calls are allowed without a person."""

    def __init__(self, tools: Tools, embedder: str) -> None:
        allowing = ApprovalSettings(rules=(ApprovalRule(verdict="allow"),))
        embed = EmbedSettings.model_validate({"embedder": embedder})
        self._crib = Crib(Settings(store=":memory:", embed=embed, approval=allowing))
        self._crib.add(echo)
        named = {f"{tool.server_name or ALONE}::{tool.name}": tool for tool in tools.values()}
        self._ids = {key: tool.id for key, tool in named.items()}
        self._crib.add_source(*servers({key: _listed(key, named[key]) for key in named}))
        self._crib.search("hello")
        self._crib.index.embedded()

    def search(self, text: str) -> Sequence[str]:
        hits = self._crib.search(text, limit=LIMIT)
        found = [self._crib.get(hit.name) for hit in hits]
        keys = [f"{hit.source_id}::{entry.bare}" for hit, entry in zip(hits, found, strict=True)]
        return [self._ids[key] for key in keys if key in self._ids]

    async def call(self) -> object:
        return await self._crib.call("echo", {"text": "hello"})

    def surface(self) -> Sequence[str]:
        session = self._crib.session(tool_search="on")
        return [*map(tool_definition, session.active_tools()), session.system_note()]


def _listed(key: str, tool: CompareTool) -> EvalTool:
    parameters = dict(tool.parameters)
    return EvalTool(id=key, name=tool.name, description=tool.description, parameters=parameters)
