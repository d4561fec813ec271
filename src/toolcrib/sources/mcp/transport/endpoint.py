"""The other end of a connection: a process of ours (stdio), or an address (HTTP, SSE)."""

import asyncio
import os
import subprocess
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.config.environment import server_environment
from toolcrib.sources.mcp.config.package_runner import package_runner
from toolcrib.sources.mcp.config.secret_values import address_secrets, command_secrets
from toolcrib.sources.mcp.config.server import ServerAddress, ServerCommand, ServerConfig
from toolcrib.sources.mcp.diagnosis import StartAttempt, diagnose, no_command
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.sources.mcp.outcome import StartDiagnosis, StartFailed
from toolcrib.sources.mcp.sanitize import short_line, short_line_end
from toolcrib.sources.mcp.server_log import ServerLog, error_lines, exit_words, without_warnings
from toolcrib.sources.mcp.transport.isolation import LaunchPlan, launch_plan
from toolcrib.sources.mcp.transport.sse import SseTransport
from toolcrib.sources.mcp.transport.stdio import StdioTransport
from toolcrib.sources.mcp.transport.streamable_http import StreamableHttpTransport
from toolcrib.text import Redactor

if TYPE_CHECKING:
    from toolcrib.sources.mcp.oauth.authorizer import Authorizer
from toolcrib.sources.mcp.config.environment import expanded_address

LONGEST_TAIL = 1_500
LONGEST_CAUSE = 600
LONGEST_REASON = 300
FINISH_S = 300.0
"""For an install that nobody waits for any more."""
CLEAN_UP_S = 10.0
_ENDED_BY_US = 128


class LocalEndpoint:
    """A process of ours."""

    expired = False

    def __init__(self, config: ServerConfig, command: ServerCommand, log: ServerLog) -> None:
        env = server_environment(command, inherits=config.inherits)
        self._launch = launch = launch_plan(config.id, command, env)
        self.redactor = Redactor(command_secrets(command, os.environ, config.inherits))
        self._start = StartAttempt(config.id, command, env)
        runner = package_runner(command)
        finish_s = FINISH_S if runner and runner.unpacks else 0.0
        on_stderr = log.stderr(self.redactor)
        self._transport = StdioTransport(launch.words, launch.env, launch.cwd, on_stderr, finish_s)

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[sdk.TransportStreams]:
        try:
            async with self._transport.streams() as streams:
                yield streams
        finally:
            if self._launch.cleanup and self._transport.process:
                with sdk.CancelScope(shield=True):
                    await asyncio.to_thread(_clean_up, self._launch)

    @property
    def pid(self) -> int | None:
        """The process that leads the server's session; None if none runs."""
        return self._transport.process.pid if self._transport.process else None

    @property
    def status(self) -> int | None:
        """The exit status of the process; None while it runs, and where there is none."""
        return self._transport.process.status if self._transport.process else None

    def settle(self) -> None:
        """The server runs: nothing has to be installed any more."""
        if self._transport.process:
            self._transport.process.settle()

    def tail(self) -> str:
        """Its exit status, and the lines of its stderr that tell the error, else the last ones."""
        process = self._transport.process
        if process is None:
            return ""
        ended = process.status
        status = "" if ended is None or ended == _ENDED_BY_US else f"{exit_words(ended)}. "
        stderr = without_warnings(self.redactor.text(process.stderr))
        error = error_lines(stderr)
        last = short_line_end(stderr, LONGEST_TAIL)
        text = last if error == stderr else short_line(error, LONGEST_CAUSE)
        return f"{status}It said: {text}" if text else status.strip()

    def late(self) -> StartFailed:
        """The error of a start that took too long."""
        found = self._diagnosis()
        message = f"did not start in time{_because(found)}"
        return StartFailed("start_timeout", message, self.tail(), diagnosis=found)

    def explained(self, error: BaseException | None) -> StartFailed:
        """The error of a start that failed, with what its stderr tells."""
        if isinstance(error, OSError) and self._transport.process is None:
            return self._not_started(error)
        found = self._diagnosis()
        text = short_line(self.redactor.text(str(error or "it ended")), LONGEST_TAIL)
        message = f"did not start{_because(found) or f': {text}'}"
        return StartFailed("start_failed", message, self.tail(), diagnosis=found)

    def _not_started(self, error: OSError) -> StartFailed:
        command = self._start.command.command
        found = no_command(self._start) if isinstance(error, FileNotFoundError) else None
        message = f"{command!r} cannot be started: {error.strerror or error}"
        return StartFailed("not_started", message, retryable=False, diagnosis=found)

    def _diagnosis(self) -> StartDiagnosis | None:
        process = self._transport.process
        return diagnose(self.redactor.text(process.stderr), self._start) if process else None


