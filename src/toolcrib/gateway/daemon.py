"""The daemon: one process that owns the pool, the index and the servers, for all clients.

    shims     →  a Unix socket           ┐
    HTTP      →  the edge, on loopback   ├→  the windows of a house  →  its crib
    operator  →  a Unix socket of its own┘

It ends when it is told to, or, if a shim has started it, when nobody has needed it for a while.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from toolcrib.connect import DaemonFiles, DaemonInfo, read_daemon_info
from toolcrib.crib import Crib
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.gateway.background_tasks import BackgroundTasks
from toolcrib.gateway.daemon_lock import DaemonLock
from toolcrib.gateway.file_watcher import FileWatcher
from toolcrib.gateway.http.asgi import App
from toolcrib.gateway.http.guard import HttpGuard
from toolcrib.gateway.http.web_server import WebServer
from toolcrib.gateway.limits import (
    ConnectionBounds,
    ExhaustionLog,
    RequestLimiter,
    descriptor_limit,
    raise_descriptor_limit,
)
from toolcrib.gateway.operator_api import OperatorServer, operator_handlers
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServers as PrincipalWindows
from toolcrib.gateway.server import PrincipalServers
from toolcrib.gateway.serving_state import ServingState
from toolcrib.gateway.shim_connections import ShimConnections
from toolcrib.settings import GatewaySettings, Settings

LOOPBACK = "127.0.0.1"
LOOK_S = 1.0
MOST_STREAMS = 400
WAITING = 512
END_S = 20.0
TAKE_OVER_S = 15.0
"""How long a daemon that a shim started waits for one that is about to end."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_log = logging.getLogger(__name__)


def run_daemon(
    place: DaemonFiles,
    settings: Callable[[], tuple[Settings, str]],
    files: Callable[[Settings], Sequence[Path]],
    ready: Callable[[DaemonInfo], None],
    *,
    detached: bool = False,
) -> None:
    """Be the daemon of a place until told to stop. See `DaemonSetup` and `Daemon.run`.

    One that is `detached`, as a shim starts it, ends when nobody has needed it for a while. Raises
    `ConfigError` if another process is that daemon; a detached one waits for `TAKE_OVER_S` first.
    """
    holding = DaemonLock(place, TAKE_OVER_S if detached else 0.0)

    async def serve() -> None:
        crib = partial(Crib.from_settings, loop=asyncio.get_running_loop())
        opening = DaemonSetup(settings, crib, PrincipalWindows, files)
        await Daemon(opening, holding, ends_when_idle=detached).run(ready, _end_anyway)

    try:
        raise_descriptor_limit()
        asyncio.run(serve())
    finally:
        holding.close()


def _end_anyway() -> None:
    """A thread that hangs in somebody's tool must not keep a daemon that was told to stop."""
    last = threading.Timer(END_S, os._exit, (1,))
    last.daemon = True
    last.start()


class DaemonSetup(NamedTuple):
    """How a crib is opened, and what shows it to principals.

    `settings` reads them, and says what is wrong with their file where they are those of before.
    `files` are what it is all read from.
    """

    settings: Callable[[], tuple[Settings, str]]
    crib: Callable[[Settings], Crib]
    windows: Callable[[Crib], PrincipalServers]
    files: Callable[[Settings], Sequence[Path]]


