"""OpenAI Responses; see `toolcrib.adapters.openai_responses.wire`."""

from toolcrib.adapters.openai_responses.wire import (
    Item,
    ResponsesMode,
    ResponsesSearch,
    ResponsesWire,
)

__all__ = ["Item", "ResponsesMode", "ResponsesSearch", "ResponsesWire"]
