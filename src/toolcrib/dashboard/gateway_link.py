"""How the dashboard reaches the gateway: it knows none, and is handed two ways to ask one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

from toolcrib.model import Json


class AskGateway(Protocol):
    """Asks the gateway of these settings, as the operator."""

    def __call__(self, do: str, /, **more: Json) -> Json:
        """Its answer; None if none runs. Raises `ConfigError` if it refuses or fails."""
        ...


WatchGateway: TypeAlias = Callable[[], Iterator[Mapping[str, Any]]]
"""What happens at the gateway as it comes: `events`, maybe none, about every second.

It ends with the gateway, at once if none runs. Raises `OSError` if that falls silent.
"""


def watch_nothing() -> Iterator[Mapping[str, Any]]:
    """For whoever has no gateway to look at."""
    return iter(())