def _clean_up(launch: LaunchPlan) -> None:
    """Remove a container that still runs because its client was killed. None is no error."""
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(launch.cleanup, env=launch.env, capture_output=True, timeout=CLEAN_UP_S)  # noqa: S603, PLW1510 - ours


class RemoteEndpoint:
    """A server elsewhere."""

    pid = status = None

    def __init__(self, server: str, configured: ServerAddress, logins: ServerLogin | None) -> None:
        self._server = server
        self._address = address = expanded_address(configured)
        self._authorizer = _authorizer(address, logins) if logins else None
        self.redactor = self._authorizer.redactor if self._authorizer else Redactor()
        self.redactor.learn(*address_secrets(configured, os.environ))
        transport = SseTransport if address.kind == "sse" else StreamableHttpTransport
        self._transport = transport(address.url, address.headers, self._authorizer, self.redactor)

    def streams(self) -> AbstractAsyncContextManager[sdk.TransportStreams]:
        return self._transport.streams()

    @property
    def expired(self) -> bool:
        """Whether the server has ended our session: it refuses whatever is sent there."""
        return self._transport.expired

    @property
    def needs_login(self) -> bool:
        """Whether it refuses us without a login."""
        return self._transport.needs_login

    def settle(self) -> None:
        """Nothing is installed here."""

    def tail(self) -> str:
        return ""

    def late(self) -> StartFailed:
        """The error of a start that took too long."""
        return StartFailed("start_timeout", "did not answer in time")

    def explained(self, error: BaseException | None) -> StartFailed:
        """The error of a server that cannot be reached."""
        if self.needs_login:
            return StartFailed("needs_login", self.login_message, retryable=False)
        text = self.redactor.text(str(error or "it hung up"))
        found = diagnose(text, StartAttempt(self._server, ServerCommand(""), {}))
        message = f"cannot be reached{_because(found)}: {short_line(text, LONGEST_TAIL)}"
        return StartFailed("start_failed", message, diagnosis=found)

    @property
    def login_message(self) -> str:
        """What to do when it refuses us."""
        if self._address.brings_its_own:
            return "refuses the `Authorization` header that is configured for it; correct that"
        oauth, error = self._address.oauth, self._authorizer and self._authorizer.error
        if oauth and oauth.grant == "client_credentials":
            text = self.redactor.text(str(error or "no reason given"))
            reason = short_line(text, LONGEST_REASON)
            return f"refuses the client that is configured for it ({reason}); correct `oauth`"
        return f"wants a login; run `toolcrib login {self._server}`"


def _because(found: StartDiagnosis | None) -> str:
    return f": {found.reason}" if found else ""


ServerEndpoint: TypeAlias = LocalEndpoint | RemoteEndpoint


def open_endpoint(
    config: ServerConfig, logins: ServerLogin | None, log: ServerLog
) -> ServerEndpoint:
    """The endpoint of a server. Raises `ConfigError` if a variable that it needs is not set."""
    transport = config.transport
    if isinstance(transport, ServerCommand):
        return LocalEndpoint(config, transport, log)
    return RemoteEndpoint(config.id, transport, logins)


def _authorizer(address: ServerAddress, logins: ServerLogin) -> "Authorizer | None":
    if address.brings_its_own:
        return None
    from toolcrib.sources.mcp.oauth.authorizer import silent_authorizer  # noqa: PLC0415 - loads OAuth

    return silent_authorizer(logins, address)
