"""LangChain; see `toolcrib.adapters.langchain.middleware`."""

from toolcrib.adapters.langchain.middleware import ToolcribMiddleware

__all__ = ["ToolcribMiddleware"]
