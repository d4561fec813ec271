"""A provider's reply as it has to be before its calls are made: plain JSON, and whole."""

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol, cast, runtime_checkable

from toolcrib.errors import ReplyError
from toolcrib.model import Json, JsonObject

# What an SDK hands over, as plain JSON values.


@runtime_checkable
class SdkModel(Protocol):
    """A value of an SDK: a pydantic model."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool) -> dict[str, object]: ...


def plain_json(value: object) -> Json:
    """The value with every model in it as an object; what is neither is taken for JSON."""
    match value:
        case SdkModel():
            return cast("Json", value.model_dump(mode="json", by_alias=True, exclude_none=True))
        case Mapping():
            pairs = cast("Mapping[str, object]", value)
            return {key: plain_json(each) for key, each in pairs.items()}
        case list() | tuple():
            return [plain_json(each) for each in cast("Sequence[object]", value)]
        case _:
            return cast("Json", value)


def objects(value: object) -> list[JsonObject]:
    """The objects of a list, as plain ones; of anything else none."""
    return [each for each in _each(plain_json(value)) if isinstance(each, Mapping)]


def text_of(value: object) -> str:
    """A text, or none."""
    return value if isinstance(value, str) else ""


def tokens_in(usage: object, *members: str) -> int:
    """The sum of these members of what a provider says of tokens; 0 if it says nothing."""
    if not isinstance(usage, Mapping):
        return 0
    counts = cast("Mapping[str, object]", usage)
    said = (counts.get(member) for member in members)
    return sum(each for each in said if isinstance(each, int))


def _each(value: Json) -> Iterator[Json]:
    if isinstance(value, list):
        yield from value


def read_reply(reply: object, key: str, expected: str) -> JsonObject:
    """A reply as a plain object, which has a list under this key. Raises `ReplyError`.

    `expected` is what the SDK calls such a reply.
    """
    read = plain_json(reply)
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
