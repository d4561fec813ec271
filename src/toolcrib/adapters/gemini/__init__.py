"""Gemini; see `toolcrib.adapters.gemini.wire`."""

from toolcrib.adapters.gemini.reply import whole_reply
from toolcrib.adapters.gemini.wire import GeminiMode, GeminiRequest, GeminiWire

__all__ = ["GeminiMode", "GeminiRequest", "GeminiWire", "whole_reply"]
