"""This process as the daemon: its log, its lock, its limits, and how it ends.

`Daemon` serves; here is what only a process of its own may do. The lock comes before the SDK: of
several that start at once, all but one end without loading it, which takes a second.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from toolcrib.connect import DaemonFiles, DaemonInfo
from toolcrib.crib import Crib
from toolcrib.gateway.daemon_lock import DaemonLock
from toolcrib.gateway.daemon_log import apply_log_settings, log_to_file, log_to_stderr
from toolcrib.settings import Settings
from toolcrib.system import Collector, have_one_heap

END_S = 20.0
TAKE_OVER_S = 15.0
"""How long a daemon that a shim started waits for one that is about to end."""


def run_daemon(
    files: DaemonFiles,
    settings: Callable[[], tuple[Settings, str]],
    config_files: Callable[[Settings], Sequence[Path]],
    ready: Callable[[DaemonInfo], None],
    *,
    detached: bool = False,
) -> None:
    """Be the daemon of these files until told to stop. See `DaemonSetup` and `Daemon.run`.

    One that is `detached`, as a shim starts it, logs to a file once it is ready, and ends when
    nobody has needed it for a while. Raises `ConfigError` if another process is that daemon; a
    detached one waits for `TAKE_OVER_S` first.
    """
    log_to_stderr()
    lock = DaemonLock(files, TAKE_OVER_S if detached else 0.0)
    try:
        _serve(lock, settings, config_files, ready, detached=detached)
    finally:
        lock.close()


def _serve(
    lock: DaemonLock,
    settings: Callable[[], tuple[Settings, str]],
    config_files: Callable[[Settings], Sequence[Path]],
    ready: Callable[[DaemonInfo], None],
    *,
    detached: bool,
) -> None:
    from toolcrib.gateway.daemon import Daemon, DaemonSetup  # noqa: PLC0415 - it loads the SDK
    from toolcrib.gateway.limits import raise_descriptor_limit  # noqa: PLC0415 - so do these
    from toolcrib.gateway.server import GatewayServers  # noqa: PLC0415

    collector = Collector()

    def read_settings() -> tuple[Settings, str]:
        found, problem = settings()
        apply_log_settings(found.observe)
        return found, problem

    async def serve() -> None:
        crib = partial(Crib.from_settings, loop=asyncio.get_running_loop())
        setup = DaemonSetup(read_settings, crib, GatewayServers, config_files, collector.collect)
        daemon = Daemon(setup, lock, ends_when_idle=detached)

        def is_ready(info: DaemonInfo) -> None:
            if detached:
                now = daemon.serving.crib.settings
                log_to_file(now.state_folder, now.observe)
            ready(info)

        await daemon.run(is_ready, _end_anyway)

    raise_descriptor_limit()
    have_one_heap()
    collector.start()
    asyncio.run(serve())


def _end_anyway() -> None:
    """A thread that hangs in somebody's tool must not keep a daemon that was told to stop."""
    last = threading.Timer(END_S, os._exit, (1,))
    last.daemon = True
    last.start()
