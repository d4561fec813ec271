"""Between JSON and what a program has: results that it gets, and the value that it gives back."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import cast

from toolcrib.model import Json, Outcome
from toolcrib.strict_json import json_deeper_than

MOST_DEPTH = 64
LONGEST_TEXT = 10_000
MOST_BITS = 8_192
"""Of an integer; a few thousand digits more, and Python itself refuses to write it."""


def result_value(outcome: Outcome) -> Json:
    """What a program gets of a call.

    Structured content where there is any; the value of a text that is a JSON object or list; else
    the text. What is nested too deep comes as text.
    """
    if outcome.structured is not None:
        value = outcome.structured
    elif outcome.blocks:
        value = _of_blocks(outcome.content)
    else:
        value = outcome.content
    if isinstance(value, str):
        value = _read(value)
    deep = json_deeper_than(value, MOST_DEPTH)
    return _clean(json.dumps(value, ensure_ascii=False) if deep else value)


def returned_value(value: object, depth: int = MOST_DEPTH) -> Json:
    """What a program gives back as JSON: sets and tuples are lists, keys are text.

    What is nested too deep, or has no place in JSON, is the text of it.
    """
    match value:
        case None | bool() | str():
            return value
        case int() | float():
            return _number(value)
        case _ if depth == 0:
            return "..."
        case Mapping():
            items = cast("Mapping[object, object]", value).items()
            return {_key(key): returned_value(each, depth - 1) for key, each in items}
        case list() | tuple() | set() | frozenset():
            each_of = cast("list[object]", value)
            return [returned_value(each, depth - 1) for each in each_of]
        case _:
            return str(value)[:LONGEST_TEXT]


def shown_value(value: Json, printed: str) -> Json:
    """What a model gets: the value, behind what was printed if there is any."""
    if not printed:
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return printed if value is None else f"{printed.removesuffix(chr(10))}\n{text}"


def size_of(value: Json) -> int:
    """The size of a result, in characters."""
    return len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))


def _number(value: float) -> Json:
    if isinstance(value, int):
        bits = value.bit_length()
        return value if bits <= MOST_BITS else f"an integer of {bits:,} bits"
    return value if isfinite(value) else repr(value)


def _key(key: object) -> str:
    return key if isinstance(key, str) else str(key)[:LONGEST_TEXT]


def _of_blocks(content: Json) -> Json:
    """The text of MCP's blocks if they are all text; else the blocks themselves."""
    blocks = content if isinstance(content, list) else [content]
    texts = [
        block["text"]
        for block in blocks
        if isinstance(block, Mapping) and block.get("type") == "text"
    ]
    if len(texts) != len(blocks):
        return content
    return "\n".join(map(str, texts))


def _read(text: str) -> Json:
    """The value of a text that is a JSON object or list; else the text."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _clean(value: Json) -> Json:
    """Without halves of surrogate pairs, which no other reader takes."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case Mapping():
            return {_clean_key(key): _clean(each) for key, each in value.items()}
        case list() | tuple():
            return [_clean(each) for each in value]
        case _:
            return value


def _clean_key(key: str) -> str:
    return key.encode("utf-8", "replace").decode()
