"""Gemini; see `toolcrib.adapters.gemini.wire`."""

from toolcrib.adapters.gemini.reply import whole_reply
from toolcrib.adapters.gemini.wire import GeminiMode, GeminiWire

__all__ = ["GeminiMode", "GeminiWire", "whole_reply"]
