"""Anthropic Messages; see `toolcrib.adapters.anthropic.wire`."""

from toolcrib.adapters.anthropic.wire import AnthropicMode, AnthropicSearch, AnthropicWire

__all__ = ["AnthropicMode", "AnthropicSearch", "AnthropicWire"]
