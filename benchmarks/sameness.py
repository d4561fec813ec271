"""Wherein a server is another behind the gateway: in what is listed, in what is answered."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.real_servers import Ask

Wire = Mapping[str, Any]

DEFINITION = ("title", "description", "inputSchema", "outputSchema", "annotations", "_meta")
OURS = frozenset(
    {"anthropic/alwaysLoad", "anthropic/searchHint", "io.modelcontextprotocol/serverInfo"}
)
"""What the gateway adds: for hosts that defer tools, and who it is."""
REFUSED, PAGED = "refused", "paged"
"""An answer that was an error of the protocol; one that came in pages: the text of either."""
MUCH = 400
"""So many signs of an answer are told."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one client saw of a server: its tools by their bare names, and what was answered."""

    tools: Mapping[str, Wire]
    answers: Sequence[Wire] = ()


def of_lists(direct: Mapping[str, Wire], through: Mapping[str, Wire]) -> Iterator[str]:
    """What is listed by one alone, and what is defined otherwise."""
    yield from (f"{name} is not listed" for name in direct if name not in through)
    yield from (f"{name} is not the server's" for name in through if name not in direct)
    for name in [name for name in direct if name in through]:
        for key in DEFINITION:
            expected, got = (_part(tool[name], key) for tool in (direct, through))
            if expected != got:
                yield f"{name}: {key} is {got} instead of {expected}"


def of_answers(
    asks: Sequence[Ask], direct: Sequence[Wire], through: Sequence[Wire]
) -> Iterator[str]:
    """Which call was answered otherwise, but for whose turn it was and what varies."""
    for ask, alone, behind in zip(asks, direct, through, strict=True):
        expected, got = (_plain(each, ask) for each in _comparable(alone, behind))
        if expected != got:
            yield f"{ask.tool}: {got[:MUCH]} instead of {expected[:MUCH]}"


def text_of(content: Sequence[Wire]) -> str:
    """All text of a result."""
    return "".join(each.get("text", "") for each in content)


def _part(tool: Wire, key: str) -> object:
    """A part of a definition, as a client takes it."""
    annotations: Wire = tool.get("annotations") or {}
    match key:
        case "_meta":
            return _without_ours(tool.get("_meta"))
        case "title":
            return tool.get("title") or annotations.get("title")
        case "annotations":  # not to be said to read is to be said not to
            return {"readOnlyHint": False, **annotations}
        case _:
            return tool.get(key)


def _comparable(alone: Wire, behind: Wire) -> tuple[Wire, Wire]:
    """The two, in one form.

    An error of the protocol comes from the gateway as a result, which models get to read, and has
    to have its words. Of what comes in pages the text counts.
    """
    if REFUSED in alone and behind.get("isError"):
        said, words = _one_line(text_of(behind["content"])), _one_line(alone[REFUSED])
        return {REFUSED: words}, {REFUSED: words if words in said else said}
    if PAGED in behind:
        return {PAGED: text_of(alone.get("content", ()))}, behind
    return alone, behind


def _one_line(text: str) -> str:
    return re.sub(r"\d+", "0", " ".join(text.split()))


def _plain(answer: Wire, ask: Ask) -> str:
    kept = {**answer, "resultType": None, "_meta": _without_ours(answer.get("_meta"))}
    text = re.sub(r"turn\d", "turn", json.dumps(kept, ensure_ascii=False, sort_keys=True))
    return re.sub(ask.varying, "…", text) if ask.varying else text


def _without_ours(meta: Wire | None) -> Wire:
    return {name: each for name, each in (meta or {}).items() if name not in OURS}
