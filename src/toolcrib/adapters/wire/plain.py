"""What an SDK hands over, as plain JSON values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast, runtime_checkable

from toolcrib.model import Json, JsonObject


@runtime_checkable
class Model(Protocol):
    """A value of an SDK: a pydantic model."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool) -> dict[str, object]: ...


def plain(value: object) -> Json:
    """The value with every model in it as an object; what is neither is taken for JSON."""
    match value:
        case Model():
            return cast("Json", value.model_dump(mode="json", by_alias=True, exclude_none=True))
        case Mapping():
            pairs = cast("Mapping[str, object]", value)
            return {key: plain(each) for key, each in pairs.items()}
        case list() | tuple():
            return [plain(each) for each in cast("Sequence[object]", value)]
        case _:
            return cast("Json", value)


def objects(value: object) -> list[JsonObject]:
    """The objects of a list, as plain ones; of anything else none."""
    return [each for each in _each(plain(value)) if isinstance(each, Mapping)]


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
