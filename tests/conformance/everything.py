"""The server that the official conformance suite asks for, by the names that its scenarios call.

    python -m tests.conformance.everything             on stdio, as a gateway starts it
    python -m tests.conformance.everything --port N    over HTTP, as the suite reaches it directly

Its tools are in `tools.py` and `asking.py` beside it, its resources and prompts in `texts.py`.
"""

import asyncio
from argparse import ArgumentParser
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from tests.conformance import asking, texts, tools
from tests.conformance.tools import Asked, text, typed

NAME = "everything"


class Everything:
    """The handlers, and the bus on which two of the tools tell of a change."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.tools = {
            **tools.TOOLS,
            **asking.TOOLS,
            "test_trigger_tool_change": tools.Tool(self.tools_changed),
            "test_trigger_prompt_change": tools.Tool(self.prompts_changed),
        }

    async def tools_changed(self, asked: Asked) -> Any:
        await self.bus.publish(ToolsListChanged())
        await asked.ctx.session.send_tool_list_changed()
        return text("The tools have changed.")

    async def prompts_changed(self, asked: Asked) -> Any:
        await self.bus.publish(PromptsListChanged())
        await asked.ctx.session.send_prompt_list_changed()
        return text("The prompts have changed.")

    async def list_tools(self, _ctx: ServerRequestContext[Any], _params: Any) -> Any:
        shown = [tool.shown(name) for name, tool in self.tools.items()]
        return typed(types.ListToolsResult, {"tools": shown})

    async def call_tool(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> Any:
        if params.name not in self.tools:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name}")
        try:
            result = await self.tools[params.name].run(Asked(ctx, params))
        except asking.Wants as wants:
            result = wants.result
        return typed(types.CallToolResult, result)


async def nothing(ctx: ServerRequestContext[Any], params: Any) -> Any:
    """Taken note of; there is nothing to say."""
    return types.EmptyResult()


def server() -> Server[Any]:
    """The server, for both eras of the protocol."""
    everything = Everything()
    made: Server[Any] = Server(
        NAME,
        version="1",
        on_list_tools=everything.list_tools,
        on_call_tool=everything.call_tool,
        on_list_resources=texts.list_resources,
        on_list_resource_templates=texts.list_templates,
        on_read_resource=texts.read_resource,
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_subscriptions_listen=ListenHandler(everything.bus),
        on_list_prompts=texts.list_prompts,
        on_get_prompt=texts.get_prompt,
        on_completion=texts.complete,
    )
    made.add_request_handler("logging/setLevel", types.SetLevelRequestParams, nothing)
    made.middleware.append(
        RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME)
    )
    return made


async def serve_stdio() -> None:
    made = server()
    async with stdio_server() as (read, write):
        await made.run(read, write, made.create_initialization_options())


def main() -> None:
    parser = ArgumentParser(prog="everything", description=__doc__)
    parser.add_argument("--port", type=int, help="serve HTTP on this port, not stdio")
    port = parser.parse_args().port
    if port is None:
        asyncio.run(serve_stdio())
    else:
        uvicorn.run(server().streamable_http_app(), port=port, log_level="warning")


if __name__ == "__main__":
    main()
