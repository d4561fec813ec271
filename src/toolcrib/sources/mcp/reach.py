"""How a server is reached: as a process of ours, or at an address elsewhere."""

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.environment import environment, secrets
from toolcrib.sources.mcp.http import HttpTransport
from toolcrib.sources.mcp.server import Command, Transport
from toolcrib.sources.mcp.shown import shown_end
from toolcrib.sources.mcp.start import StartFailed
from toolcrib.sources.mcp.stdio import StdioTransport
from toolcrib.sources.mcp.variables import filled, filled_all

LONGEST_TAIL = 1_500
_ENDED_BY_US = 128


class ByCommand:
    """A process of ours."""

    expired = False

    def __init__(self, command: Command) -> None:
        env = environment(command)
        self._secrets = secrets(command, env)
        self._command = command
        self._transport = StdioTransport((command.command, *command.args), env, command.cwd)

    def streams(self) -> AbstractAsyncContextManager[sdk.TransportStreams]:
        return self._transport.streams()

    def tail(self) -> str:
        process = self._transport.process
        if process is None:
            return ""
        status = (
            f"exit status {process.status}. " if process.status not in (None, _ENDED_BY_US) else ""
        )
        words = shown_end(process.stderr, LONGEST_TAIL, self._secrets)
        return f"{status}It said: {words}" if words else status.strip()

    def explained(self, error: BaseException | None) -> StartFailed:
        if isinstance(error, OSError) and self._transport.process is None:
            reason = error.strerror or str(error)
            message = f"{self._command.command!r} cannot be started: {reason}"
            return StartFailed("not_started", message, retryable=False)
        return StartFailed("start_failed", f"did not start: {error or 'it ended'}", self.tail())


class ByAddress:
    """A server elsewhere."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._transport = HttpTransport(url, headers)

    def streams(self) -> AbstractAsyncContextManager[sdk.TransportStreams]:
        return self._transport.streams()

    @property
    def expired(self) -> bool:
        """Whether the server has let our session go, and with it whatever is sent there."""
        return self._transport.expired

    def tail(self) -> str:
        return ""

    def explained(self, error: BaseException | None) -> StartFailed:
        if self._transport.needs_login:
            return StartFailed("needs_login", "wants to know who you are", retryable=False)
        return StartFailed("start_failed", f"cannot be reached: {error or 'it hung up'}")


Reach: TypeAlias = ByCommand | ByAddress


def reach(transport: Transport) -> Reach:
    """The way to a server. Raises `ConfigError` where a variable that it needs is not set."""
    if isinstance(transport, Command):
        return ByCommand(transport)
    url, headers = filled(transport.url, os.environ), filled_all(transport.headers, os.environ)
    return ByAddress(url, headers)
