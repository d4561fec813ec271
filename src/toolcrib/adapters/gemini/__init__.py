"""Gemini, by google-genai; see `toolcrib.adapters.gemini.wire`."""

from toolcrib.adapters.gemini.wire import GeminiMode, GeminiWire

__all__ = ["GeminiMode", "GeminiWire"]
