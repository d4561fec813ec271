"""Resources, prompts and completions."""

import json
import re
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from tests.conformance.asking import TEXT, form, required
from tests.conformance.tools import IMAGE, PNG, typed

RESOURCES: dict[str, dict[str, str]] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched resource content"},
}
TEMPLATE = "test://template/{id}/data"
TEMPLATED = re.compile(r"test://template/([^/]+)/data")
PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}
CONTEXT = form("What context should the prompt use?", context=TEXT)


async def list_resources(ctx: ServerRequestContext[Any], params: Any) -> Any:
    shown = [
        _named(uri) | {"uri": uri, "mimeType": content["mimeType"]}
        for uri, content in RESOURCES.items()
    ]
    return typed(types.ListResourcesResult, {"resources": shown})


async def list_templates(ctx: ServerRequestContext[Any], params: Any) -> Any:
    shown = _named(TEMPLATE) | {"uriTemplate": TEMPLATE, "mimeType": "application/json"}
    return typed(types.ListResourceTemplatesResult, {"resourceTemplates": [shown]})


async def read_resource(
    ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
) -> Any:
    uri = str(params.uri)
    if found := TEMPLATED.fullmatch(uri):
        data = {"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"}
        content = {"mimeType": "application/json", "text": json.dumps(data)}
    elif uri in RESOURCES:
        content = RESOURCES[uri]
    else:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return typed(types.ReadResourceResult, {"contents": [{"uri": uri, **content}]})


async def list_prompts(ctx: ServerRequestContext[Any], params: Any) -> Any:
    shown = [
        _named(name) | {"arguments": [{"name": each, "required": True} for each in takes]}
        for name, takes in PROMPTS.items()
    ]
    return typed(types.ListPromptsResult, {"prompts": shown})


async def get_prompt(ctx: ServerRequestContext[Any], params: types.GetPromptRequestParams) -> Any:
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            return _messages(_text("This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            words = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
            return _messages(_text(words))
        case "test_prompt_with_embedded_resource":
            content = {"mimeType": "text/plain", "text": "Embedded resource content for testing."}
            resource = {"uri": given["resourceUri"], **content}
            request = _text("Please process the embedded resource above.")
            return _messages({"type": "resource", "resource": resource}, request)
        case "test_prompt_with_image":
            return _messages(IMAGE, _text("Please analyze the image above."))
        case "test_input_required_result_prompt":
            answers = params.input_responses or {}
            if "user_context" not in answers:
                return typed(types.GetPromptResult, required({"user_context": CONTEXT}))
            return _messages(_text(f"With the context {answers['user_context']}"))
        case unknown:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {unknown}")


async def complete(ctx: ServerRequestContext[Any], params: types.CompleteRequestParams) -> Any:
    cities = [each for each in ("paris", "park", "party") if each.startswith(params.argument.value)]
    found = {"values": cities, "total": len(cities), "hasMore": False}
    return typed(types.CompleteResult, {"completion": found})


def _named(id: str) -> dict[str, Any]:
    return {"name": id, "description": f"The fixture {id}."}


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _messages(*content: Any) -> Any:
    messages = [{"role": "user", "content": each} for each in content]
    return typed(types.GetPromptResult, {"messages": messages})
