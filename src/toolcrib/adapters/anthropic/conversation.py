"""What a conversation on the Messages API shows, and how it is sent again."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

from anthropic.types import MessageParam

from toolcrib.adapters.wire.calls import ToolCall
from toolcrib.adapters.wire.outcome_text import gone_text, loaded_text, text_beside_loaded
from toolcrib.adapters.wire.proxy import paging_tool_in, unwrap_proxy_call
from toolcrib.adapters.wire.reply import objects, text_of
from toolcrib.adapters.wire.user_messages import text_parts
from toolcrib.model import Json, JsonObject, Outcome, ToolInfo
from toolcrib.session import SEARCH_TOOL, UserMessage, revealed_in


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


def said_in(message: MessageParam) -> str:
    """What the user wrote; "" for any other message. One with results holds our remarks too."""
    content = message["content"]
    if message["role"] != "user" or any(typed(objects(content), "tool_result")):
        return ""
    return text_parts(content, "text").strip()


def revealed(messages: Iterable[MessageParam]) -> Iterator[str | UserMessage]:
    """The names that searches have revealed, those that were called, and what the user wrote."""
    calls: dict[str, ToolCall] = {}
    for message in messages:
        if said := said_in(message):
            yield UserMessage(said)
        blocks = objects(message["content"])
        calls |= {call.id: call for call in map(call_of, typed(blocks, "tool_use"))}
        yield from hosted_names(blocks)
        for block in typed(blocks, "tool_result"):
            call = calls.get(text_of(block.get("tool_use_id")))
            if call and call.is_search:
                yield from _revealed_by(block.get("content"))
            elif call and not block.get("is_error"):
                yield from (unwrap_proxy_call(call).name, *paging_tool_in(_text_in(block)))


def call_of(block: JsonObject) -> ToolCall:
    """The call that a `tool_use` block is."""
    arguments = cast("JsonObject", block.get("input") or {})
    return ToolCall(text_of(block.get("id")), text_of(block.get("name")), arguments)


def _revealed_by(content: Json) -> Iterator[str]:
    if isinstance(content, str):
        yield from revealed_in(content)
    yield from _names(content)
    for block in typed(objects(content), "text"):
        yield from revealed_in(text_of(block.get("text")))


def as_referred(
    messages: Sequence[MessageParam],
    deferred: Collection[str],
    shown: Mapping[str, Sequence[ToolInfo]],
) -> list[MessageParam]:
    """The messages as the native wire takes them, with these tools deferred.

    What a search has found becomes references, and references to other tools than these become
    text. Behind a message of the user stands a search for what it has shown. Before a call of a
    tool that nothing refers to any more, for example after a summary, stands a search that does:
    the model would not see its definition otherwise.
    """
    searches = set(_searches(messages))
    worded = with_references_to(messages, deferred)
    referred = [_referring(message, deferred, searches) for message in worded]
    sent: list[MessageParam] = []
    loaded: set[str] = set()
    for message, after in pairwise([*referred, None]):
        loaded |= set(_references(message))
        referred_here = loaded.union(_references(after))
        called = dict.fromkeys(_called(message, after))
        if unreferred := [
            name for name in called if name in deferred and name not in referred_here
        ]:
            sent += _search_for(unreferred, len(sent))
            loaded |= set(unreferred)
        given = cast("MessageParam", message)
        sent.append(given)
        tools = [tool.name for tool in shown.get(said_in(given), ())]
        if new := [name for name in tools if name in deferred and name not in loaded]:
            sent += _search_for(new, len(sent))
            loaded |= set(new)
    return sent


def _called(message: MessageParam | None, after: MessageParam | None) -> Iterator[str]:
    """The names of the calls of a message that the next one answers without an error."""
    pair = [each for each in (message, after) if each]
    names = (name for name in revealed(pair) if isinstance(name, str))
    return (name for name in names if name not in set(_references(after)))


def _references(message: MessageParam | None) -> Iterator[str]:
    blocks = objects(message["content"]) if message else []
    yield from hosted_names(blocks)
    for block in typed(blocks, "tool_result"):
        yield from _names(block.get("content"))


def _search_for(names: Sequence[str], place: int) -> list[MessageParam]:
    """A search that finds these, as a model makes it and we answer it."""
    id = f"toolcrib_{place}"
    arguments = {"query": f"select:{','.join(names)}"}
    use = {"type": "tool_use", "id": id, "name": SEARCH_TOOL.name, "input": arguments}
    found = {"type": "tool_result", "tool_use_id": id, "content": _to(names)}
    turns = {"role": "assistant", "content": [use]}, {"role": "user", "content": [found]}
    return cast("list[MessageParam]", list(turns))


def _searches(messages: Iterable[MessageParam]) -> Iterator[str]:
    """The ids of the searches of a conversation."""
    for message in messages:
        calls = map(call_of, typed(objects(message["content"]), "tool_use"))
        yield from (call.id for call in calls if call.is_search)


def _referring(
    message: MessageParam, deferred: Collection[str], searches: Collection[str]
) -> MessageParam:
    """The message with references in place of the text in which a search found these tools."""
    blocks = objects(message["content"])
    answers = [_text_in(block) if block.get("tool_use_id") in searches else "" for block in blocks]
    found = [[name for name in revealed_in(text) if name in deferred] for text in answers]
    if not any(found):
        return message
    referring = [
        {**block, "content": _to(names)} if names else block
        for block, names in zip(blocks, found, strict=True)
    ]
    besides = (
        text_beside_loaded(Outcome(text))
        for text, names in zip(answers, found, strict=True)
        if names
    )
    texts = [{"type": "text", "text": text} for text in besides if text]
    return cast("MessageParam", {**message, "content": [*referring, *texts]})


def _text_in(block: JsonObject) -> str:
    content = block.get("content")
    parts = "".join(text_of(part.get("text")) for part in typed(objects(content), "text"))
    return text_of(content) or parts


def _to(names: Iterable[str]) -> list[Json]:
    return [{"type": "tool_reference", "tool_name": name} for name in names]


def with_references_to(
    messages: Sequence[MessageParam], deferred: Collection[str] = frozenset()
) -> list[MessageParam]:
    """The messages, with references to other tools than these as text."""
    if set(_all_references(messages)).issubset(deferred):
        return list(messages)
    return [_as_text(message, deferred) for message in messages]


def _all_references(messages: Iterable[MessageParam]) -> Iterator[str]:
    for message in messages:
        for block in typed(objects(message["content"]), "tool_result"):
            yield from _names(block.get("content"))


def _as_text(message: MessageParam, deferred: Collection[str]) -> MessageParam:
    content = message["content"]
    if isinstance(content, str):
        return message
    blocks = [_block_as_text(block, deferred) for block in objects(list(content))]
    return cast("MessageParam", {**message, "content": blocks})


def _block_as_text(block: JsonObject, deferred: Collection[str]) -> JsonObject:
    names = list(_names(block.get("content"))) if block.get("type") == "tool_result" else []
    if set(names).issubset(deferred):
        return block
    content = _to(name for name in names if name in deferred)
    return {**block, "content": content or (gone_text(names) if deferred else loaded_text(names))}
