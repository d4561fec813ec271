"""Where HTTP clients come in: the socket, what protects it, the web server, and its end."""

import asyncio
import logging

from toolcrib.errors import ConfigError
from toolcrib.gateway.binding import Binding
from toolcrib.gateway.http.drain import NOTICE_S, Drain
from toolcrib.gateway.limits import ConnectionBounds
from toolcrib.http import App, WebLimits, WebServer, listen_on
from toolcrib.settings import GatewaySettings

_log = logging.getLogger(__name__)


class HttpListener:
    """The HTTP of one daemon. Raises `ConfigError` if it cannot be had as the settings say.

    `binding` is how it is bound. Of new settings it takes the proxies and the certificate; where it
    listens, and whether by TLS or behind a proxy, stays until the next start.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        self.binding = Binding.of(settings)
        self._certificate = self.binding.certificate()
        self._listening = listen_on(self.binding.address, settings.port)
        self.port: int = self._listening.getsockname()[1]
        self.drain = Drain()
        self._web: WebServer | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where MCP is served."""
        return self.binding.url(self.port)

    def start(self, app: App, bounds: ConnectionBounds) -> None:
        """Serve this app, until `close`."""
        limits = WebLimits(bounds.http, bounds.at_once)
        context = self._certificate.context if self._certificate else None
        self._web = WebServer(app, limits, is_trusted=self._is_trusted, context=context)
        self._task = asyncio.create_task(self._web.serve_on(self._listening))

    def _is_trusted(self, peer: str) -> bool:
        return self.binding.proxies.has(peer)

    def apply(self, settings: GatewaySettings) -> None:
        """Take new settings. Raises `ConfigError`."""
        new = Binding.of(settings)
        if self.binding.can_become(new):
            self.binding = new
        else:
            _log.warning("the gateway stays bound to %s until it is started again", self.url)
        self.look()

    def look(self) -> None:
        """Take the certificate if its files have changed; the log says how that went."""
        try:
            if self._certificate and self.binding.tls and self._certificate.look(*self.binding.tls):
                _log.info("the certificate was read again")
        except ConfigError as error:
            _log.error("%s; the certificate of before counts", error)

    async def finish(self, most_s: float) -> None:
        """Drain: return when running requests have ended, after `most_s` at the latest."""
        await self.drain.finish(most_s, 0.0 if self.binding.is_local else NOTICE_S)

    def stop(self) -> None:
        """Take nobody any more."""
        if self._web:
            self._web.should_exit = True

    async def close(self) -> None:
        """Return when it has ended."""
        self.stop()
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)
