"""Whom the screens ask: a gateway that runs, or a crib in this process."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Protocol, TypeAlias

from toolcrib.crib import Crib
from toolcrib.errors import ConfigError
from toolcrib.model import Json
from toolcrib.settings import Settings
from toolcrib.sources.mcp import McpServers

OpenCrib: TypeAlias = Callable[[], AbstractContextManager[Crib]]
"""A crib to look into, for as long as the block lasts. Raises `ToolcribError`."""
FileTimes: TypeAlias = Mapping[Path, int]


class AskGateway(Protocol):
    """Asks the gateway of these settings, as the operator."""

    def __call__(self, do: str, /, **more: Json) -> Json:
        """Its answer; None if none runs. Raises `ConfigError` if it refuses or fails."""
        ...


WatchGateway: TypeAlias = Callable[[], Iterator[Mapping[str, Any]]]
"""What happens at the gateway as it comes: `events`, maybe none, about every second.

It ends with the gateway, at once if none runs. Raises `OSError` if that falls silent.
"""


class KeyFacts(Protocol):
    """What is known of a key of a client."""

    @property
    def name(self) -> str: ...
    @property
    def profiles(self) -> tuple[str, ...]: ...
    @property
    def made_at(self) -> float: ...
    @property
    def expires_at(self) -> float | None: ...
    @property
    def used_at(self) -> float: ...


class ClientKeys(Protocol):
    """The keys of clients. Both of the first raise `ToolcribError`."""

    def all(self) -> Sequence[KeyFacts]: ...
    def remove(self, name: str) -> None: ...
    def close(self) -> None: ...


OpenKeys: TypeAlias = Callable[[], ClientKeys]
"""The keys of the settings as they are now."""


class NoKeys:
    """For whoever has no clients with keys."""

    def all(self) -> Sequence[KeyFacts]:
        """None."""
        return ()

    def remove(self, name: str) -> None:
        """There is none to remove. Raises `ConfigError`."""
        raise ConfigError(f"there is no key {name!r}")

    def close(self) -> None:
        """Nothing is open."""


def watch_nothing() -> Iterator[Mapping[str, Any]]:
    """For whoever has no gateway to look at."""
    return iter(())


class OwnCrib:
    """A crib of the operator's settings, for what no gateway should be busy with.

    It is opened when it is first asked for, kept, and brought up to date before each use. It starts
    no server. One thread at a time looks into it.
    """

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self._turn = RLock()
        self._crib: Crib | None = None
        self._files: FileTimes = {}

    @contextmanager
    def __call__(self) -> Generator[Crib]:
        """The crib as the files are now. Raises `ToolcribError`."""
        with self._turn:
            yield self._current()

    def close(self) -> None:
        """Let go of it."""
        with self._turn:
            if self._crib:
                self._crib.close()
            self._crib = None

    def _current(self) -> Crib:
        settings = self._settings()
        listed = McpServers.listing_files(settings.state_folder)
        files = _times((*settings.mcp_config, *listed))
        if self._crib and (self._crib.settings, self._files) == (settings, files):
            return self._crib
        self.close()
        self._crib, self._files = Crib.from_settings(settings), files
        return self._crib


def _times(files: Iterable[Path]) -> FileTimes:
    return {path: _time(path) for path in files}


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
