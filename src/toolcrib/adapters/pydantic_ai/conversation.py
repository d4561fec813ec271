"""A session for a run of pydantic-ai: what is revealed is read from its messages alone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    ToolReturnPart,
    UserPromptPart,
    post_compaction_window,
)

from toolcrib.adapters.auto import choose_prefetch
from toolcrib.adapters.wire.proxy import paging_tool_in
from toolcrib.crib import Crib
from toolcrib.session import SEARCH_TOOL_NAMES, Session, UserMessage, revealed_in

Sessions: TypeAlias = Crib | Callable[[Any], Session]
"""A crib, or what makes a session without an id for the `deps` of a run."""


def session_for(sessions: Sessions, deps: object) -> Session:
    """A session that nothing is revealed in yet."""
    return sessions.session() if isinstance(sessions, Crib) else sessions(deps)


def session_in(
    sessions: Sessions, deps: object, messages: Sequence[ModelMessage], model: str | None = None
) -> Session:
    """A session with everything revealed that the messages show since the last compaction.

    With a `model` the newest message of the user is prefetched, if that is to be done for it.
    """
    session = session_for(sessions, deps)
    window = post_compaction_window(messages)
    session.used(_used(_before_reply(window)))
    prefetch = None if model is None else choose_prefetch(session.prefetch_mode, model).on
    session.see(revealed(window), prefetch=prefetch)
    return session


def revealed(messages: Iterable[ModelMessage]) -> Iterator[str | UserMessage]:
    """The names that searches have revealed, those that were called, and what the user wrote."""
    for part in _parts(messages):
        if isinstance(part, UserPromptPart):
            if said := _said(part):
                yield UserMessage(said)
        elif part.outcome == "success":
            text = part.model_response_str()
            called = (part.tool_name, *paging_tool_in(text))
            yield from revealed_in(text) if part.tool_name in SEARCH_TOOL_NAMES else called


def _before_reply(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """The messages without a reply whose calls are being made: its request is what counts."""
    return messages[:-1] if messages and isinstance(messages[-1], ModelResponse) else messages


def _parts(messages: Iterable[ModelMessage]) -> Iterator[ToolReturnPart | UserPromptPart]:
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, ToolReturnPart | UserPromptPart):
                    yield part


def _said(part: UserPromptPart) -> str:
    """The text of what the user wrote."""
    pieces = [part.content] if isinstance(part.content, str) else part.content
    texts = (each.content if isinstance(each, TextContent) else each for each in pieces)
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _used(messages: Iterable[ModelMessage]) -> int:
    """The tokens of the conversation at its longest, as far as the provider reported them."""
    usages = (message.usage for message in messages if isinstance(message, ModelResponse))
    return max((usage.total_tokens for usage in usages), default=0)
