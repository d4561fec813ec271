"""What a server lists, held against what was decided about it.

    pinned   what a server lists for the first time is approved for that, unless something is hidden
             in it; whatever comes later, or differs from what was approved, waits for the operator
    strict   what is listed for the first time waits as well
    open     nothing waits

A list without tools is no first one: there was nothing to trust. A server that is another than
before has its tools wait, beside what was approved of the other. Another is one whose program is
another; and in a file that is not ours, one that is configured otherwise in any way.
Nothing here overrules a decision: that is the operator's side alone.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from toolcrib.errors import StoreError
from toolcrib.model import JsonObject
from toolcrib.sources.definition import Definition, read_definition
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.identity import ServerIdentity
from toolcrib.sources.mcp.listing import KnownServer, tools_by_name
from toolcrib.store import Decision, Decisions, ToolDecisions, install_key

ReviewStatus = Literal["approved", "changed", "unreviewed", "rejected"]


@dataclass(frozen=True, slots=True)
class ToolJudgement:
    """One tool: `now` as it is listed, `shown` as it was approved, if it ever was.

    Only what is `approved` may be called; of what is `unreviewed` or `rejected` no word may reach
    a model. `flags` are the tricks by which something is hidden in `now`.
    """

    status: ReviewStatus
    now: Definition
    pin: str
    shown: Definition | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerJudgement:
    """The tools of a server by their own names. `problem`: why nothing of it is approved."""

    tools: Mapping[str, ToolJudgement] = field(default_factory=dict[str, ToolJudgement])
    problem: str = ""

    def held(self) -> bool:
        """Whether a decision could let more through."""
        return any(one.status != "approved" for one in self.tools.values())

    def waiting(self) -> list[str]:
        """The names of those that the operator has to decide on."""
        return [name for name, one in self.tools.items() if one.status in ("changed", "unreviewed")]


class ServerTrust:
    """The judge of one server, as it is configured: `source` is what its decisions are filed under.

    `is_open`: nothing of it waits, and nothing is decided.
    """

    def __init__(
        self, config: ServerConfig, decisions: Decisions, identity: ServerIdentity
    ) -> None:
        self.source = f"mcp:{config.id}#{identity.hash}"
        self._identity = identity
        self._former = f"mcp:{config.id}#{identity.former}" if identity.former else ""
        self._policy = config.trust
        self._decisions = decisions

    def version(self) -> object:
        """Another one whenever a judgement may have become another."""
        try:
            return None if self.is_open else self._decisions.version()
        except StoreError:
            return None

    def admits(self, judgement: ServerJudgement) -> bool:
        """Whether what a server has beside tools, which nobody reviews, may reach a model.

        It may if one of its tools is approved, which is to say that somebody trusts the server, by
        a decision or at first sight. A server without tools is only trusted at first sight.
        """
        if judgement.tools:
            return any(one.status == "approved" for one in judgement.tools.values())
        return self._policy != "strict" and not judgement.problem

    def judge(self, known: KnownServer) -> ServerJudgement:
        """Judge all tools of a listing; where decisions cannot be had, nothing is approved."""
        tools = tools_by_name(known.listing).tools
        listed = {name: self._listed(raw, known) for name, raw in tools.items()}
        if self.is_open:
            return ServerJudgement({name: _approved(one) for name, one in listed.items()})
        try:
            decided, before = self._decided(listed), self._decisions.elsewhere(self.source)
        except StoreError as error:
            return ServerJudgement(
                {name: _judgement(one, None) for name, one in listed.items()}, str(error)
            )
        judgement = ServerJudgement(
            {n: _judgement(one, decided.get(n), before.get(n)) for n, one in listed.items()}
        )
        with suppress(StoreError):  # it is for tidiness, and for the eye
            self._decisions.used(self.source)
            if listed and not judgement.waiting():
                self._decisions.configured(self.source, self._identity.entry)
        return judgement

    @property
    def is_open(self) -> bool:
        return self._policy == "open"

    def approved_entry(self) -> str | None:
        """How the server was configured when it was approved last; None if nobody knows."""
        try:
            ours = self._decisions.configuration(self.source)
            return self._decisions.configuration_elsewhere(self.source) if ours is None else ours
        except StoreError:
            return None

    @property
    def entry(self) -> str:
        """How it is configured now, without secrets, as JSON."""
        return self._identity.entry

    def _listed(self, raw: JsonObject, known: KnownServer) -> "_ListedTool":
        facts = known.facts
        now = Definition(raw, facts.title, facts.instructions, self._identity.hash)
        return _ListedTool(now, now.pin, now.flags)

    def _renewed(self, row: Decision) -> Decision:
        """What was decided, for the same definition of the server as it is identified now."""
        definition = _read_shown(row.definition)
        if definition is None:
            return row
        now = replace(definition, config_hash=self._identity.hash)
        return row._replace(pin=now.pin, definition=now.written())

    def _decided(self, listed: Mapping[str, "_ListedTool"]) -> Mapping[str, ToolDecisions]:
        """What is decided about these; what a server lists first may be approved for it."""
        if self._former:
            self._decisions.inherit(self.source, self._former, self._renewed)
        decided = self._decisions.of(self.source)
        if not listed or self._policy == "strict" or self._decisions.is_known(self.source):
            return decided
        new = {name: one for name, one in listed.items() if not one.flags}
        seen = {name: (one.pin, one.now.written()) for name, one in new.items()}
        self._decisions.trust(self.source, seen)
        return self._decisions.of(self.source)


@dataclass(frozen=True, slots=True)
class _ListedTool:
    now: Definition
    pin: str
    flags: tuple[str, ...]


def _approved(one: _ListedTool) -> ToolJudgement:
    return ToolJudgement("approved", one.now, one.pin, one.now, one.flags)


def _judgement(
    one: _ListedTool, decided: ToolDecisions | None, before: Decision | None = None
) -> ToolJudgement:
    """By what is decided; `before` is what was approved while its server was another."""
    approved, rejected = decided or ToolDecisions()
    if approved and approved.pin == one.pin:
        return _approved(one)
    last = approved or before
    shown = _read_shown(last.definition) if last else None
    if rejected and rejected.pin == one.pin:
        return ToolJudgement("rejected", one.now, one.pin, shown, one.flags)
    status = "changed" if shown else "unreviewed"
    return ToolJudgement(status, one.now, one.pin, shown, one.flags)


def _read_shown(definition: str) -> Definition | None:
    try:
        return read_definition(definition)
    except (ValueError, RecursionError):
        return None


# What has to last between runs and cannot be had again: our key, and what was decided.

KEY_FILE = "install.key"
DECISIONS_FILE = "decisions.db"


class InstallState(NamedTuple):
    """The key of this installation, the decisions, and what is wrong with them."""

    key: bytes
    decisions: Decisions
    problems: tuple[str, ...] = ()


def open_install_state(folder: Path) -> InstallState:
    """Open both, made at first need. Raises `SourceError` and `StoreError`.

    The file of decisions is made before the key. So a key without such a file, whoever looks and
    whenever, means that the file was lost.
    """
    key_path, path = folder / KEY_FILE, folder / DECISIONS_FILE
    lost = key_path.exists() and not path.exists()
    Decisions.prepare(path)
    key = install_key(key_path)
    decisions = Decisions(path, key, lost=lost)
    if decisions.trusts_first_sight:
        return InstallState(key, decisions)
    told = "was lost, damaged or altered, so that no new tool is trusted; run `toolcrib review`"
    return InstallState(key, decisions, (f"{path}: what was decided about tools {told}",))