class Daemon:
    """One gateway, from start to end. `house` is another one after a reload.

    `broken` says what is wrong with each file that cannot be used as it is.
    """

    def __init__(
        self, opening: DaemonSetup, holding: DaemonLock, *, ends_when_idle: bool = False
    ) -> None:
        self._opening = opening
        self._holding = holding
        self.ends_when_idle = ends_when_idle
        self.started = time.monotonic()
        self._used = self.started
        self.admission, self.streams = RequestLimiter(), RequestLimiter(most=MOST_STREAMS)
        self._stopping = asyncio.Event()
        self._reloading = asyncio.Lock()
        self._settings, _ = opening.settings()
        self._watcher = FileWatcher(lambda: opening.files(self._settings))
        self._watcher.look()  # and only then is read what counts
        self._settings, problem = opening.settings()
        crib = opening.crib(self._settings)
        self.broken: tuple[str, ...] = ()
        self._note_broken(problem, crib)
        if crib.rules_problem:  # later, whoever reads them logs it
            _log.error("%s", crib.rules_problem)
        try:
            self._listening = _bound(crib.settings.gateway.port)
        except ConfigError:
            crib.close()
            raise
        self.port: int = self._listening.getsockname()[1]
        self.house = self._housed(crib)
        self._upkeep = BackgroundTasks(crib)
        self._bounds = ConnectionBounds.of(descriptor_limit())
        self.shims = ShimConnections(
            lambda: self.house.credentials, self._windows, self.admission, self._bounds
        )

        self._operator = OperatorServer(operator_handlers(self))

    async def run(
        self, ready: Callable[[DaemonInfo], None], ending: Callable[[], None] = lambda: None
    ) -> None:
        """Serve until told to stop.

        `ready` hears where, once anybody may come; `ending` hears when it begins to end.
        """
        asyncio.get_running_loop().set_exception_handler(ExhaustionLog())
        web, place = WebServer(self._edge(), self._bounds), self._holding.place
        serving = asyncio.create_task(web.serve_on(self._listening))
        self._upkeep.start()
        watching = asyncio.create_task(self._watch())
        try:
            await self.shims.listener.listen(place.socket)
            await self._operator.listener.listen(place.operator)
            self._heed_signals()
            runtime = self._runtime()
            self._holding.tell(runtime)
            ready(runtime)
            await self._until_stopped()
        finally:
            _log.info("stopping")
            ending()
            self._operator.listener.close()
            web.should_exit = True
            watching.cancel()
            await self.shims.close()
            await asyncio.gather(serving, return_exceptions=True)
            async with self._reloading:
                await self._upkeep.close()
                await self.house.close()

    def stop(self) -> None:
        """End soon."""
        self._stopping.set()

    async def reload(self) -> None:
        """Read settings, servers and all else again, and begin anew with that.

        Connections end, and shims come again by themselves; the port stays what it was. Raises
        `ToolcribError` for what cannot be used: there, what was before holds.
        """
        await self._go_by_files(self._begin_anew)

    async def catch_up(self) -> None:
        """Go by what the settings and the files with servers say now, with as little ado as can be.

        Servers that are configured as before run on, and so do calls; other settings of the gateway
        end connections, as a reload does. Raises as that.
        """
        await self._go_by_files(self._change)

    async def _go_by_files(self, go_by: Callable[[Settings], Awaitable[None]]) -> None:
        async with self._reloading:
            try:
                await asyncio.to_thread(self._watcher.look)
                self._settings, problem = await asyncio.to_thread(self._opening.settings)
                await go_by(self._settings)
                self._upkeep.look()
            except ToolcribError as error:
                self._note_broken(str(error), self.house.crib)
                raise
            self._note_broken(problem, self.house.crib)
            if self.broken:
                raise ConfigError("; ".join(self.broken))

    async def _change(self, settings: Settings) -> None:
        crib = self.house.crib
        before = crib.settings
        if not await asyncio.to_thread(crib.take_settings, settings):
            await self._begin_anew(settings)
        elif _seen_by_clients(before) != _seen_by_clients(settings):
            old, self.house = self.house, self._housed(crib)
            await self.shims.drop()
            await old.leave()
            _log.info("the gateway settings have changed; open connections were closed")

    async def _begin_anew(self, settings: Settings) -> None:
        crib = await asyncio.to_thread(self._opening.crib, settings)
        await self._upkeep.close()
        self._upkeep = BackgroundTasks(crib)
        old, self.house = self.house, self._housed(crib)
        await self.shims.drop()
        await old.close()
        self._upkeep.start()
        _log.info("reloaded")

    def _note_broken(self, problem: str, crib: Crib) -> None:
        """Say once what is wrong with a file, and once that it is mended."""
        found = (*filter(None, [problem]), *crib.broken_files)
        for each in found:
            if each not in self.broken:
                _log.error("%s", each)
        rules = crib.rules_problem  # whoever reads them has logged it
        now = tuple(dict.fromkeys((*found, *filter(None, [rules]))))
        if self.broken and not now:
            _log.info("all files can be used again")
        self.broken = now

    async def _watch(self) -> None:
        """Take changes as they come."""
        while True:
            await self._watcher.changed()
            try:
                await self.catch_up()
            except ToolcribError:
                _log.debug("some files cannot be used")  # that was said already
            except Exception:  # noqa: BLE001 - whatever it is, the daemon goes on as it was
                _log.exception("a change of the files could not be applied")

    def _housed(self, crib: Crib) -> ServingState:
        return ServingState(crib, self._opening.windows, self.port)

    def _windows(self) -> PrincipalServers:
        return self.house.windows

    def _edge(self) -> HttpGuard:
        def served(principal: Principal) -> App:
            self._used = time.monotonic()
            return self.house.sessions.of(principal)

        return HttpGuard(
            lambda: self.house.crib.settings.gateway,
            self.port,
            lambda: self.house.credentials,
            self.admission,
            self.streams,
            served,
        )

    def _runtime(self) -> DaemonInfo:
        place = self._holding.place
        return DaemonInfo(os.getpid(), place.socket, place.operator, self.port, version("toolcrib"))

    def _heed_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for each in _SIGNALS:
            loop.add_signal_handler(each, self.stop)
        # A terminal that is closed says the same as an operator who wants a reload.
        loop.add_signal_handler(
            signal.SIGHUP, self.stop if sys.stderr.isatty() else self._reload_soon
        )

    def _reload_soon(self) -> None:
        self._reload = asyncio.ensure_future(self._reload_or_say())

    async def _reload_or_say(self) -> None:
        try:
            await self.reload()
        except ToolcribError:
            _log.warning("not everything was reloaded; the messages above say why")

    async def _until_stopped(self) -> None:
        while not self._stopping.is_set():
            if self.shims.clients or self.admission.running or self.streams.running:
                self._used = time.monotonic()
            await self._drop_taken_back()
            if not await self._is_reachable():
                return
            idle = time.monotonic() - self._used
            if self.ends_when_idle and idle > self.house.crib.settings.gateway.idle_exit_s:
                _log.info("no client has come for %.0f s; ending", idle)
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._stopping.wait()

    async def _is_reachable(self) -> bool:
        """Put back what was removed of our files; False if another daemon has the place by now."""
        place = self._holding.place
        if not self._holding.still_ours():
            _log.error("%s was removed, and another gateway runs in its place; ending", place.held)
            return False
        listeners = (self.shims.listener, self._operator.listener)
        try:
            put_back = [await each.put_back() for each in listeners]
            if read_daemon_info(place) != self._runtime():
                self._holding.tell(self._runtime())
                put_back.append(True)
        except OSError as error:
            _log.error(
                "the gateway's files in %s cannot be put back (%s); ending", place.folder, error
            )
            return False
        if any(put_back):
            _log.warning("the gateway's files in %s were removed, and are put back", place.folder)
        return True

    async def _drop_taken_back(self) -> None:
        """End what is open under keys that are good no longer; requests are refused before that."""
        gone = self.house.credentials.taken_back()
        if gone:
            await self.shims.drop(gone)
            await self.house.sessions.drop(gone)


def _seen_by_clients(settings: Settings) -> GatewaySettings:
    """The settings of the gateway that make a difference to who is connected."""
    same = {"port": 0, "idle_exit_s": 1.0}
    return settings.gateway.model_copy(update=same)


def _bound(port: int) -> socket.socket:
    """A socket on loopback. Raises `ConfigError`."""
    # Named as TCP, so that asyncio sends at once what is written: else every answer takes 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen(WAITING)  # whoever comes before the web server is up waits for it
    except OSError as error:
        listening.close()
        told = f"port {port} of {LOOPBACK} is not to be had ({error.strerror})"
        raise ConfigError(f"{told}; set another `gateway.port`, or 0 for any") from error
    return listening
