"""OpenAI Responses, as far as tools go: what it refuses, what its model sees, what it answers.

A tool that is loaded into a namespace is called with that namespace; one that an item adds alone
has its own name for one.
"""

from collections.abc import Iterator, Mapping, Sequence

from toolcrib.model import Json, JsonObject
from toolcrib.session import SEARCH_TOOL
from toolcrib.testing.openai_functions import check_functions, openai_error
from toolcrib.testing.provider import (
    ApiRefusal,
    arguments_of,
    arguments_text,
    call_of,
    objects,
    refuse,
    text_of,
)
from toolcrib.testing.script import Say, SearchTools, Step

CALLS = ("function_call", "tool_search_call")
OUTPUTS = ("function_call_output", "tool_search_output")
HERE, CLIENT, HOSTED = "here", "client", "hosted"


class ResponsesApi:
    """`POST /v1/responses`, without state on the server."""

    def is_for(self, path: str) -> bool:
        """See `ProviderApi`."""
        return path.endswith("/responses")

    def streams(self, path: str, body: JsonObject) -> bool:  # noqa: ARG002 - the body says it
        """See `ProviderApi`."""
        return bool(body.get("stream"))

    def sees(self, body: JsonObject) -> Mapping[str, str]:
        """See `ProviderApi`; the way is `here`, `client`, `hosted` or a namespace."""
        refuse(
            "the scripted model keeps nothing; send the whole input",
            when=bool(body.get("previous_response_id") or body.get("conversation")),
        )
        tools, items = objects(body.get("tools")), objects(body.get("input"))
        check_functions([each for each in tools if each.get("type") == "function"])
        visible = dict(_listed(tools))
        _check_outputs(items)
        for item in items:
            _check_namespace(item, visible)
            visible |= _loaded(item)
        return visible

    def reply(self, body: JsonObject, steps: Sequence[Step], turn: int) -> JsonObject:
        """See `ProviderApi`."""
        visible = dict(self.sees(body))
        output: list[Json] = []
        for place, step in enumerate(steps):
            output += _items(step, visible, objects(body.get("tools")), f"{turn}_{place}")
        return {
            "id": f"resp_{turn}",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": body.get("model"),
            "output": output,
            "usage": {
                "input_tokens": 1,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 1,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 2,
            },
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body.get("tools", []),
        }

    def events(self, reply: JsonObject) -> Iterator[JsonObject]:
        """See `ProviderApi`: each item begins, comes in one piece, and is done."""
        started: JsonObject = {**reply, "status": "in_progress", "output": []}
        items = (_item_events(item, at) for at, item in enumerate(objects(reply["output"])))
        every: list[tuple[str, JsonObject]] = [
            ("response.created", {"response": started}),
            *(event for of_one in items for event in of_one),
            ("response.completed", {"response": reply}),
        ]
        for number, (kind, facts) in enumerate(every):
            yield {"type": kind, "sequence_number": number, **facts}

    def error(self, message: str) -> JsonObject:
        """See `ProviderApi`."""
        return openai_error(message)


def _item_events(item: JsonObject, at: int) -> Iterator[tuple[str, JsonObject]]:
    """The events of one item of the output."""
    place: JsonObject = {"output_index": at, "item_id": item["id"]}
    if item["type"] == "message":
        yield "response.output_item.added", {**place, "item": {**item, "content": []}}
        for index, part in enumerate(objects(item["content"])):
            where: JsonObject = {**place, "content_index": index}
            empty = {**part, "text": ""}
            yield "response.content_part.added", {**where, "part": empty}
            yield "response.output_text.delta", {**where, "delta": part["text"], "logprobs": []}
            yield "response.output_text.done", {**where, "text": part["text"], "logprobs": []}
            yield "response.content_part.done", {**where, "part": part}
    elif item["type"] == "function_call":
        yield "response.output_item.added", {**place, "item": {**item, "arguments": ""}}
        yield "response.function_call_arguments.delta", {**place, "delta": item["arguments"]}
        done = {"name": item["name"], "arguments": item["arguments"]}
        yield "response.function_call_arguments.done", {**place, **done}
    else:
        yield "response.output_item.added", {**place, "item": item}
    yield "response.output_item.done", {**place, "item": item}


