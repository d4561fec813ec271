"""The process of `toolcrib dashboard`: a name of its own on loopback, its links, and its end."""

import asyncio
import errno
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from toolcrib.dashboard.actions import OperatorActions
from toolcrib.dashboard.login import Logins
from toolcrib.dashboard.operations import Operations
from toolcrib.dashboard.server import Dashboard
from toolcrib.errors import ConfigError
from toolcrib.http import WebLimits, WebServer, listen_on_loopback
from toolcrib.settings import DashboardSettings

LOOK_S = 1.0
IDLE_S = 600.0
MOST_CONNECTIONS = 200
AT_ONCE = 16
LOOPBACK_6 = "::1"

OnLink = Callable[[str], None]
"""Told each link, which is good once: it goes to the person, and is written down nowhere."""


@dataclass(frozen=True, slots=True)
class DashboardOptions:
    """How a dashboard is run. Port 0 takes a free one.

    `on_enter`: whether a line on standard input asks for a new link.
    """

    settings: DashboardSettings
    port: int = 0
    on_enter: bool = False


def run_dashboard(operations: Operations, options: DashboardOptions, on_link: OnLink) -> None:
    """Serve until Ctrl-C, SIGTERM, or until nobody has been logged in for a while.

    It ends with the process that started it, too. Raises `ConfigError` if there is no such port.
    """
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(_serve(operations, options, on_link))
    finally:
        operations.close()


async def _serve(operations: Operations, options: DashboardOptions, on_link: OnLink) -> None:
    listening = listen(options.port)
    port: int = listening[0].getsockname()[1]
    origins = new_origins(port, options.settings.hosts)
    logins, actions = Logins(), OperatorActions(operations)
    app = Dashboard(operations, actions, logins, options.settings, origins)
    web = WebServer(app, WebLimits(MOST_CONNECTIONS, AT_ONCE))
    serving = asyncio.create_task(web.serve_on(*listening))

    def tell() -> None:
        secret = logins.new_link()
        for origin in origins.values():
            on_link(f"{origin}/login#{secret}")

    stopping = asyncio.Event()
    with suppress(NotImplementedError, RuntimeError):  # no such signals, or not on this thread
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    try:
        tell()
        if options.on_enter:
            _on_each_line(tell)
        await _until_end(logins, stopping)
    finally:
        app.follower.close()
        web.should_exit = True
        await asyncio.gather(serving, return_exceptions=True)


def new_origins(port: int, hosts: tuple[str, ...] = ()) -> Mapping[str, str]:
    """The origin of pages by the Host of a request: a name that is new each time, and `hosts`.

    A cookie of 127.0.0.1 would be sent to every port of it, and one of `localhost` too. Nobody else
    has this name, so nobody else is sent its cookie.
    """
    own = f"tc-{secrets.token_hex(4)}.localhost:{port}"
    return {own: f"http://{own}", **{each: f"https://{each}" for each in hosts}}


def listen(port: int) -> list[socket.socket]:
    """Sockets on both loopback addresses: a browser may take either, and must find us at both.

    Raises `ConfigError`.
    """
    listening = listen_on_loopback(port, "--port")
    try:
        return [listening, *_listen_on_ipv6(listening.getsockname()[1])]
    except OSError as error:
        listening.close()
        if port == 0 and error.errno == errno.EADDRINUSE:
            return listen(port)  # another one has this port there: take the next
        problem = f"port {port} of {LOOPBACK_6} cannot be used ({error.strerror})"
        raise ConfigError(f"{problem}; name another `--port`, or 0 for any") from error


def _listen_on_ipv6(port: int) -> list[socket.socket]:
    """The same port there; none where the machine has no such address."""
    if not socket.has_ipv6:
        return []
    listening = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK_6, port))
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return []
        raise
    return [listening]


def _on_each_line(do: Callable[[], None]) -> None:
    """Call it on the loop for each line of standard input, until that ends."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        with suppress(RuntimeError, ValueError, OSError):  # the loop, or the terminal, is closed
            for _ in sys.stdin:
                loop.call_soon_threadsafe(do)

    threading.Thread(target=read, daemon=True, name="new links").start()


async def _until_end(logins: Logins, stopping: asyncio.Event) -> None:
    idle_s, parent = 0.0, os.getppid()
    while idle_s < IDLE_S and os.getppid() == parent:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await stopping.wait()
                return
        idle_s = 0.0 if logins.is_needed else idle_s + LOOK_S
