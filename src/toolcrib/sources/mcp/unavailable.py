"""Why the tools of a configured server cannot be had, and what to do: in our own words.

A model reads this, so nothing of it is the server's to write: what a server says on its way down
stands in its log. Of that only the cause is told, where it is a usual one: see `diagnosis`.
"""

import os
from collections.abc import Mapping
from typing import Protocol

from toolcrib.model import State, UnavailableServer
from toolcrib.sources.mcp.cache import Failure
from toolcrib.sources.mcp.server import Command, ServerConfig
from toolcrib.sources.mcp.shown import shown
from toolcrib.sources.mcp.variables import unset

LISTING = "listing"
MOST_VARIABLES = 3
LONGEST_NAME = 60
OURS = frozenset({"not_started", "not_configured", "needs_login"})
"""Failures in which the server itself has no say."""
_FOR_A_PERSON = frozenset({"not_started"})
"""Failures that do not go away by trying again, whatever the server listed before."""


class Standing(Protocol):
    """What is known of a server; see `ServerStatus`."""

    @property
    def state(self) -> State: ...
    @property
    def tools(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    @property
    def seen(self) -> float: ...
    @property
    def listing(self) -> bool: ...
    @property
    def failure(self) -> Failure | None: ...


def unavailable(
    config: ServerConfig, status: Standing, environ: Mapping[str, str] | None = None
) -> UnavailableServer | None:
    """What keeps the tools of a server from being used, or some of them; None if nothing does."""
    if status.state == "disabled":
        return _told(config, "disabled", "is switched off", "run `toolcrib enable {server}`")
    variables = missing_variables(config, os.environ if environ is None else environ)
    if variables:
        return _lacking(config, variables)
    if status.listing:
        return UnavailableServer(_name(config), LISTING, "is still being listed", "")
    if status.state == "needs_login":
        return _told(config, "needs_login", "wants a login", "run `toolcrib login {server}`")
    return _of_last_start(config, status) or _of_listing(config, status)


def _of_last_start(config: ServerConfig, status: Standing) -> UnavailableServer | None:
    """Why it did not start, where that keeps tools away or needs a person."""
    failure, usable = status.failure, status.tools - status.waiting
    if failure is None or failure.code == "not_configured":  # by now all variables are set
        return None
    return _failed(config, failure) if not usable or failure.code in _FOR_A_PERSON else None


def _of_listing(config: ServerConfig, status: Standing) -> UnavailableServer | None:
    """That it was never listed, or that its tools are held."""
    if not status.seen:
        return _told(config, "unknown", "was never listed", "run `toolcrib refresh {server}`")
    if status.waiting:
        some = status.waiting < status.tools
        tools = f"{status.waiting} of its tools wait" if some else "its tools wait"
        told = f"{tools} for the user's review"
        return _told(config, "unreviewed", told, "run `toolcrib review {server}`")
    return None


def unusable(server: str) -> UnavailableServer:
    """The same of a server whose entry cannot be read."""
    words = "cannot be used as its entry is written", "run `toolcrib doctor`"
    return UnavailableServer(shown(server, LONGEST_NAME), "broken", *words)


def missing_variables(config: ServerConfig, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables of ours that the server's entry refers to and that are not set, each once."""
    transport = config.transport
    if isinstance(transport, Command):
        handed_on = [name for name in transport.env_from.values() if name not in environ]
        texts = transport.env.values()
    else:
        secret = transport.oauth.client_secret if transport.oauth else ""
        handed_on, texts = [], [transport.url, *transport.headers.values(), secret]
    return tuple(dict.fromkeys([*handed_on, *unset(texts, environ)]))


def remedy_of(failure: Failure, server: str) -> str:
    """What to do about a start that failed for a usual cause."""
    return f"{failure.remedy}, then run `toolcrib refresh {server}`"


def on_screen(remedy: str) -> str:
    """A remedy as a terminal shows it: a command by itself where that is all."""
    return remedy.removeprefix("run ").replace("`", "")


def _lacking(config: ServerConfig, variables: tuple[str, ...]) -> UnavailableServer:
    are, them = ("is", "it") if len(variables) == 1 else ("are", "them")
    reason = f"does not start: {_listed(variables)} {are} not set"
    remedy = f"set {them} where Toolcrib is started, then run `toolcrib refresh {{server}}`"
    return _told(config, "not_configured", reason, remedy)


def _failed(config: ServerConfig, failure: Failure) -> UnavailableServer:
    """By its diagnosis, else by its code; never by what the server said."""
    reason = "cannot be reached" if not isinstance(config.transport, Command) else "does not start"
    if failure.code == "start_timeout":
        reason += " in time"
    if failure.reason:
        words = f"{reason}: {failure.reason}", remedy_of(failure, _name(config))
        return UnavailableServer(_name(config), failure.code, *words)
    return _told(config, failure.code, reason, "run `toolcrib logs {server}`")


def _listed(names: tuple[str, ...]) -> str:
    some = [shown(name, LONGEST_NAME) for name in names[:MOST_VARIABLES]]
    return " and ".join(some) + (" and more" if len(names) > len(some) else "")


def _told(config: ServerConfig, code: str, reason: str, remedy: str) -> UnavailableServer:
    server = _name(config)
    return UnavailableServer(server, code, reason, remedy.format(server=server))


def _name(config: ServerConfig) -> str:
    return shown(config.id, LONGEST_NAME)
