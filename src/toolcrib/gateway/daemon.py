"""The daemon: one process that owns the pool, the index and the servers, for all clients.

    shims     →  ShimConnections, a Unix socket  ┐
    HTTP      →  HttpListener, HttpGuard         ├→  ServingState: the crib, and a server for each
    operator  →  OperatorServer, a Unix socket   ┘   principal; of other tenants: `Tenants`

It ends when it is told to, or, if a shim has started it, when nobody has needed it for a while.
"""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from toolcrib.connect import DaemonInfo
from toolcrib.crib import Crib, events_of
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.gateway.background_tasks import BackgroundTasks
from toolcrib.gateway.credentials import RequestAuthenticator
from toolcrib.gateway.daemon_lock import DaemonLock
from toolcrib.gateway.file_watcher import FileWatcher
from toolcrib.gateway.gateway_metrics import metrics_page_of
from toolcrib.gateway.http.edge_log import EdgeLog
from toolcrib.gateway.http.guard import HttpGuard, MetricsPage
from toolcrib.gateway.http.listener import HttpListener
from toolcrib.gateway.limits import (
    ConnectionBounds,
    ExhaustionLog,
    descriptor_limit,
)
from toolcrib.gateway.modes import check_modes
from toolcrib.gateway.operator_api import OperatorServer, operator_handlers
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.quotas import RequestLimiter
from toolcrib.gateway.server import GatewayServers
from toolcrib.gateway.serving_state import ServingState
from toolcrib.gateway.shim_connections import ShimConnections
from toolcrib.gateway.signal_handlers import SignalHandlers
from toolcrib.gateway.surface_recorder import SurfaceFile
from toolcrib.gateway.tenant_router import TenantRouter
from toolcrib.gateway.tenants import Tenants, check_tenants
from toolcrib.http import App
from toolcrib.observe import can_measure
from toolcrib.settings import GatewaySettings, Settings
from toolcrib.wiring import deferral_of

LOOK_S = 1.0
MOST_STREAMS = 400

_OF_THE_LISTENER = """bind port tls_certificate tls_key behind_proxy trusted_proxies drain_s
    idle_exit_s tenants tenant_memory_mb""".split()

_log = logging.getLogger(__name__)


class DaemonSetup(NamedTuple):
    """How a daemon opens its crib.

    `settings` reads them. Where their file is broken it gives those of before, and the problem.
    `servers` makes the servers of principals. `config_files` are what all of it is read from.
    `free` is called on a thread once much has been made or closed: it frees what nobody holds.
    """

    settings: Callable[[], tuple[Settings, str]]
    crib: Callable[[Settings], Crib]
    servers: Callable[[Crib], GatewayServers]
    config_files: Callable[[Settings], Sequence[Path]]
    free: Callable[[], object] = lambda: None


