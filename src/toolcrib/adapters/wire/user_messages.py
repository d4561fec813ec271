"""What the user wrote, told apart from all else that reaches a model in the user's name.

Only this is prefetched. Results of tools come in messages of the user too, and so do our own
remarks on a search, which quote strangers: neither is ever searched.
"""

from collections.abc import Iterable, Iterator

from toolcrib.adapters.wire.reply import objects, text_of
from toolcrib.model import Json, JsonObject


def text_parts(content: object, *kinds: str) -> str:
    """The text of a content: as it is, or its parts of these kinds; "" for anything else."""
    parts = (part for part in objects(content) if part.get("type") in kinds)
    return text_of(content) or "\n".join(text_of(part.get("text")) for part in parts)


def with_text(content: Json, part: JsonObject) -> list[Json]:
    """A content with one more part behind the others."""
    if isinstance(content, str):
        return [{**part, "text": content}, part]
    return [*objects(content), part]


def said_in_items(items: Iterable[JsonObject]) -> Iterator[str]:
    """For each item of OpenAI's Responses what the user wrote; "" for every other item.

    What stands directly behind the output of a call belongs to that: there a wire puts what has no
    place in the output.
    """
    is_behind_output = False
    for item in items:
        is_output = text_of(item.get("type")).endswith("_output")
        is_carrier = item.get("type") == "additional_tools"
        is_user = item.get("role") == "user"
        is_behind_output = is_output or (is_behind_output and (is_user or is_carrier))
        said = text_parts(item.get("content"), "input_text", "text")
        yield said.strip() if is_user and not is_behind_output else ""
