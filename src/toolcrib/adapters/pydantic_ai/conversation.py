"""A session for a run of pydantic-ai: what is revealed is read from its messages alone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolReturnPart,
    post_compaction_window,
)

from toolcrib.adapters.wire.proxy import paging_tool_in
from toolcrib.crib import Crib
from toolcrib.session import SEARCH_TOOL_NAMES, Session, revealed_in

Sessions: TypeAlias = Crib | Callable[[Any], Session]
"""A crib, or what makes a session without an id for the `deps` of a run."""


def session_for(sessions: Sessions, deps: object) -> Session:
    """A session that nothing is revealed in yet."""
    return sessions.session() if isinstance(sessions, Crib) else sessions(deps)


def session_in(sessions: Sessions, deps: object, messages: Sequence[ModelMessage]) -> Session:
    """A session with everything revealed that the messages show since the last compaction."""
    session = session_for(sessions, deps)
    window = post_compaction_window(messages)
    session.used(_used(_before_reply(window)))
    session.see(revealed(window))
    return session


def revealed(messages: Iterable[ModelMessage]) -> Iterator[str]:
    """The names that searches have revealed, and those that were called, in order."""
    for part in _returns(messages):
        if part.outcome == "success":
            text = part.model_response_str()
            called = (part.tool_name, *paging_tool_in(text))
            yield from revealed_in(text) if part.tool_name in SEARCH_TOOL_NAMES else called


def _before_reply(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """The messages without a reply whose calls are being made: its request is what counts."""
    return messages[:-1] if messages and isinstance(messages[-1], ModelResponse) else messages


def _returns(messages: Iterable[ModelMessage]) -> Iterator[ToolReturnPart]:
    for message in messages:
        if isinstance(message, ModelRequest):
            yield from (part for part in message.parts if isinstance(part, ToolReturnPart))


def _used(messages: Iterable[ModelMessage]) -> int:
    """The tokens of the conversation at its longest, as far as the provider reported them."""
    usages = (message.usage for message in messages if isinstance(message, ModelResponse))
    return max((usage.total_tokens for usage in usages), default=0)