def _listed(tools: Sequence[JsonObject]) -> Iterator[tuple[str, str]]:
    """What `tools` shows at once."""
    for tool in tools:
        name = text_of(tool.get("name"))
        match tool.get("type"):
            case "function" if not tool.get("defer_loading"):
                yield name, HERE
            case "tool_search":
                yield SEARCH_TOOL.name, CLIENT if tool.get("execution") == "client" else HOSTED
            case "namespace":
                members = objects(tool.get("tools"))
                check_functions(members)
                listed = (each for each in members if not each.get("defer_loading"))
                yield from ((text_of(each.get("name")), name) for each in listed)
            case _:
                pass


def _loaded(item: JsonObject) -> dict[str, str]:
    """What an item makes callable from there on, and in which namespace."""
    if item.get("type") not in {"tool_search_output", "additional_tools"}:
        return {}
    found: dict[str, str] = {}
    for tool in objects(item.get("tools")):
        name = text_of(tool.get("name"))
        members = objects(tool.get("tools")) if tool.get("type") == "namespace" else [tool]
        check_functions(members)
        found |= {text_of(each.get("name")): name for each in members}
    return found


def _check_namespace(item: JsonObject, visible: Mapping[str, str]) -> None:
    name = text_of(item.get("name"))
    if item.get("type") != "function_call" or visible.get(name, HERE) == HERE:
        return
    refuse(
        f"Missing namespace for function_call '{name}': it does not exist in the default namespace",
        when=item.get("namespace") != visible[name],
    )


def _check_outputs(items: Sequence[JsonObject]) -> None:
    """Every call has an output behind it, and there is no other output."""
    waiting: set[str] = set()
    for item in items:
        id = text_of(item.get("call_id"))
        if item.get("execution") == "server":
            continue
        if item.get("type") in CALLS:
            waiting.add(id)
        if item.get("type") in OUTPUTS:
            refuse(f"No tool call found for output with call_id {id}.", when=id not in waiting)
            waiting.discard(id)
    refuse(f"No tool output found for call {', '.join(sorted(waiting))}.", when=bool(waiting))


def _items(
    step: Step, visible: dict[str, str], tools: Sequence[JsonObject], id: str
) -> list[JsonObject]:
    if isinstance(step, Say):
        text: JsonObject = {"type": "output_text", "text": step.text, "annotations": []}
        facts = {"id": f"msg_{id}", "role": "assistant", "status": "completed"}
        return [{"type": "message", **facts, "content": [text]}]
    if isinstance(step, SearchTools) and visible.get(SEARCH_TOOL.name) == HOSTED:
        return _hosted(step, visible, tools, id)
    call = call_of(step, visible)
    facts = {"id": f"item_{id}", "call_id": f"call_{id}", "status": "completed"}
    way = visible.get(call.name, HERE)
    if way == CLIENT:
        search = {"execution": "client", "arguments": arguments_of(call)}
        return [{"type": "tool_search_call", **facts, **search}]
    named = {"name": call.name, "arguments": arguments_text(call)}
    namespace = {} if way == HERE else {"namespace": way}
    return [{"type": "function_call", **facts, **named, **namespace}]


def _hosted(
    step: SearchTools, visible: dict[str, str], tools: Sequence[JsonObject], id: str
) -> list[JsonObject]:
    """The provider searches: it loads whole definitions of what it finds."""
    found = [_only(tool, step.finds) for tool in tools if tool.get("type") == "namespace"]
    loaded = [tool for tool in found if tool["tools"]]
    names = {text_of(each.get("name")) for tool in loaded for each in objects(tool["tools"])}
    if missing := set(step.finds) - names:
        raise ApiRefusal(f"the scripted search cannot find {', '.join(sorted(missing))}: not sent")
    facts = {"execution": "server", "call_id": None, "status": "completed"}
    output: JsonObject = {"type": "tool_search_output", "id": f"out_{id}", **facts, "tools": loaded}
    visible |= _loaded(output)
    arguments = {"paths": [tool["name"] for tool in loaded]}
    call: JsonObject = {"type": "tool_search_call", "id": f"item_{id}", **facts}
    return [{**call, "arguments": arguments}, output]


def _only(namespace: JsonObject, names: Sequence[str]) -> dict[str, Json]:
    members = [each for each in objects(namespace.get("tools")) if each.get("name") in names]
    return {**namespace, "tools": members}
