"""What there is to say of one server: its state, and why its tools are unavailable.

A model reads this, so it is in our own words: what a server says on its way down stands in its log.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, NamedTuple, Self, TypedDict, Unpack

from toolcrib.model import JsonObject, State, UnavailableServer
from toolcrib.sources.mcp.config.environment import expandable_texts, unset_variables
from toolcrib.sources.mcp.config.server import ServerCommand, ServerConfig
from toolcrib.sources.mcp.outcome import StartFailure
from toolcrib.sources.mcp.sanitize import short_line
from toolcrib.sources.mcp.summary import ListingSummary
from toolcrib.store import ListingHead

MOST_VARIABLES = 3
LONGEST_NAME = 60
OUR_FAILURES = frozenset({"not_started", "not_configured", "needs_login"})
"""Codes of failures that are not the server's doing."""
SMALLER = "ask its author for fewer tools, or for shorter definitions"
_PERMANENT = frozenset({"not_started"})
"""Codes of failures that do not go away by trying again."""


class RunningFacts(TypedDict):
    """Fields of a `ServerStatus` that its process tells."""

    failure: StartFailure | None
    memory_bytes: int | None
    listing: bool
    starting: str


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state of one server. Times are in seconds, `seen` since the epoch.

    `waiting` is how many of its `tools` wait for review, `flagged` how many have hidden text.
    `starting` says what its start is at, "installing by npx (35 s)"; empty if it does not start.
    `memory_bytes` is what its processes use; None if none runs here, or if that is not known.
    `listing`: it is being listed for the first time, or soon; not if that has failed before.
    `unavailable`: what keeps its tools, or some of them, from being used. `cut`: it lists more
    tools than were taken.
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
    cut: bool = False

    @classmethod
    def of(
        cls,
        config: ServerConfig,
        summary: ListingSummary,
        head: ListingHead | None,
        state: State,
        **others: Unpack[RunningFacts],
    ) -> Self:
        """Of a server by its configuration, its listing and what is known of its process."""
        transport = config.transport
        status = cls(
            server=config.id,
            transport="stdio" if isinstance(transport, ServerCommand) else transport.kind,
            state="disabled" if config.disabled else state,
            tools=summary.tools,
            waiting=summary.waiting,
            flagged=summary.flagged,
            protocol=summary.protocol,
            cut=summary.cut,
            start_s=head.start_s if head else 0.0,
            seen=head.fetched if head else 0.0,
            **others,
        )
        why = why_unavailable(config, status)
        if summary.problem and why and why.code == "unreviewed":
            reason = "nothing is known of what was decided about its tools"
            why = _because(config, "unreviewed", reason, "run `toolcrib doctor`")
        return replace(status, unavailable=why)

    @classmethod
    def of_json(cls, given: Mapping[str, Any]) -> Self:
        """Reads what `as_json` made. Fields that only another version has are left out."""
        values: dict[str, Any]
        values = {each.name: given[each.name] for each in fields(cls) if each.name in given}
        values["failure"] = StartFailure(**given["failure"]) if given["failure"] else None
        why = given.get("unavailable")
        values["unavailable"] = UnavailableServer(**why) if why else None
        return cls(**values)

    def as_json(self) -> JsonObject:
        """All fields and the remedy, for programs."""
        failure = self.failure._asdict() if self.failure else None
        return {**asdict(self), "failure": failure, "remedy": self.remedy}

    @property
    def remedy(self) -> str:
        """What the operator may do about it; empty if nothing is wrong."""
        if self.state == "disabled":
            return ""
        if self.unavailable:
            return on_screen(self.unavailable.remedy)
        if self.failure and self.failure.remedy:
            return on_screen(remedy_of(self.failure, self.server))
        return f"toolcrib logs {self.server}" if self._own_failure else ""

    @property
    def reason(self) -> str:
        """What is wrong with it, for the operator: in the server's own words if it has any."""
        why, failure = self.unavailable, self._own_failure
        if why and (failure is None or why.code != failure.code):
            return why.reason
        return failure.message if failure else ""

    @property
    def cut_words(self) -> str:
        """That its list was cut, and where; empty if it was not."""
        words = f"its list was cut after {self.tools:,} tools, because it is too large"
        return words if self.cut else ""

    @property
    def _own_failure(self) -> StartFailure | None:
        """The last failure, if only the server's own words explain it."""
        failure = self.failure
        return (
            failure if failure and failure.code not in OUR_FAILURES and not failure.reason else None
        )


class RefreshResult(NamedTuple):
    """How a refresh of one server went: `error` is empty if it went well.

    `seconds` begin with its turn: that others are started first is none of its doing.
    `waiting` is how many of its tools wait for the operator's review; `remedy` is a command. `cut`
    says that it lists more tools than were taken.
    """

    server: str
    tools: int
    seconds: float
    error: str = ""
    waiting: int = 0
    remedy: str = ""
    cut: str = ""


