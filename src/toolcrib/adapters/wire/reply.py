"""A reply as it has to be before its calls are made: this provider's, and whole."""

import inspect
from collections.abc import Collection, Mapping
from typing import cast

from toolcrib.adapters.wire.plain import plain
from toolcrib.errors import ReplyError
from toolcrib.model import JsonObject


def read_reply(reply: object, key: str, expected: str) -> JsonObject:
    """A reply as a plain object, which has a list under this key. Raises `ReplyError`.

    `expected` is what the SDK calls such a reply.
    """
    read = plain(reply)
    if isinstance(read, Mapping) and isinstance(read.get(key), list):
        return cast("JsonObject", read)
    raise ReplyError(f"expected {expected}, not {_described(reply)}")


def check_ended(why: str, how: str) -> None:
    """Raises `ReplyError` for a reply that does not say why it ended."""
    if not why:
        raise ReplyError(f"this reply has not come to its end yet: {how}")


def check_uncut(why: str, cuts: Collection[str], *, has_calls: bool) -> None:
    """Raises `ReplyError` for calls in a reply that was cut off: their arguments may be half."""
    if has_calls and why in cuts:
        message = (
            f"this reply was cut off ({why}), so its calls are not made: leave it out of the"
            " conversation, and ask again with room for a longer one"
        )
        raise ReplyError(message)


def _described(reply: object) -> str:
    if inspect.isawaitable(reply):
        return "something to wait for: `await` the SDK's call first"
    if reply is None:
        return "None"
    kind = type(reply)
    return f"a {kind.__qualname__} of {kind.__module__}; hand over what the SDK has returned"
