"""Tools that answer by themselves."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from pydantic import BaseModel

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJg"
    "gg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
A_WHILE = 0.05

Result: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Asked:
    """A call: its arguments, and the way back to the one who asked."""

    ctx: ServerRequestContext[Any]
    params: types.CallToolRequestParams

    @property
    def arguments(self) -> Mapping[str, Any]:
        return self.params.arguments or {}

    @property
    def answers(self) -> Mapping[str, Any]:
        """What was answered to an earlier round, by the key of the question."""
        return self.params.input_responses or {}


@dataclass(frozen=True, slots=True)
class Tool:
    """What a tool does, and the texts that it takes."""

    run: Callable[[Asked], Awaitable[Result]]
    takes: tuple[str, ...] = ()
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def shown(self, name: str) -> Result:
        properties = {each: {"type": "string"} for each in self.takes}
        plain = {"type": "object", "properties": properties, "required": [*self.takes]}
        description = f"The fixture {name.replace('_', ' ')}."
        return {"name": name, "description": description, "inputSchema": self.schema or plain}


def typed(model: type[BaseModel], result: Mapping[str, Any]) -> Any:
    """A result as the SDK's own type, which says what its era has to: or as a question."""
    asks = result.get("resultType") == "input_required"
    return (types.InputRequiredResult if asks else model).model_validate(result)


def text(words: str) -> dict[str, Any]:
    """A result of one text."""
    return {"content": [{"type": "text", "text": words}]}


def says(*content: Mapping[str, Any]) -> Callable[[Asked], Awaitable[Result]]:
    """What always answers the same."""

    async def run(asked: Asked) -> Result:
        return {"content": [*content]}

    return run


async def fails(asked: Asked) -> Result:
    return text("This tool intentionally returns an error for testing") | {"isError": True}


async def logs(asked: Asked) -> Result:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        params = types.LoggingMessageNotificationParams(level="info", data=words)
        if asked.ctx.protocol_version < "2026" or _wants_logs(asked):
            note = types.LoggingMessageNotification(params=params)
            await asked.ctx.session.send_notification(note, related_request_id=_id(asked))
        await asyncio.sleep(A_WHILE)
    return text("Tool with logging executed")


async def progresses(asked: Asked) -> Result:
    for done in (0, 50, 100):
        await asked.ctx.session.report_progress(done, 100)
        await asyncio.sleep(A_WHILE)
    return text("Tool with progress executed")


def _wants_logs(asked: Asked) -> bool:
    return "io.modelcontextprotocol/logLevel" in (asked.ctx.meta or {})


def _id(asked: Asked) -> types.RequestId | None:
    return asked.ctx.request_id


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
EMBEDDED = {
    "uri": "test://embedded-resource",
    "mimeType": "text/plain",
    "text": "This is an embedded resource content.",
}
MIXED = {
    "uri": "test://mixed-content-resource",
    "mimeType": "application/json",
    "text": '{"test":"data","value":123}',
}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""Every keyword of JSON Schema 2020-12 that the suite looks for."""

TOOLS: dict[str, Tool] = {
    "test_simple_text": Tool(
        says({"type": "text", "text": "This is a simple text response for testing."})
    ),
    "test_image_content": Tool(says(IMAGE)),
    "test_audio_content": Tool(says({"type": "audio", "data": WAV, "mimeType": "audio/wav"})),
    "test_embedded_resource": Tool(says({"type": "resource", "resource": EMBEDDED})),
    "test_multiple_content_types": Tool(
        says(
            {"type": "text", "text": "Multiple content types test:"},
            IMAGE,
            {"type": "resource", "resource": MIXED},
        )
    ),
    "test_error_handling": Tool(fails),
    "test_tool_with_logging": Tool(logs),
    "test_logging_tool": Tool(logs),
    "test_tool_with_progress": Tool(progresses),
    "json_schema_2020_12_tool": Tool(says({"type": "text", "text": "Valid."}), schema=SCHEMA),
}
