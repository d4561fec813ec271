"""How a server is reached: as a process of ours, or at an address elsewhere."""

import asyncio
import os
import subprocess
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.diagnosis import Diagnosis, Start, diagnose, no_command
from toolcrib.sources.mcp.environment import environment
from toolcrib.sources.mcp.http import HttpTransport
from toolcrib.sources.mcp.isolation import Launch, launch
from toolcrib.sources.mcp.logins import LoginFile
from toolcrib.sources.mcp.package_runner import package_runner
from toolcrib.sources.mcp.secret_values import given_secrets, sent_secrets
from toolcrib.sources.mcp.server import Address, Command, ServerConfig
from toolcrib.sources.mcp.server_log import ServerLog, exit_words
from toolcrib.sources.mcp.shown import shown, shown_end
from toolcrib.sources.mcp.sse import SseTransport
from toolcrib.sources.mcp.start import StartFailed
from toolcrib.sources.mcp.stderr import cause
from toolcrib.sources.mcp.stdio import StdioTransport
from toolcrib.sources.mcp.variables import filled, filled_all
from toolcrib.text.redactor import Redactor

if TYPE_CHECKING:
    from toolcrib.sources.mcp.authorizer import Authorizer

LONGEST_TAIL = 1_500
LONGEST_CAUSE = 600
LONGEST_REASON = 300
FINISH_S = 300.0
"""For an install that nobody waits for any more."""
CLEAN_UP_S = 10.0
_ENDED_BY_US = 128


class ByCommand:
    """A process of ours."""

    expired = False

    def __init__(self, config: ServerConfig, command: Command, log: ServerLog) -> None:
        env = environment(command, inherits=config.inherits)
        self._launch = start = launch(config.id, command, env)
        self.redactor = Redactor(given_secrets(command, os.environ, config.inherits))
        self._start = Start(config.id, command, env)
        runner = package_runner(command)
        finish_s = FINISH_S if runner and runner.unpacks else 0.0
        placed = start.words, start.env, start.cwd
        self._transport = StdioTransport(*placed, log.stderr(self.redactor), finish_s)

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
        process = self._transport.process
        if process is None:
            return ""
        ended = process.status
        status = "" if ended is None or ended == _ENDED_BY_US else f"{exit_words(ended)}. "
        said = self.redactor.text(process.stderr)
        why = cause(said)
        words = shown_end(said, LONGEST_TAIL) if why == said else shown(why, LONGEST_CAUSE)
        return f"{status}It said: {words}" if words else status.strip()

    def late(self) -> StartFailed:
        """That it took too long."""
        found = self._diagnosis()
        message = f"did not start in time{_because(found)}"
        return StartFailed("start_timeout", message, self.tail(), diagnosis=found)

    def explained(self, error: BaseException | None) -> StartFailed:
        if isinstance(error, OSError) and self._transport.process is None:
            return self._not_started(error)
        found = self._diagnosis()
        said = shown(self.redactor.text(str(error or "it ended")), LONGEST_TAIL)
        message = f"did not start{_because(found) or f': {said}'}"
        return StartFailed("start_failed", message, self.tail(), diagnosis=found)

    def _not_started(self, error: OSError) -> StartFailed:
        command = self._start.command.command
        found = no_command(self._start) if isinstance(error, FileNotFoundError) else None
        message = f"{command!r} cannot be started: {error.strerror or error}"
        return StartFailed("not_started", message, retryable=False, diagnosis=found)

    def _diagnosis(self) -> Diagnosis | None:
        process = self._transport.process
        return diagnose(self.redactor.text(process.stderr), self._start) if process else None


def _clean_up(launch: Launch) -> None:
    """Let nothing of it go on, should its client have been killed; what is gone is no error."""
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(launch.cleanup, env=launch.env, capture_output=True, timeout=CLEAN_UP_S)  # noqa: S603, PLW1510 - ours


class ByAddress:
    """A server elsewhere."""

    pid = status = None

    def __init__(self, server: str, configured: Address, logins: LoginFile | None) -> None:
        self._server = server
        self._address = address = filled_address(configured)
        self._authorizer = _authorizer(address, logins) if logins else None
        self.redactor = self._authorizer.redactor if self._authorizer else Redactor()
        self.redactor.learn(*sent_secrets(configured, os.environ))
        sent = address.url, address.headers
        transport = SseTransport if address.kind == "sse" else HttpTransport
        self._transport = transport(*sent, self._authorizer, self.redactor)

    def streams(self) -> AbstractAsyncContextManager[sdk.TransportStreams]:
        return self._transport.streams()

    @property
    def expired(self) -> bool:
        """Whether the server has let our session go, and with it whatever is sent there."""
        return self._transport.expired

    @property
    def needs_login(self) -> bool:
        """Whether it does not let us in as we are."""
        return self._transport.needs_login

    def settle(self) -> None:
        """Nothing is installed here."""

    def tail(self) -> str:
        return ""

    def late(self) -> StartFailed:
        """That it took too long."""
        return StartFailed("start_timeout", "did not answer in time")

    def explained(self, error: BaseException | None) -> StartFailed:
        if self.needs_login:
            return StartFailed("needs_login", self.login_words, retryable=False)
        text = self.redactor.text(str(error or "it hung up"))
        found = diagnose(text, Start(self._server, Command(""), {}))
        message = f"cannot be reached{_because(found)}: {shown(text, LONGEST_TAIL)}"
        return StartFailed("start_failed", message, diagnosis=found)

    @property
    def login_words(self) -> str:
        """What to do when it does not let us in."""
        if self._address.brings_its_own:
            return "refuses the `Authorization` header that is configured for it; correct that"
        oauth, error = self._address.oauth, self._authorizer and self._authorizer.error
        if oauth and oauth.grant == "client_credentials":
            said = self.redactor.text(str(error or "no reason given"))
            reason = shown(said, LONGEST_REASON)
            return f"refuses the client that is configured for it ({reason}); correct `oauth`"
        return f"wants a login; run `toolcrib login {self._server}`"


def _because(found: Diagnosis | None) -> str:
    return f": {found.reason}" if found else ""


Reach: TypeAlias = ByCommand | ByAddress


def reach(config: ServerConfig, logins: LoginFile | None, log: ServerLog) -> Reach:
    """The way to a server. Raises `ConfigError` where a variable that it needs is not set."""
    transport = config.transport
    if isinstance(transport, Command):
        return ByCommand(config, transport, log)
    return ByAddress(config.id, transport, logins)


def filled_address(address: Address) -> Address:
    """The address with its references replaced. Raises `ConfigError`."""
    oauth = address.oauth
    if oauth:
        oauth = replace(oauth, client_secret=filled(oauth.client_secret, os.environ))
    headers = filled_all(address.headers, os.environ)
    return replace(address, url=filled(address.url, os.environ), headers=headers, oauth=oauth)


def _authorizer(address: Address, logins: LoginFile) -> "Authorizer | None":
    if address.brings_its_own:
        return None
    from toolcrib.sources.mcp.oauth import quiet  # noqa: PLC0415 - for servers elsewhere alone

    return quiet(logins, address)
