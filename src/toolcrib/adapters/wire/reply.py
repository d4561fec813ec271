"""A provider's reply: read as plain JSON, and checked to be whole before its calls are made.

SDKs hand over pydantic models, users hand over dictionaries. `sdk_json` makes both the same.
"""

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol, cast, runtime_checkable

from toolcrib.errors import ReplyError
from toolcrib.model import Json, JsonObject


def read_reply(reply: object, key: str, expected: str) -> JsonObject:
    """A reply as a plain object with a list under this key. Raises `ReplyError` for any other.

    `expected` is what the SDK calls such a reply.
    """
    read = sdk_json(reply)
    if isinstance(read, Mapping) and isinstance(read.get(key), list):
        return cast("JsonObject", read)
    raise ReplyError(f"expected {expected}, not {_described(reply)}")


def check_ended(reason: str, remedy: str) -> None:
    """Raises `ReplyError` for a reply that does not say why it ended."""
    if not reason:
        raise ReplyError(f"this reply has not ended yet: {remedy}")


def check_uncut(reason: str, cuts: Collection[str], *, has_calls: bool) -> None:
    """Raises `ReplyError` for calls in a reply that was cut off: arguments may be incomplete."""
    if has_calls and reason in cuts:
        message = (
            f"this reply was cut off ({reason}), so its calls are not made: leave it out of the"
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


@runtime_checkable
class SdkModel(Protocol):
    """A value of an SDK: a pydantic model."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool) -> dict[str, object]: ...


def sdk_json(value: object) -> Json:
    """The value with every pydantic model in it as an object. Anything else is taken for JSON."""
    match value:  # the most frequent first: whether something is a model is slow to tell
        case str() | int() | float() | None:
            return value
        case dict():
            pairs = cast("Mapping[str, object]", value)
            return {key: sdk_json(each) for key, each in pairs.items()}
        case list() | tuple():
            return [sdk_json(each) for each in cast("Sequence[object]", value)]
        case SdkModel():
            return cast("Json", value.model_dump(mode="json", by_alias=True, exclude_none=True))
        case Mapping():
            return sdk_json(dict(cast("Mapping[str, object]", value)))
        case _:
            return cast("Json", value)


def objects(value: object) -> list[JsonObject]:
    """The objects in a list, as plain JSON. Of anything else: none."""
    return [each for each in _each(sdk_json(value)) if isinstance(each, Mapping)]


def text_of(value: object) -> str:
    """The value if it is text, else empty text."""
    return value if isinstance(value, str) else ""


def tokens_in(usage: object, *members: str) -> int:
    """The sum of these members of a provider's token usage; 0 where it gives none."""
    if not isinstance(usage, Mapping):
        return 0
    counts = cast("Mapping[str, object]", usage)
    values = (counts.get(member) for member in members)
    return sum(each for each in values if isinstance(each, int))


def _each(value: Json) -> Iterator[Json]:
    if isinstance(value, list):
        yield from value
