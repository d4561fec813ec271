"""Anthropic Messages; see `toolcrib.adapters.anthropic.wire`."""

from toolcrib.adapters.anthropic.runner import AsyncRunnerTool, RunnerTool
from toolcrib.adapters.anthropic.wire import (
    AnthropicMode,
    AnthropicRequest,
    AnthropicSearch,
    AnthropicWire,
)

__all__ = [
    "AnthropicMode",
    "AnthropicRequest",
    "AnthropicSearch",
    "AnthropicWire",
    "AsyncRunnerTool",
    "RunnerTool",
]
