"""What the items of a conversation show."""

from collections.abc import Iterable, Iterator

from toolcrib.adapters.wire.plain import objects, text_of
from toolcrib.session.found import revealed_in
from toolcrib.session.search_tool import NAMES


def revealed(items: Iterable[object]) -> Iterator[str]:
    """The names that searches have revealed, in order.

    For `session.compacted(frozenset(revealed(items)))`, once a conversation was made shorter.
    """
    searches: set[str] = set()
    for item in objects(list(items)):
        if item.get("type") == "function_call" and item.get("name") in NAMES:
            searches.add(text_of(item.get("call_id")))
        if item.get("type") == "function_call_output" and item.get("call_id") in searches:
            yield from revealed_in(text_of(item.get("output")))
