"""Anthropic Messages, as far as tools go: what it refuses, what its model sees, what it answers.

The refusals are the documented ones of November 2026.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from toolcrib.model import Json, JsonObject
from toolcrib.testing.provider import (
    ApiRefusal,
    arguments_of,
    call_of,
    objects,
    once_each,
    refuse,
    text_of,
)
from toolcrib.testing.script import Say, SearchTools, Step

MOST_DEFERRED = 10_000
HOSTED = ("tool_search_tool_bm25", "tool_search_tool_regex")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
AT_THE_TOP = ("oneOf", "allOf", "anyOf")


class AnthropicApi:
    """`POST /v1/messages`. A thread is kept for as long as the wire is."""

    def __init__(self) -> None:
        self._threads: dict[str, JsonObject] = {}

    def is_for(self, path: str) -> bool:
        """See `ProviderApi`."""
        return path.endswith("/messages")

    def streams(self, path: str, body: JsonObject) -> bool:  # noqa: ARG002 - the body says it
        """See `ProviderApi`."""
        return bool(body.get("stream"))

    def sees(self, body: JsonObject) -> Mapping[str, str]:
        """See `ProviderApi`: tools that are not deferred, and those that were referred to."""
        body = self._whole(body)
        tools = {text_of(tool.get("name")): tool for tool in objects(body.get("tools"))}
        _check_tools(objects(body.get("tools")))
        _check_turns(objects(body.get("messages")))
        referred = list(_referred(body))
        for name in referred:
            refuse(f"Tool reference '{name}' not found in available tools", when=name not in tools)
        at_once = (name for name, tool in tools.items() if not tool.get("defer_loading"))
        return {name: _way(tools[name]) for name in dict.fromkeys([*at_once, *referred])}

    def reply(self, body: JsonObject, steps: Sequence[Step], turn: int) -> JsonObject:
        """See `ProviderApi`."""
        refuse("max_tokens: Field required", when="max_tokens" not in body)
        visible, whole = dict(self.sees(body)), self._whole(body)
        content: list[Json] = []
        for place, step in enumerate(steps):
            content += _blocks(step, visible, f"{turn}_{place}")
        message: JsonObject = {"role": "assistant", "content": content}
        messages = [*objects(whole.get("messages")), message]
        self._threads[f"msg_{turn}"] = {**whole, "messages": messages}
        called = any(isinstance(each, dict) and each["type"] == "tool_use" for each in content)
        return {
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": content,
            "stop_reason": "tool_use" if called else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def events(self, reply: JsonObject) -> Iterator[JsonObject]:
        """See `ProviderApi`: each block begins, comes in one piece, and ends."""
        yield {"type": "message_start", "message": {**reply, "content": [], "stop_reason": None}}
        for index, block in enumerate(objects(reply["content"])):
            begun, delta = _piece(block)
            yield {"type": "content_block_start", "index": index, "content_block": begun}
            if delta:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        ends = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": ends, "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}

    def _whole(self, body: JsonObject) -> JsonObject:
        """The request, with what the server has of its thread before it."""
        match body.get("thread"):
            case {"type": "continue", "previous_message_id": str(id)}:
                refuse(f"thread_not_found: {id}", when=id not in self._threads)
                thread = self._threads[id]
                new = objects(body.get("messages"))
                return {**thread, **body, "messages": [*objects(thread.get("messages")), *new]}
            case _:
                return body

    def error(self, message: str) -> JsonObject:
        """See `ProviderApi`."""
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def _piece(block: JsonObject) -> tuple[JsonObject, JsonObject]:
    """A block as it begins, and what comes after; nothing where it begins whole."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        case "tool_use" | "server_tool_use":
            given = json.dumps(block["input"])
            return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": given}
        case _:
            return block, {}


