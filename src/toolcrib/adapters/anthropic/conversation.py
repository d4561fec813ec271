"""What a conversation on the Messages API shows, and what of it can be sent again."""

from collections.abc import Iterable, Iterator
from typing import cast

from anthropic.types import MessageParam

from toolcrib.adapters.wire.plain import objects, text_of
from toolcrib.adapters.wire.told import told_gone, told_loaded
from toolcrib.model import Json, JsonObject
from toolcrib.session.found import revealed_in
from toolcrib.session.search_tool import NAMES


def typed(blocks: Iterable[JsonObject], kind: str) -> Iterator[JsonObject]:
    """The blocks of one type."""
    return (block for block in blocks if block.get("type") == kind)


def hosted_names(blocks: Iterable[JsonObject]) -> Iterator[str]:
    for block in typed(blocks, "tool_search_tool_result"):
        match block.get("content"):
            case {"tool_references": [*references]}:
                yield from _names(references)
            case _:
                pass  # the search failed; the model reads why


def _names(references: object) -> Iterator[str]:
    for reference in typed(objects(references), "tool_reference"):
        yield text_of(reference.get("tool_name"))


def revealed(messages: Iterable[MessageParam]) -> Iterator[str]:
    """The names that the searches of a conversation have revealed, in its order."""
    searches: set[str] = set()
    for message in messages:
        blocks = objects(message["content"])
        searches |= {
            text_of(block.get("id"))
            for block in typed(blocks, "tool_use")
            if block.get("name") in NAMES
        }
        yield from hosted_names(blocks)
        for block in typed(blocks, "tool_result"):
            if block.get("tool_use_id") in searches:
                yield from _revealed_by(block.get("content"))


def _revealed_by(content: Json) -> Iterator[str]:
    if isinstance(content, str):
        yield from revealed_in(content)
    yield from _names(content)
    for block in typed(objects(content), "text"):
        yield from revealed_in(text_of(block.get("text")))


def with_known(messages: list[MessageParam], known: set[str]) -> list[MessageParam]:
    """The messages, with references to other tools than these in words."""
    if set(_all_references(messages)) <= known:
        return messages
    return [_in_words(message, known) for message in messages]


def _all_references(messages: Iterable[MessageParam]) -> Iterator[str]:
    for message in messages:
        for block in typed(objects(message["content"]), "tool_result"):
            yield from _names(block.get("content"))


def _in_words(message: MessageParam, known: set[str]) -> MessageParam:
    content = message["content"]
    if isinstance(content, str):
        return message
    blocks = [_block_in_words(block, known) for block in objects(list(content))]
    return cast("MessageParam", {**message, "content": blocks})


def _block_in_words(block: JsonObject, known: set[str]) -> JsonObject:
    names = list(_names(block.get("content"))) if block.get("type") == "tool_result" else []
    if set(names) <= known:
        return block
    kept = [name for name in names if name in known]
    content: Json = [{"type": "tool_reference", "tool_name": name} for name in kept]
    return {**block, "content": content or (told_gone(names) if known else told_loaded(names))}
