"""OpenAI Responses; see `toolcrib.adapters.openai_responses.wire`."""

from toolcrib.adapters.openai_responses.wire import (
    Item,
    ResponsesMode,
    ResponsesRequest,
    ResponsesSearch,
    ResponsesWire,
)

__all__ = ["Item", "ResponsesMode", "ResponsesRequest", "ResponsesSearch", "ResponsesWire"]
