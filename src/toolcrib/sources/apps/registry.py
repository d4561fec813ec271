"""All apps: those that registered before, those that join now, and the port where they do."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from toolcrib.sources.apps.cache import KnownApp, SDKToolsCache
from toolcrib.sources.apps.json_rpc import NAME_IN_USE, OVERLOADED, RemoteError
from toolcrib.sources.apps.launch import AppRules
from toolcrib.sources.apps.peer import Peer
from toolcrib.sources.apps.server import AppServer, Hello
from toolcrib.sources.apps.source import AppSource
from toolcrib.system import BackgroundLoop

MOST_APPS = 256


class AppRegistry:
    """The sources of all apps. Opens no port and starts no app before it has to.

    `joined` is called, on any thread, with each app that registers for the first time. `problems`
    are about files in the folder that could not be read.
    """

    def __init__(
        self,
        folder: Path,
        rules: AppRules,
        *,
        joined: Callable[[AppSource], None] = lambda _: None,
    ) -> None:
        self._rules = rules
        self._joined = joined
        self._loop = BackgroundLoop("toolcrib-apps")
        self._cache = SDKToolsCache(folder / "known")
        self._server = AppServer(folder, self._admit)
        records, self.problems = self._cache.read_all()
        self._apps = {record.name: self._source(record) for record in records}

    @property
    def sources(self) -> tuple[AppSource, ...]:
        """Every app that ever registered, in that order."""
        return tuple(self._apps.values())

    def listen(self) -> None:
        """Let apps join from now on. Raises `SourceError` when another process does that."""
        self._loop.submit(self._server.publish()).result()

    def close(self) -> None:
        """End the apps that were launched here, and every connection."""
        self._loop.close(self._end)

    async def _end(self) -> None:
        await asyncio.gather(*(app.stop() for app in self.sources))
        await self._server.close()

    def _admit(self, hello: Hello, peer: Peer) -> AppSource:
        app = self._apps.get(hello.name)
        if app and app.connected:
            raise RemoteError(NAME_IN_USE, f"an app {hello.name!r} is here already; stop one")
        record = KnownApp(hello.name, hello.version, hello.launch)
        if app is None:
            if len(self._apps) >= MOST_APPS:
                raise RemoteError(OVERLOADED, f"there are {MOST_APPS} apps; forget some")
            app = self._apps[hello.name] = self._source(record)
            app.watch(partial(self._joined, app))
        app.connect(peer, record)
        return app

    def _source(self, record: KnownApp) -> AppSource:
        return AppSource(record, self._cache, self._loop, self._server.open, self._rules)
