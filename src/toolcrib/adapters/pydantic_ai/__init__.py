"""pydantic-ai; see `toolcrib.adapters.pydantic_ai.toolset`."""

from toolcrib.adapters.pydantic_ai.search import toolcrib_search
from toolcrib.adapters.pydantic_ai.toolset import ToolcribToolset

__all__ = ["ToolcribToolset", "toolcrib_search"]
