"""What the daemon needs of whoever shows the pool: a window for each guest, and one for all."""

from typing import Any, Protocol

from toolcrib.gateway.guest import Guest
from toolcrib.gateway.sdk import Server


class Window(Protocol):
    """What one guest sees. `server` speaks both eras, on any transport."""

    @property
    def server(self) -> Server[Any]: ...


class Windows(Protocol):
    """One window a guest, made when it is first asked for."""

    def of(self, guest: Guest, /) -> Window: ...
    def close(self) -> None: ...