def _blocks(step: Step, visible: dict[str, str], id: str) -> list[JsonObject]:
    hosted = next((name for name, way in visible.items() if way == "hosted"), "")
    if isinstance(step, Say):
        return [{"type": "text", "text": step.text}]
    if isinstance(step, SearchTools) and hosted:
        visible |= dict.fromkeys(step.finds, "here")
        return _hosted(step, hosted, f"srvtoolu_{id}")
    call = call_of(step, visible)
    return [
        {"type": "tool_use", "id": f"toolu_{id}", "name": call.name, "input": arguments_of(call)}
    ]


def _hosted(step: SearchTools, name: str, id: str) -> list[JsonObject]:
    found = [{"type": "tool_reference", "tool_name": each} for each in step.finds]
    result = {"type": "tool_search_tool_search_result", "tool_references": found}
    query = {"pattern" if name.endswith("regex") else "query": step.query}
    return [
        {"type": "server_tool_use", "id": id, "name": name, "input": query},
        {"type": "tool_search_tool_result", "tool_use_id": id, "content": result},
    ]


def _way(tool: JsonObject) -> str:
    return "hosted" if tool.get("name") in HOSTED else "here"


def _check_tools(tools: Sequence[JsonObject]) -> None:
    deferred = [tool for tool in tools if tool.get("defer_loading")]
    once_each((text_of(tool.get("name")) for tool in tools), "tools: Tool names must be unique: {}")
    refuse(
        "At least one tool must have defer_loading=false",
        when=bool(tools) and len(deferred) == len(tools),
    )
    refuse(f"tools: at most {MOST_DEFERRED} deferred", when=len(deferred) > MOST_DEFERRED)
    for place, tool in enumerate(tools):
        if tool.get("type", "custom") == "custom":
            _check_tool(tool, f"tools.{place}.custom")


def _check_tool(tool: JsonObject, place: str) -> None:
    name, schema = text_of(tool.get("name")), tool.get("input_schema")
    refuse(f"{place}.name: does not match {NAME.pattern}", when=not NAME.fullmatch(name))
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise ApiRefusal(f"{place}.input_schema.type: Field required, 'object'")
    refuse(
        f"{place}.input_schema: oneOf, allOf, or anyOf at the top level is not supported",
        when=any(each in schema for each in AT_THE_TOP),
    )
    refuse(
        f"{place}: cache_control cannot be used with defer_loading",
        when=bool(tool.get("defer_loading") and tool.get("cache_control")),
    )


def _check_turns(messages: Sequence[JsonObject]) -> None:
    """Every `tool_use` has its `tool_result` in the next message, first, and there is no other."""
    open_calls: set[str] = set()
    for place, message in enumerate(messages):
        blocks = objects(message.get("content"))
        results = {text_of(each.get("tool_use_id")) for each in _typed(blocks, "tool_result")}
        refuse(
            f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately"
            f" after: {', '.join(sorted(open_calls - results))}",
            when=bool(open_calls - results),
        )
        kinds = [each.get("type") == "tool_result" for each in blocks]
        refuse(
            f"messages.{place}: `tool_result` blocks must come first in the content",
            when=kinds != sorted(kinds, reverse=True),
        )
        refuse(
            f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks:"
            f" {', '.join(sorted(results - open_calls))}",
            when=bool(results - open_calls),
        )
        open_calls = {text_of(each.get("id")) for each in _typed(blocks, "tool_use")}
    refuse("messages: the last `tool_use` has no `tool_result`", when=bool(open_calls))


def _referred(body: JsonObject) -> Iterator[str]:
    """The names in tool references and additions, in the order of the conversation."""
    for message in objects(body.get("messages")):
        for block in objects(message.get("content")):
            content = block.get("content")
            found = content.get("tool_references") if isinstance(content, dict) else content
            for reference in _typed(objects(found), "tool_reference"):
                yield text_of(reference.get("tool_name"))
            match block:
                case {
                    "type": "tool_addition",
                    "tool": {"type": "tool_reference", "name": str(name)},
                }:
                    yield name
                case _:
                    pass


def _typed(blocks: Sequence[JsonObject], kind: str) -> list[JsonObject]:
    return [block for block in blocks if block.get("type") == kind]
