"""What the items of a conversation show."""

from collections.abc import Iterable, Iterator

from toolcrib.adapters.wire.calls import ToolCall
from toolcrib.adapters.wire.plain import objects, text_of
from toolcrib.adapters.wire.proxy import revealed_by


def revealed(items: Iterable[object]) -> Iterator[str]:
    """The names that searches have revealed, and those that were called, in order.

    For `session.compacted(frozenset(revealed(items)))`, once a conversation was made shorter.
    """
    asked: dict[str, ToolCall] = {}
    for item in objects(list(items)):
        id = text_of(item.get("call_id"))
        match item:
            case {"type": "function_call", "name": str(name)}:
                asked[id] = ToolCall(id, name, text_of(item.get("arguments")))
            case {"type": "function_call_output"} if id in asked:
                yield from revealed_by(asked[id], text_of(item.get("output")))
            case _:
                pass
