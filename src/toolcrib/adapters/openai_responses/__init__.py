"""OpenAI Responses; see `toolcrib.adapters.openai_responses.wire`."""

from toolcrib.adapters.openai_responses.wire import ResponsesMode, ResponsesSearch, ResponsesWire

__all__ = ["ResponsesMode", "ResponsesSearch", "ResponsesWire"]
