"""Who wants to know when the pool changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolcrib.model import Entry

TOOLS_UPDATED: Literal["TOOLS_UPDATED"] = "TOOLS_UPDATED"


@dataclass(frozen=True, slots=True)
class ToolsUpdated:
    """What a refresh changed. `changed` are the new entries, `removed` the old ones.

    Where a whole file of entries was taken in, `added` makes them one by one as they are read.
    """

    added: Sequence[Entry]
    changed: Sequence[Entry]
    removed: Sequence[Entry]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


Listener: TypeAlias = Callable[[ToolsUpdated], None]


class EventBus:
    """Calls listeners in the order they subscribed. A listener that raises stops the rest."""

    def __init__(self) -> None:
        self._listeners: dict[str, dict[object, Listener]] = {TOOLS_UPDATED: {}}

    def subscribe(self, event: Literal["TOOLS_UPDATED"], listener: Listener) -> Callable[[], None]:
        """Listen from now on. Returns what ends it."""
        key = object()
        self._listeners[event][key] = listener
        return lambda: self._listeners[event].pop(key, None) and None

    def publish(self, event: Literal["TOOLS_UPDATED"], news: ToolsUpdated) -> None:
        """Tell everyone who listens."""
        for listener in tuple(self._listeners[event].values()):
            listener(news)
