"""pydantic-ai; see `toolcrib.adapters.pydantic_ai.toolset`."""

from toolcrib.adapters.pydantic_ai.toolset import ToolcribToolset, toolcrib_search

__all__ = ["ToolcribToolset", "toolcrib_search"]
