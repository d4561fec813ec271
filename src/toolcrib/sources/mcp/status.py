"""What there is to say of one server: its state, and why its tools are unavailable.

A model reads this, so it is in our own words: what a server says on its way down stands in its log.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Protocol, Self

from toolcrib.model import JsonObject, State, UnavailableServer
from toolcrib.sources.mcp.config.environment import unset_variables
from toolcrib.sources.mcp.config.server import ServerCommand, ServerConfig
from toolcrib.sources.mcp.outcome import StartFailure
from toolcrib.sources.mcp.sanitize import printable

MOST_VARIABLES = 3
LONGEST_NAME = 60
OUR_FAILURES = frozenset({"not_started", "not_configured", "needs_login"})
"""Failures in which the server itself has no say."""
_PERMANENT = frozenset({"not_started"})
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
    def failure(self) -> StartFailure | None: ...


def why_unavailable(
    config: ServerConfig, status: Standing, environ: Mapping[str, str] | None = None
) -> UnavailableServer | None:
    """What keeps the tools of a server from being used, or some of them; None if nothing does."""
    if status.state == "disabled":
        return _because(config, "disabled", "is switched off", "run `toolcrib enable {server}`")
    variables = missing_variables(config, os.environ if environ is None else environ)
    if variables:
        return _unset(config, variables)
    if status.listing:
        return UnavailableServer(_name(config), "listing", "is still being listed", "")
    if status.state == "needs_login":
        return _because(config, "needs_login", "wants a login", "run `toolcrib login {server}`")
    return _of_last_start(config, status) or _of_listing(config, status)


def _of_last_start(config: ServerConfig, status: Standing) -> UnavailableServer | None:
    """Why it did not start, where that keeps tools away or needs a person."""
    failure, usable = status.failure, status.tools - status.waiting
    if failure is None or failure.code == "not_configured":  # by now all variables are set
        return None
    return _failed(config, failure) if not usable or failure.code in _PERMANENT else None


def _of_listing(config: ServerConfig, status: Standing) -> UnavailableServer | None:
    """That it was never listed, or that its tools are held."""
    if not status.seen:
        return _because(config, "unknown", "was never listed", "run `toolcrib refresh {server}`")
    if status.waiting:
        some = status.waiting < status.tools
        tools = f"{status.waiting} of its tools wait" if some else "its tools wait"
        told = f"{tools} for the user's review"
        return _because(config, "unreviewed", told, "run `toolcrib review {server}`")
    return None


def unusable_entry(server: str) -> UnavailableServer:
    """The same of a server whose entry cannot be read."""
    words = "cannot be used as its entry is written", "run `toolcrib doctor`"
    return UnavailableServer(printable(server, LONGEST_NAME), "broken", *words)


def missing_variables(config: ServerConfig, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables of ours that the server's entry refers to and that are not set, each once."""
    transport = config.transport
    if isinstance(transport, ServerCommand):
        handed_on = [name for name in transport.env_from.values() if name not in environ]
        texts = transport.env.values()
    else:
        secret = transport.oauth.client_secret if transport.oauth else ""
        handed_on, texts = [], [transport.url, *transport.headers.values(), secret]
    return tuple(dict.fromkeys([*handed_on, *unset_variables(texts, environ)]))


def remedy_of(failure: StartFailure, server: str) -> str:
    """What to do about a start that failed for a usual cause."""
    return f"{failure.remedy}, then run `toolcrib refresh {server}`"


def on_screen(remedy: str) -> str:
    """A remedy as a terminal shows it: a command by itself where that is all."""
    return remedy.removeprefix("run ").replace("`", "")


def _unset(config: ServerConfig, variables: tuple[str, ...]) -> UnavailableServer:
    are, them = ("is", "it") if len(variables) == 1 else ("are", "them")
    reason = f"does not start: {_listed(variables)} {are} not set"
    remedy = f"set {them} where Toolcrib is started, then run `toolcrib refresh {{server}}`"
    return _because(config, "not_configured", reason, remedy)


def _failed(config: ServerConfig, failure: StartFailure) -> UnavailableServer:
    """By its diagnosis, else by its code; never by what the server said."""
    reason = (
        "cannot be reached" if not isinstance(config.transport, ServerCommand) else "does not start"
    )
    if failure.code == "start_timeout":
        reason += " in time"
    if failure.reason:
        words = f"{reason}: {failure.reason}", remedy_of(failure, _name(config))
        return UnavailableServer(_name(config), failure.code, *words)
    return _because(config, failure.code, reason, "run `toolcrib logs {server}`")


def _listed(names: tuple[str, ...]) -> str:
    some = [printable(name, LONGEST_NAME) for name in names[:MOST_VARIABLES]]
    return " and ".join(some) + (" and more" if len(names) > len(some) else "")


def _because(config: ServerConfig, code: str, reason: str, remedy: str) -> UnavailableServer:
    server = _name(config)
    return UnavailableServer(server, code, reason, remedy.format(server=server))


def _name(config: ServerConfig) -> str:
    return printable(config.id, LONGEST_NAME)


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What there is to say of one server. Times are in seconds, `seen` since the epoch.

    `starting` says what its start is at, "installing by npx (35 s)"; it is empty if it does not.
    `memory_bytes` is what its processes take now; None if none runs here, or nobody can tell.
    `listing`: it is about to be listed for the first time, or just being so. `unavailable`: what
    keeps its tools, or some of them, from being used.
    """

    server: str
    transport: Literal["stdio", "http", "sse"]
    state: State
    tools: int
    waiting: int
    flagged: int
    protocol: str
    start_s: float
    seen: float
    failure: StartFailure | None
    memory_bytes: int | None = None
    listing: bool = False
    starting: str = ""
    unavailable: UnavailableServer | None = None

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> Self:
        """What `as_json` made; what another version has more is left out."""
        known: dict[str, Any]
        known = {each.name: said[each.name] for each in fields(cls) if each.name in said}
        known["failure"] = StartFailure(**said["failure"]) if said["failure"] else None
        why = said.get("unavailable")
        known["unavailable"] = UnavailableServer(**why) if why else None
        return cls(**known)

    def as_json(self) -> JsonObject:
        """All of it, and the remedy, for programs."""
        failure = self.failure._asdict() if self.failure else None
        return {**asdict(self), "failure": failure, "remedy": self.remedy}

    @property
    def remedy(self) -> str:
        """What the operator may do about it; nothing if nothing is wrong."""
        if self.state == "disabled":
            return ""
        if self.unavailable:
            return on_screen(self.unavailable.remedy)
        if self.failure and self.failure.remedy:
            return on_screen(remedy_of(self.failure, self.server))
        return f"toolcrib logs {self.server}" if self._servers_own else ""

    @property
    def reason(self) -> str:
        """What is wrong with it, for the operator, in the server's own words if it has any."""
        why, failure = self.unavailable, self._servers_own
        if why and (failure is None or why.code != failure.code):
            return why.reason
        return failure.message if failure else ""

    @property
    def _servers_own(self) -> StartFailure | None:
        """The last failure, if only the server's own words explain it; others are judged anew."""
        failure = self.failure
        return (
            failure if failure and failure.code not in OUR_FAILURES and not failure.reason else None
        )
