"""Who wants to hear when a resource of a server is another."""

from collections.abc import Callable

Heard = Callable[[], None]


class Watchers:
    """By the server's own URIs. Those who hear are called on the loop of the engine room."""

    def __init__(self) -> None:
        self._heard: dict[str, list[Heard]] = {}

    def uris(self) -> tuple[str, ...]:
        """All that somebody wants to hear of."""
        return tuple(self._heard)

    def add(self, uri: str, heard: Heard) -> None:
        self._heard.setdefault(uri, []).append(heard)

    def remove(self, uri: str, heard: Heard) -> bool:
        """Whether nobody is left who wants to hear of it."""
        here = self._heard.get(uri, [])
        if heard in here:
            here.remove(heard)
        if here or uri not in self._heard:
            return False
        del self._heard[uri]
        return True

    def updated(self, uri: str) -> None:
        """Tell all who want to hear of it."""
        for heard in tuple(self._heard.get(uri, ())):
            heard()
