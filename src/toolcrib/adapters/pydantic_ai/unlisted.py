"""Calls of names that a run step does not list: they are answered, and do not end the run.

pydantic-ai resolves the name of a call in the tools of the step, tells the model that another name
is unknown, and ends the run when it is called again. A tool that waits for a search has such a
name, and only the door can say how to find it.
"""

from dataclasses import replace
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

Tools = dict[str, ToolsetTool[Any]]


class AnsweredTools(Tools):
    """The tools of a step. Any other name is taken for a tool of the toolset that `like` is of.

    It lists no more than they are; only whoever asks for a name gets an answer.
    """

    def __init__(self, tools: Tools, like: ToolsetTool[Any]) -> None:
        super().__init__(tools)
        self._like = like

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401, ARG002 - as of a dict
        """The tool of this name, or one that hands the call to the toolset."""
        return self[name]

    def __missing__(self, name: str) -> ToolsetTool[Any]:
        return replace(self._like, tool_def=replace(self._like.tool_def, name=name))


def answer_unlisted(toolset: AbstractToolset[Any], ctx: RunContext[Any]) -> None:
    """Let this toolset answer calls of names that the step of this context does not list."""
    manager = ctx.tool_manager
    tools = manager.tools if manager else None
    if not manager or tools is None or isinstance(tools, AnsweredTools):
        return
    own = (tool for tool in tools.values() if tool.toolset is toolset)
    if like := next(own, None):
        manager.tools = AnsweredTools(tools, like)
