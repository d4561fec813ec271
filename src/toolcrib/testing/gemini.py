"""Gemini, as far as functions go: what it refuses, what its model sees, what it answers."""

import re
from collections.abc import Iterator, Mapping, Sequence

from toolcrib.model import Json, JsonObject
from toolcrib.testing.provider import (
    arguments_of,
    call_of,
    object_of,
    objects,
    once_each,
    refuse,
    text_of,
)
from toolcrib.testing.script import Say, Step

MOST_FUNCTIONS = 512
STREAM = ":streamGenerateContent"
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
KEYWORDS = frozenset(
    """
    $id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems
    minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering
    """.split()
)
"""What a schema may have. Names of properties and of definitions are free."""


class GeminiApi:
    """`POST /v1beta/models/NAME:generateContent`, and `:streamGenerateContent` for streams."""

    def is_for(self, path: str) -> bool:
        """See `ProviderApi`."""
        return path.endswith((":generateContent", STREAM))

    def streams(self, path: str, body: JsonObject) -> bool:  # noqa: ARG002 - the path says it
        """See `ProviderApi`."""
        return path.endswith(STREAM)

    def sees(self, body: JsonObject) -> Mapping[str, str]:
        """See `ProviderApi`: all declarations; with a cache, those that lie in it are unknown.

        A scripted model takes a cache for one with the search tool and the proxy tool in it.
        """
        tools = objects(body.get("tools"))
        cached = bool(body.get("cachedContent"))
        refuse(
            "CachedContent can not be used with a request that sets tools",
            when=cached and bool(tools),
        )
        _check_turns(objects(body.get("contents")))
        if cached:
            return {"tool_search": "here", "call_tool": "here"}
        declared = [each for tool in tools for each in objects(tool.get("functionDeclarations"))]
        _check(declared)
        return {text_of(each.get("name")): "here" for each in declared}

    def reply(self, body: JsonObject, steps: Sequence[Step], turn: int) -> JsonObject:
        """See `ProviderApi`."""
        visible = self.sees(body)
        parts: list[Json] = [
            _part(step, visible, f"{turn}_{place}") for place, step in enumerate(steps)
        ]
        content = {"role": "model", "parts": parts}
        return {
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": "scripted",
        }

    def events(self, reply: JsonObject) -> Iterator[JsonObject]:
        """See `ProviderApi`: a chunk for each part, then one that says why it ends."""
        [candidate] = objects(reply["candidates"])
        for part in objects(object_of(candidate["content"]).get("parts")):
            content: JsonObject = {"role": "model", "parts": [part]}
            yield {**reply, "candidates": [{"index": 0, "content": content}]}
        ended: JsonObject = {"index": 0, "finishReason": candidate["finishReason"]}
        yield {**reply, "candidates": [ended]}

    def error(self, message: str) -> JsonObject:
        """See `ProviderApi`."""
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


def _part(step: Step, visible: Mapping[str, str], id: str) -> JsonObject:
    if isinstance(step, Say):
        return {"text": step.text}
    call = call_of(step, visible)
    return {"functionCall": {"id": id, "name": call.name, "args": arguments_of(call)}}


def _check(declared: Sequence[JsonObject]) -> None:
    once_each(
        (text_of(each.get("name")) for each in declared), "Duplicate function declaration: {}"
    )
    refuse(f"at most {MOST_FUNCTIONS} functions", when=len(declared) > MOST_FUNCTIONS)
    for each in declared:
        name = text_of(each.get("name"))
        refuse(f"Invalid function name: {name}", when=not NAME.fullmatch(name))
        refuse(
            f"{name}: parameters and parametersJsonSchema exclude each other",
            when="parameters" in each and "parametersJsonSchema" in each,
        )
        _check_schema(each.get("parametersJsonSchema"), name)


def _check_schema(schema: Json, place: str) -> None:
    if not isinstance(schema, dict):
        return
    for key in schema:
        refuse(f'Invalid JSON payload: Unknown name "{key}" at {place}', when=key not in KEYWORDS)
    for key in ("properties", "$defs"):
        inner = schema.get(key)
        for name, each in inner.items() if isinstance(inner, dict) else ():
            _check_schema(each, f"{place}.{name}")
    for key in ("anyOf", "oneOf", "prefixItems"):
        for each in objects(schema.get(key)):
            _check_schema(each, f"{place}.{key}")
    for key in ("items", "additionalProperties"):
        _check_schema(schema.get(key), f"{place}.{key}")


def _check_turns(contents: Sequence[JsonObject]) -> None:
    """As many answers as calls, right behind them."""
    waiting: list[str] = []
    for content in contents:
        parts = objects(content.get("parts"))
        answers = _names(parts, "functionResponse")
        refuse(
            "the number of function response parts is not that of the function call parts of the"
            " function call turn",
            when=sorted(answers) != sorted(waiting),
        )
        waiting = _names(parts, "functionCall")
    refuse("a function call has no function response", when=bool(waiting))


def _names(parts: Sequence[JsonObject], key: str) -> list[str]:
    found = (part.get(key) for part in parts)
    return [text_of(each.get("name")) for each in found if isinstance(each, dict)]