def why_unavailable(
    config: ServerConfig, status: ServerStatus, environ: Mapping[str, str] | None = None
) -> UnavailableServer | None:
    """What keeps the tools of a server, or some of them, from being used; None if nothing does."""
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


def _of_last_start(config: ServerConfig, status: ServerStatus) -> UnavailableServer | None:
    """Why it did not start, if that keeps tools away or needs a person."""
    failure, usable = status.failure, status.tools - status.waiting
    if failure is None or failure.code == "not_configured":  # by now all variables are set
        return None
    return _failed(config, failure) if not usable or failure.code in _PERMANENT else None


def _of_listing(config: ServerConfig, status: ServerStatus) -> UnavailableServer | None:
    """That it was never listed, or that its tools wait for review."""
    if not status.seen:
        return _because(config, "unknown", "was never listed", "run `toolcrib refresh {server}`")
    if status.waiting:
        some = status.waiting < status.tools
        tools = f"{status.waiting} of its tools wait" if some else "its tools wait"
        more = f"; {status.cut_words}" if status.cut else ""
        reason = f"{tools} for the user's review{more}"
        return _because(config, "unreviewed", reason, "run `toolcrib review {server}`")
    if status.cut:
        return _because(config, "cut", status.cut_words, SMALLER)
    return None


def unusable_entry(server: str) -> UnavailableServer:
    """Of a server whose entry cannot be read."""
    name, reason = short_line(server, LONGEST_NAME), "cannot be used as its entry is written"
    return UnavailableServer(name, "broken", reason, "run `toolcrib doctor`")


def missing_variables(config: ServerConfig, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables of ours that the server's entry refers to and that are not set, each once."""
    transport, named = config.transport, list[str]()
    if isinstance(transport, ServerCommand):
        named = [name for name in transport.env_from.values() if name not in environ]
    return tuple(dict.fromkeys([*named, *unset_variables(expandable_texts(transport), environ)]))


def remedy_of(failure: StartFailure, server: str) -> str:
    """What to do about a start whose cause is known."""
    return f"{failure.remedy}, then run `toolcrib refresh {server}`"


def on_screen(remedy: str) -> str:
    """A remedy as a terminal shows it: as a plain command, if it is one."""
    return remedy.removeprefix("run ").replace("`", "")


def env_command(server: str, names: Sequence[str]) -> str:
    """The command that gives a server these variables."""
    options = " ".join(f"--env {short_line(name, LONGEST_NAME)}=…" for name in names)
    return f"`toolcrib edit {shlex.quote(short_line(server, LONGEST_NAME))} {options}`"


def _unset(config: ServerConfig, variables: tuple[str, ...]) -> UnavailableServer:
    are, them = ("is", "it") if len(variables) == 1 else ("are", "them")
    reason = f"does not start: {_listed(variables)} {are} not set"
    server, names = _name(config), _filled_by(config, {*variables})
    how = f"where Toolcrib is started{f', or by {env_command(server, names)}' if names else ''}"
    remedy = f"set {them} {how}, then run `toolcrib refresh {server}`"
    return UnavailableServer(server, "not_configured", reason, remedy)


def _filled_by(config: ServerConfig, variables: AbstractSet[str]) -> list[str]:
    """The variables of a program of our own file that these of ours would fill."""
    command = config.transport
    if not (config.is_own and isinstance(command, ServerCommand)):
        return []
    filled = {name: (ours,) for name, ours in command.env_from.items()}
    filled |= {name: unset_variables([text], {}) for name, text in command.env.items()}
    return [name for name, ours in filled.items() if not variables.isdisjoint(ours)]


def _failed(config: ServerConfig, failure: StartFailure) -> UnavailableServer:
    """By its diagnosis, else by its code; never by the server's own words."""
    is_local = isinstance(config.transport, ServerCommand)
    reason = "does not start" if is_local else "cannot be reached"
    if failure.code == "start_timeout":
        reason += " in time"
    if failure.reason:
        words = f"{reason}: {failure.reason}", remedy_of(failure, _name(config))
        return UnavailableServer(_name(config), failure.code, *words)
    return _because(config, failure.code, reason, "run `toolcrib logs {server}`")


def _listed(names: tuple[str, ...]) -> str:
    some = [short_line(name, LONGEST_NAME) for name in names[:MOST_VARIABLES]]
    return " and ".join(some) + (" and more" if len(names) > len(some) else "")


def _because(config: ServerConfig, code: str, reason: str, remedy: str) -> UnavailableServer:
    server = _name(config)
    return UnavailableServer(server, code, reason, remedy.format(server=server))


def _name(config: ServerConfig) -> str:
    return short_line(config.id, LONGEST_NAME)
