"""Replies of Gemini: put together from the chunks of a stream, and read."""

from collections.abc import Iterable

from google.genai import types

from toolcrib.adapters.wire.reply import check_ended, check_uncut, read_reply
from toolcrib.errors import ReplyError
from toolcrib.model import JsonObject

EXPECTED = "a GenerateContentResponse of Gemini"
UNREAD = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE")
CUTS = ("MAX_TOKENS", "SAFETY", "PROHIBITED_CONTENT", "SPII", "TOO_MANY_TOOL_CALLS", "OTHER")


def whole_reply(chunks: Iterable[types.GenerateContentResponse]) -> types.GenerateContentResponse:
    """The reply that the chunks of a stream make up: all parts in order, ended as the last one.

    Raises `ReplyError` where there is no chunk with a candidate.
    """
    every = list(chunks)
    candidates = [each for chunk in every for each in (chunk.candidates or [])[:1]]
    if not candidates:
        raise _without_candidate(every[-1] if every else None)
    contents = [each.content for each in candidates if each.content]
    parts = [part for content in contents for part in content.parts or []]
    content = types.Content(role="model", parts=parts)
    whole = candidates[-1].model_copy(update={"content": content})
    return every[-1].model_copy(update={"candidates": [whole]})


def calls_of(reply: types.GenerateContentResponse | JsonObject) -> list[types.FunctionCall]:
    """The calls of a reply that is whole. Raises `ReplyError` for any other."""
    read = _read(reply)
    if not read.candidates:
        raise _without_candidate(read)
    ended = read.candidates[0].finish_reason
    why = ended.value if ended else ""
    check_ended(why, "put the chunks of a stream together with `whole_reply(chunks)`")
    if why in UNREAD:
        raise ReplyError(f"Gemini could not read the model's call ({why}): ask again")
    if why == "CONTINUATION":
        raise ReplyError("the model has more to say (CONTINUATION): ask it to go on")
    calls = read.function_calls or []
    check_uncut(why, CUTS, has_calls=bool(calls))
    return calls


def tokens_of(reply: types.GenerateContentResponse | JsonObject) -> int:
    """The tokens of the conversation up to a reply, as it says; 0 if it does not."""
    usage = _read(reply).usage_metadata
    return (usage and usage.total_token_count) or 0


def _read(reply: types.GenerateContentResponse | JsonObject) -> types.GenerateContentResponse:
    if isinstance(reply, types.GenerateContentResponse):
        return reply
    plain = read_reply(reply, "candidates", EXPECTED)
    try:
        return types.GenerateContentResponse.model_validate(plain)
    except ValueError as error:
        raise ReplyError(f"expected {EXPECTED}, and this is none: {error}") from error


def _without_candidate(reply: types.GenerateContentResponse | None) -> ReplyError:
    feedback = reply.prompt_feedback if reply else None
    why = feedback.block_reason if feedback else None
    reason = f"the prompt was blocked ({why.value})" if why else "no reason is given"
    return ReplyError(f"Gemini has given no reply: {reason}; change what you ask")
