"""The text of a result, once, whether it came as text, as JSON or as both."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from toolcrib.model import Json, JsonObject, Outcome

_WHITE = " \t\n\r"
_LONGEST_ESCAPE = 6
_AROUND = 8
"""More than there is around a value: its line, quotes, brackets and comma."""


class ResultText(NamedTuple):
    """The text of a result, and its blocks that are not text: images, audio, links."""

    text: str
    others: Sequence[JsonObject]


def result_text(outcome: Outcome) -> ResultText:
    """Text as it is, also that of resources; other values as JSON, in lines.

    Structured content is a part of it, unless the text says the same: most servers send both.
    """
    texts, others = _parts(outcome)
    parts = list(texts)
    if outcome.structured is not None and not _repeats(texts, outcome.structured):
        parts.append(_in_lines(outcome.structured))
    return ResultText("\n".join(parts), others)


def most_characters(outcome: Outcome, most: int) -> int:
    """How long the text of a result is at most; some number above `most` if that is too long.

    This costs less than the text itself.
    """
    texts, _ = _parts(outcome)
    length = sum(map(len, texts)) + len(texts)
    waiting: list[tuple[Json, int]] = [(outcome.structured, 0)]
    while waiting and length <= most:
        each, depth = waiting.pop()
        if isinstance(each, str):
            length += _LONGEST_ESCAPE * len(each)
        elif isinstance(each, Mapping):
            length += sum(_LONGEST_ESCAPE * len(key) for key in each)
            waiting += [(inner, depth + 1) for inner in each.values()]
        elif isinstance(each, list):
            waiting += [(inner, depth + 1) for inner in each]
        else:
            length += len(str(each))
        length += 2 * (depth + _AROUND)
    return length


def _parts(outcome: Outcome) -> tuple[list[str], list[JsonObject]]:
    content = outcome.content
    if content is None:
        return [], []
    if not (outcome.blocks and isinstance(content, list)):
        return [content if isinstance(content, str) else _in_lines(content)], []
    texts: list[str] = []
    others: list[JsonObject] = []
    for block in content:
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "resource", "resource": {"text": str(text)}}:
                texts.append(text)
            case Mapping():
                others.append(block)
            case _:
                texts.append(_in_lines(block))
    return texts, others


def _repeats(texts: Sequence[str], structured: Json) -> bool:
    """Whether the texts say the same as the structured content, or as the value in it."""
    return any(_is_value(texts, value) for value in _values(structured))


def _values(structured: Json) -> Iterator[Json]:
    """The value, and the only value in it: servers wrap what is no object into one."""
    yield structured
    if isinstance(structured, Mapping) and len(structured) == 1:
        yield next(iter(structured.values()))


def _is_value(texts: Sequence[str], value: Json) -> bool:
    """Whether one text is the value, or each text an item of it."""
    if len(texts) == 1 and _is(texts[0], value):
        return True
    each = value if isinstance(value, list) else []
    return len(texts) == len(each) > 0 and all(map(_is, texts, each))


def _is(text: str, value: Json) -> bool:
    if isinstance(value, str):
        return text == value
    opening = "{" if isinstance(value, Mapping) else "[" if isinstance(value, list) else ""
    return text.lstrip(_WHITE).startswith(opening) and _read(text) == value


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ...


def _in_lines(value: Json) -> str:
    """JSON that can be read and searched by lines."""
    return json.dumps(value, ensure_ascii=False, indent=1)