class Daemon:
    """One gateway, from start to end. `serving` is replaced by a reload.

    `broken` has a problem for each file that cannot be used as it is.
    """

    def __init__(
        self, setup: DaemonSetup, lock: DaemonLock, *, ends_when_idle: bool = False
    ) -> None:
        self._setup = setup
        self._lock = lock
        self.ends_when_idle = ends_when_idle
        self.started = time.monotonic()
        self._used = self.started
        self.request_limiter = RequestLimiter()
        self.stream_limiter = RequestLimiter(MOST_STREAMS, self.request_limiter.rates)
        self._stopping = asyncio.Event()
        self._reloading = asyncio.Lock()
        self._settings, _ = setup.settings()
        self._watcher = FileWatcher(lambda: setup.config_files(self._settings))
        self._watcher.look()  # before the files are read that count
        self._settings, problem = setup.settings()
        check_modes(self._settings)
        self.read_ns = time.time_ns()
        crib = setup.crib(self._settings)
        self.broken: tuple[str, ...] = ()
        self._note_broken(problem, crib)
        if crib.operator.rules_problem:  # later, their reader logs it
            _log.error("%s", crib.operator.rules_problem)
        try:
            check_tenants(crib.settings)
            self.http = HttpListener(crib.settings.gateway)
        except ConfigError:
            crib.close()
            raise
        self.port = self.http.port
        self.serving = self._serving_state(crib)
        self.tenants = Tenants(lambda: self.serving, setup.servers, self.port, setup.free)
        self._router = TenantRouter(self.tenants)
        self._background = BackgroundTasks(crib)
        self._has_loaded = False
        self._freed: BackgroundTasks | None = None
        self._bounds = ConnectionBounds.of(descriptor_limit())
        self.shims = ShimConnections(
            lambda: self.serving.authenticator,
            lambda: self.serving.servers,
            self.request_limiter,
            self._bounds,
            SurfaceFile(lock.files, lambda: self._watcher.seen),
        )
        self._operator = OperatorServer(operator_handlers(self))

    async def run(
        self, ready: Callable[[DaemonInfo], None], ending: Callable[[], None] = lambda: None
    ) -> None:
        """Serve until told to stop.

        `ready` is called with where it is, once clients may come; `ending` when it begins to end.
        """
        asyncio.get_running_loop().set_exception_handler(ExhaustionLog())
        files = self._lock.files
        self.http.start(self._guard(), self._bounds)
        self._background.start()
        watching = asyncio.create_task(self._watch())
        try:
            await self.shims.listener.listen(files.socket)
            await self._operator.listener.listen(files.operator)
            SignalHandlers(self.drain, self.stop, self.reload).install()
            info = self._info()
            self._lock.publish(info)
            ready(info)
            await self._until_stopped()
        finally:
            _log.info("stopping")
            ending()
            self._operator.listener.close()
            self.http.stop()
            watching.cancel()
            await self.shims.close()
            await self.serving.sessions.close()  # else the web server would wait for their requests
            await self.tenants.end_sessions()
            await self.http.close()
            async with self._reloading:
                await self.tenants.close()
                await self._background.close()
                await self.serving.close()

    def stop(self) -> None:
        """End soon."""
        self._stopping.set()

    async def drain(self) -> None:
        """Begin no session over HTTP any more; return when what runs there has ended, or is late.

        Shims are served meanwhile.
        """
        await self.http.finish(self.serving.crib.settings.gateway.drain_s)

    async def reload(self) -> None:
        """Read settings, servers and all else again, and start over with them.

        Connections end, and shims come again by themselves. The port stays. Raises `ToolcribError`
        for a file that cannot be used; what it said before holds.
        """
        await self._apply_files(self._start_over)

    async def catch_up(self) -> None:
        """Apply what the settings and the files with servers say now, and change nothing else.

        Servers that are configured as before run on, and so do calls. Other settings of the gateway
        end connections, as a reload does. Raises as `reload`.
        """
        await self._apply_files(self._change)

    async def is_current(self) -> bool:
        """Whether it serves what its files say now. What has changed is taken in first."""
        if not await asyncio.to_thread(self._watcher.is_current):
            with suppress(ToolcribError):  # then a file is broken
                await self.catch_up()
        return not self.broken

    async def _apply_files(self, apply: Callable[[Settings], Awaitable[None]]) -> None:
        async with self._reloading:
            try:
                await asyncio.to_thread(self._watcher.look)
                self._settings, problem = await asyncio.to_thread(self._setup.settings)
                check_modes(self._settings)
                self.http.apply(self._settings.gateway)
                await apply(self._settings)
                self._background.look()
            except ToolcribError as error:
                self._note_broken(str(error), self.serving.crib)
                raise
            self._note_broken(problem, self.serving.crib)
            if self.broken:
                raise ConfigError("; ".join(self.broken))

    async def _change(self, settings: Settings) -> None:
        crib = self.serving.crib
        before = crib.settings
        if before.of_gateway != settings.of_gateway:
            await self.tenants.close_open()
        if not await asyncio.to_thread(crib.operator.take_settings, settings):
            await self._start_over(settings)
        elif _seen_by_clients(before) != _seen_by_clients(settings):
            old, self.serving = self.serving, self._serving_state(crib)
            await self.shims.drop()
            await old.leave()
            _log.info("the gateway settings have changed; open connections were closed")
        else:
            for server in self.serving.servers.all():
                server.tools_updated()

    async def _start_over(self, settings: Settings) -> None:
        read_ns = time.time_ns()
        crib = await asyncio.to_thread(self._setup.crib, settings)
        self.read_ns = read_ns
        await self._background.close()
        self._background = BackgroundTasks(crib)
        old, self.serving = self.serving, self._serving_state(crib)
        await self.shims.drop()
        await self.tenants.close_open()  # they stand on what the crib of before has
        await old.close()
        self._background.start()
        _log.info("reloaded")

    def _note_broken(self, problem: str, crib: Crib) -> None:
        """Log once what is wrong with a file, and once that all can be used again."""
        found = (*filter(None, [problem]), *crib.operator.broken_files)
        for each in found:
            if each not in self.broken:
                _log.error("%s", each)
        rules = crib.operator.rules_problem  # their reader has logged it
        now = tuple(dict.fromkeys((*found, *filter(None, [rules]))))
        if self.broken and not now:
            _log.info("all files can be used again")
        self.broken = now

    async def _watch(self) -> None:
        """Apply changes of the files as they come."""
        while True:
            await self._watcher.changed()
            try:
                await self.catch_up()
            except ToolcribError:
                _log.debug("some files cannot be used")  # that was logged already
            except Exception:  # noqa: BLE001 - whatever it is, the daemon goes on as it was
                _log.exception("a change of the files could not be applied")

    def _serving_state(self, crib: Crib) -> ServingState:
        return ServingState(crib, self._setup.servers, self.port)

    def _guard(self) -> HttpGuard:
        def transport(principal: Principal) -> App:
            self._used = time.monotonic()
            return self.tenants.transport(principal)

        return HttpGuard(
            lambda: self.serving.crib.settings.gateway,
            self.port,
            self._authenticator,
            self.request_limiter,
            self.stream_limiter,
            transport,
            self._metrics,
            EdgeLog(self._logs_access, self._count_refusal),
            lambda: self.http.binding,
            self.http.drain,
            lambda: self._is_loaded() and self.serving.may_call,
        )

    def _authenticator(self) -> RequestAuthenticator:
        """Who checks requests over HTTP: of one tenant, or of several."""
        serves_others = self.serving.crib.settings.gateway.tenants
        return self._router if serves_others else self.serving.authenticator

    def _is_loaded(self) -> bool:
        """Whether what there is can be found; once it could, a reload changes nothing about it."""
        self._has_loaded = self._has_loaded or self._background.has_indexed
        return self._has_loaded

    def _metrics(self) -> Callable[[], Awaitable[MetricsPage]] | None:
        """What makes the page for Prometheus, if the settings want one, and its extra is there."""
        if not events_of(self.serving.crib).counters or not can_measure():
            return None
        return partial(metrics_page_of, self)

    def _logs_access(self) -> bool:
        return self.serving.crib.settings.observe.access_log

    def _count_refusal(self, code: str) -> None:
        if counters := events_of(self.serving.crib).counters:
            counters.refused(code)

    def _info(self) -> DaemonInfo:
        files, http = self._lock.files, self.http
        at = os.getpid(), files.socket, files.operator, self.port, version("toolcrib")
        return DaemonInfo(*at, http.url, http.binding.protection)

    async def _until_stopped(self) -> None:
        while not self._stopping.is_set():
            if self.shims.clients or self.request_limiter.running or self.stream_limiter.running:
                self._used = time.monotonic()
            await self._drop_revoked()
            await self.serving.send_rest()
            await self.tenants.look()
            self.http.look()
            await self._free_once_indexed()
            if not await self._is_reachable():
                return
            idle = time.monotonic() - self._used
            if self.ends_when_idle and idle > self.serving.crib.settings.gateway.idle_exit_s:
                _log.info("no client has come for %.0f s; ending", idle)
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._stopping.wait()

    async def _free_once_indexed(self) -> None:
        """What making an index leaves behind; and the crib of before, after a reload."""
        if self._background.has_indexed and self._freed is not self._background:
            self._freed = self._background
            await asyncio.to_thread(self._setup.free)

    async def _is_reachable(self) -> bool:
        """Put back those of our files that were removed; False if another daemon is there now."""
        files = self._lock.files
        if not self._lock.still_ours():
            _log.error("%s was removed, and another gateway runs in its place; ending", files.lock)
            return False
        listeners = (self.shims.listener, self._operator.listener)
        try:
            put_back = [await each.put_back() for each in listeners]
            if files.read_info() != self._info():
                self._lock.publish(self._info())
                put_back.append(True)
        except OSError as error:
            _log.error(
                "the gateway's files in %s cannot be put back (%s); ending", files.folder, error
            )
            return False
        if any(put_back):
            _log.warning("the gateway's files in %s were removed, and are put back", files.folder)
        return True

    async def _drop_revoked(self) -> None:
        """End what is open under keys that work no longer; requests are refused before that."""
        if revoked := await self.serving.drop_revoked():
            await self.shims.drop(revoked)


def _seen_by_clients(settings: Settings) -> tuple[object, ...]:
    """The settings that concern clients that are connected: of the gateway, and what waits."""
    others = {each: GatewaySettings.keys[each].default for each in _OF_THE_LISTENER}
    return settings.gateway.model_copy(update=others), deferral_of(settings, None, None)
