"""OpenAI Chat Completions, as far as tools go: what it refuses, what its model sees and answers."""

from collections.abc import Iterator, Mapping, Sequence

from toolcrib.model import Json, JsonObject
from toolcrib.testing.openai_functions import check_functions, openai_error
from toolcrib.testing.provider import arguments_text, call_of, object_of, objects, refuse, text_of
from toolcrib.testing.script import Say, Step

MOST_TOOLS = 128


class ChatApi:
    """`POST /v1/chat/completions`."""

    def is_for(self, path: str) -> bool:
        """See `ProviderApi`."""
        return path.endswith("/chat/completions")

    def streams(self, path: str, body: JsonObject) -> bool:  # noqa: ARG002 - the body says it
        """See `ProviderApi`."""
        return bool(body.get("stream"))

    def sees(self, body: JsonObject) -> Mapping[str, str]:
        """See `ProviderApi`: whatever is in `tools`."""
        functions = [object_of(tool.get("function")) for tool in objects(body.get("tools"))]
        refuse("[] is too short - 'tools'", when=body.get("tools") == [])
        refuse(f"'tools': at most {MOST_TOOLS}", when=len(functions) > MOST_TOOLS)
        check_functions(functions)
        _check_turns(objects(body.get("messages")))
        return {text_of(function.get("name")): "here" for function in functions}

    def reply(self, body: JsonObject, steps: Sequence[Step], turn: int) -> JsonObject:
        """See `ProviderApi`."""
        visible = self.sees(body)
        text = "".join(step.text for step in steps if isinstance(step, Say))
        calls: list[Json] = [
            _call(step, visible, f"call_{turn}_{place}")
            for place, step in enumerate(steps)
            if not isinstance(step, Say)
        ]
        message = {"role": "assistant", "content": text or None, "refusal": None}
        choice = {
            "index": 0,
            "finish_reason": "tool_calls" if calls else "stop",
            "logprobs": None,
            "message": message | ({"tool_calls": calls} if calls else {}),
        }
        return {
            "id": f"chatcmpl-{turn}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [choice],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def events(self, reply: JsonObject) -> Iterator[JsonObject | str]:
        """See `ProviderApi`: the message in one piece, then why it ends, then the usage."""
        [choice] = objects(reply["choices"])
        calls: list[Json] = [
            {"index": place, **call}
            for place, call in enumerate(objects(object_of(choice["message"]).get("tool_calls")))
        ]
        delta_message = {**object_of(choice["message"])} | ({"tool_calls": calls} if calls else {})
        for delta, reason in ((delta_message, None), ({}, choice["finish_reason"])):
            part: JsonObject = {"index": 0, "delta": delta, "finish_reason": reason}
            yield _chunk(reply, choices=[part], usage=None)
        yield _chunk(reply, choices=[], usage=reply["usage"])
        yield "[DONE]"

    def error(self, message: str) -> JsonObject:
        """See `ProviderApi`."""
        return openai_error(message)


def _chunk(reply: JsonObject, **facts: Json) -> JsonObject:
    named = {key: reply[key] for key in ("id", "created", "model")}
    return {**named, "object": "chat.completion.chunk", **facts}


def _call(step: Step, visible: Mapping[str, str], id: str) -> JsonObject:
    assert not isinstance(step, Say)  # noqa: S101 - the caller has told them apart
    call = call_of(step, visible)
    function = {"name": call.name, "arguments": arguments_text(call)}
    return {"id": id, "type": "function", "function": function}


def _check_turns(messages: Sequence[JsonObject]) -> None:
    """Every tool call has its message before anything else is said, and there is no other."""
    waiting: set[str] = set()
    for message in messages:
        id = text_of(message.get("tool_call_id"))
        if message.get("role") == "tool":
            refuse(f"tool_call_id '{id}' answers no tool call", when=id not in waiting)
            waiting.discard(id)
            continue
        _refuse_unanswered(waiting)
        waiting = {text_of(call.get("id")) for call in objects(message.get("tool_calls"))}
    _refuse_unanswered(waiting)


def _refuse_unanswered(waiting: set[str]) -> None:
    refuse(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to"
        f" each 'tool_call_id'. No response for: {', '.join(sorted(waiting))}",
        when=bool(waiting),
    )
